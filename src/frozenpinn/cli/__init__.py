"""The command line: ``frozenpinn solve FILE.toml`` and the other commands, one module each.

Exit codes: 0 if the tolerance was met or none was asked for, 3 if it was not, 1 after a failure, 2 after bad input, 130
after Ctrl-C.
"""

from frozenpinn.cli.app import app, main
from frozenpinn.cli.console import log

__all__ = ["app", "log", "main"]
