"""Row sets: one file whose rows are the samples, and the file beside it that pins them.

What belongs here: one module a file format behind :class:`~.table.RowTable`, the content of a
row as a digest, and the pin. To add a format, write its module and name it in
``table.OPENERS``. A folder with a file a sample is ``sample_table``'s.
"""
