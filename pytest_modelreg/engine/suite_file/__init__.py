"""Reading one suite file: from text to checked blocks, every fault with its line.

What belongs here: the file's grammar. ``document`` and ``composer`` make values that
know their line, ``model`` says which keys there are (a new key is a field there),
``support`` lists what only a later release understands, ``wording`` puts faults into
words, ``checks`` merges limits. What a suite is once it is read is ``engine.suite``'s.
"""
