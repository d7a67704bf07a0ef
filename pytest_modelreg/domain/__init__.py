"""The words of pytest-modelreg as frozen values: what every layer may know.

What belongs here: values that cross a package boundary, the closed vocabularies
(verdicts, causes) and the error tree. What does not: anything that reads a file,
compares an array or knows a framework. One module holds one word of the glossary;
to add a word, add a module. Only the standard library is imported, because the
observation worker runs these modules in interpreters with nothing of ours installed.
"""
