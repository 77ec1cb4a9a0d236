"""The application: options that hold for every command, and how errors are shown."""

from __future__ import annotations

import logging
import sys
import warnings
from typing import Annotated, Any

import typer
from rich.markup import escape as _escaped

from frozenpinn.cli import follow, infer, lab, modes, solve, sweep
from frozenpinn.cli.console import BAD_INPUT, FAILED, INTERRUPTED, alarm, log, out
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning, ProblemError, SettingsError

app = typer.Typer(
    help="Solve PDEs, time-dependent and static, by frozen random networks: no mesh, no GPU, no gradient descent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line; errors of this library are shown as a message, not as a traceback."""
    run(app)


def run(command: typer.Typer) -> None:
    """Run a command line, this one or that of the lab."""
    warnings.showwarning = _show_warning
    try:
        command()
    except (FrozenPinnError, OSError) as error:
        alarm.print(f"[bold red]error:[/] {_escaped(str(error))}")
        sys.exit(BAD_INPUT if isinstance(error, ProblemError | SettingsError) else FAILED)
    except KeyboardInterrupt:
        alarm.print("interrupted")
        sys.exit(INTERRUPTED)


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    label = "warning" if issubclass(category, FrozenPinnWarning) else category.__name__
    alarm.print(f"[yellow]{label}:[/] {_escaped(str(message))}")


def _version(asked: bool) -> None:
    if asked:
        import frozenpinn as fp

        out.print(f"frozenpinn {fp.__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")] = False,
    verbose: Annotated[int, typer.Option("--verbose", "-v", count=True, help="Log more; -vv all stages.")] = 0,
) -> None:
    """Set what is shown on standard error."""
    log.quiet = quiet
    logger = logging.getLogger("frozenpinn")
    logger.setLevel({0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG))
    if verbose and not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
        logger.addHandler(handler)


for _commands in (solve, follow, infer, modes, sweep, lab):
    _commands.register(app)
