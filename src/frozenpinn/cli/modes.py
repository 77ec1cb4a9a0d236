"""The commands ``frozenpinn modes`` and ``frozenpinn stability``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from frozenpinn.cli.console import check_targets, log, out, write

_FILE = typer.Argument(help="A TOML file with a problem.", metavar="FILE.toml")
_COUNT = typer.Argument(help="How many eigenvalues.")
_TOL = typer.Option(help="Relative error asked of every eigenvalue.")
_LIMIT = typer.Option(help="Seconds that the search for the tolerance may take.")
_PLOT = typer.Option(help="Write a picture of the eigenfunctions.")
_JSON = typer.Option("--json", help="Write the report as JSON; '-' for standard output.")


def register(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    app.command()(modes)
    app.command()(stability)


def modes(
    file: Annotated[Path, _FILE],
    count: Annotated[int, _COUNT] = 10,
    near: Annotated[float | None, typer.Option(help="Eigenvalues nearest to this number are returned (0).")] = None,
    tol: Annotated[float | None, _TOL] = None,
    time_limit: Annotated[float | None, _LIMIT] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the frozen layers.")] = None,
    plot: Annotated[Path | None, _PLOT] = None,
    save: Annotated[Path | None, typer.Option(help="Store eigenvalues and functions (arrays and JSON).")] = None,
    json_file: Annotated[str | None, _JSON] = None,
) -> None:
    """Find eigenvalues and eigenfunctions of a problem that says: eigenvalue = "lam"."""
    import frozenpinn as fp

    check_targets(plot, save, None if json_file in (None, "-") else Path(json_file))
    problem, options = _options(file, near=near, tol=tol, time_limit=time_limit, seed=seed)
    with log.status("eigenvalues") as status:
        found = fp.modes(problem, count, **options, progress=status.update)
    if json_file is None:
        out.print(escape(str(found.report)))
    else:
        write(json.dumps(found.report.as_dict(), indent=2), json_file)
    if plot is not None:
        found.plot(str(plot))
        log.print(f"wrote {plot}")
    if save is not None:
        found.save(str(save))
        log.print(f"wrote {save}")


def stability(
    file: Annotated[Path, _FILE],
    count: Annotated[int, _COUNT] = 6,
    tol: Annotated[float, typer.Option(help="Relative error asked of the steady state.")] = 1e-8,
    plot: Annotated[Path | None, _PLOT] = None,
    json_file: Annotated[str | None, _JSON] = None,
) -> None:
    """Find a steady state from the initial value, and determine whether small disturbances of it grow."""
    import frozenpinn as fp

    check_targets(plot, None if json_file in (None, "-") else Path(json_file))
    problem, options = _options(file, tol=tol)
    with log.status("steady state") as status:
        state = fp.steady(problem, **options, progress=status.update)
        found = fp.stability(state, count, progress=status.update)
    if json_file is None:
        out.print(escape(f"{found}\n{found.modes.report}"))
    else:
        told = {"verdict": found.verdict, "growth": found.growth, "frequency": found.frequency}
        write(json.dumps({**told, **found.modes.report.as_dict()}, indent=2), json_file)
    if plot is not None:
        found.modes.plot(str(plot))
        log.print(f"wrote {plot}")


def _options(file: Path, **given: Any) -> tuple[Any, dict[str, Any]]:
    """Return the problem of a file, and its options with those of the command line."""
    from frozenpinn.cli.problem_file import read_problem_file

    problem, options = read_problem_file(file)
    return problem, options | {key: value for key, value in given.items() if value is not None}
