"""The command ``frozenpinn follow FILE.toml lam 0 7``: a path of solutions, its folds, and the bifurcation diagram."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from frozenpinn.cli.console import check_targets, out, read_problem, write


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(follow)


def follow(
    what: Annotated[str, typer.Argument(help="A TOML file with a static problem.")],
    parameter: Annotated[str, typer.Argument(help="Name of a parameter that is a number.")],
    first: Annotated[float, typer.Argument(help="Its value where the path starts.")],
    last: Annotated[float, typer.Argument(help="The last value.")],
    tol: Annotated[float, typer.Option(help="Relative error asked of the parameter at folds.")] = 1e-8,
    steps: Annotated[int | None, typer.Option(help="Steps along the path, at most.")] = None,
    norm: Annotated[str, typer.Option(help="L2 or max.")] = "L2",
    seed: Annotated[int, typer.Option(help="Seed of the frozen layers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Write the bifurcation diagram.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the path as JSON; '-' for standard output.")
    ] = None,
) -> None:
    """Follow the solutions of a static problem in one parameter, through folds."""
    import frozenpinn as fp

    check_targets(plot, None if json_file in (None, "-") else Path(str(json_file)))
    problem, options = read_problem(what)
    path = fp.follow(
        problem,
        parameter,
        (first, last),
        tol=tol,
        steps=steps,
        norm=norm,
        seed=seed,
        settings=options.get("settings"),
        progress=lambda stage: None,
    )
    if json_file is None:
        out.print(escape(path.report))
    else:
        write(json.dumps(path.as_dict(), indent=2), json_file)
    if plot is not None:
        path.plot(str(plot))
