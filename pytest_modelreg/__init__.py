"""Model-behaviour regression testing for PyTorch models, as a pytest plugin.

The layers are described in ``domain`` (the words) and held by import-linter
(the arrows). Importing this package loads the standard library only.
"""

__version__ = "0.1.0"
