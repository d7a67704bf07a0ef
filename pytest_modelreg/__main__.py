"""``python -m pytest_modelreg`` is the command ``modelreg``."""

import sys

from pytest_modelreg.cli import main

if __name__ == "__main__":
    sys.exit(main())
