"""The command ``frozenpinn follow FILE.toml lam 0 7``: a path of solutions, its folds, and the bifurcation diagram."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

Read = Callable[[str], tuple[Any, dict[str, Any]]]  #: a problem and its options from a file
Check = Callable[..., None]  #: refuses files that can't be written
Write = Callable[[str, str], None]  #: text to a file, or '-' for standard output


def make_follow(read: Read, check: Check, write: Write, show: Callable[[str], None]) -> Callable[..., None]:
    """Return the command."""

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

        check(plot, None if json_file in (None, "-") else Path(str(json_file)))
        problem, options = read(what)
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
            show(path.report)
        else:
            write(json.dumps(path.as_dict(), indent=2), json_file)
        if plot is not None:
            path.plot(str(plot))

    return follow
