"""A model as a graph: what is captured of a call, exported, and held against what is declared.

What belongs here: what every runtime that exports needs, whatever format it writes: the call
that stands as the example, the structure around tensors, dynamic axes and the trial of
another size. A format is one module that implements ``graph_format``; running what was
written is the format's own.
"""
