"""The commands ``frozenpinn solve`` and ``frozenpinn demo``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape as _escaped

from frozenpinn.cli.console import INTERRUPTED, REACHED, check_targets, log, out, read_problem, write
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.paths import checked_target

Files = dict[str, Path | None]  # what is written, by the method of a solution that writes it


def register(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    app.command()(solve)
    app.command()(demo)


def solve(
    what: Annotated[str, typer.Argument(help="A benchmark case or a TOML file with a problem.")],
    tol: Annotated[
        float | None, typer.Option(help="Relative error asked of the solution; everything else is chosen to meet it.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that the search for the tolerance may take.")
    ] = None,
    stop: Annotated[str | None, typer.Option(help="When to stop, 'max(u) > 1'.")] = None,
    quantity: Annotated[
        str | None, typer.Option(help="The number that the tolerance is for, \"integral(u_n, side='right')\".")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the frozen layer.")] = None,
    estimate: Annotated[bool, typer.Option(help="Estimate the error by a second, independent solve.")] = True,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the solution.")] = None,
    save: Annotated[Path | None, typer.Option(help="Store the solution (arrays and JSON).")] = None,
    mesh: Annotated[str | None, typer.Option(help="Closed surface of your own for helmholtz-solid, bunny.ply.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the report as JSON; '-' for standard output.")
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Another value of a parameter, nu=0.02; several times.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a table of the fields on a grid.")] = None,
    netcdf: Annotated[Path | None, typer.Option(help="Write the fields on a grid as NetCDF.")] = None,
    vtk: Annotated[Path | None, typer.Option(help="Write a series for ParaView, u.pvd, or one file, u.vtu.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write a page that moves, one HTML file for the browser.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
) -> None:
    """Solve a problem and print the report."""
    files: Files = {"save": save, "to_csv": csv, "to_netcdf": netcdf, "to_vtk": vtk}
    check_targets(plot, None if json_file in (None, "-") else Path(json_file), page)
    for target in files.values():
        if target is not None:
            checked_target(target, SettingsError, overwrite)
    problem, options = read_problem(what, tol, mesh, set_)
    given = (("seed", seed), ("tol", tol), ("time_limit", time_limit), ("stop", stop), ("quantity", quantity))
    options |= {key: value for key, value in given if value is not None}
    _carry_out(problem, options, estimate, {"plot": plot, "page": page}, json_file, files, overwrite)


def demo(plot: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("demo.png")) -> None:
    """Solve the viscous Burgers equation, print the stages and errors, write a picture."""
    import frozenpinn as fp
    from frozenpinn.cli.demo import burgers

    check_targets(plot)
    _carry_out(burgers(), {"settings": fp.Settings(rtol=1e-7)}, True, {"plot": plot}, None, {}, False)


def _carry_out(
    problem: Any,
    options: dict[str, Any],
    estimate: bool,
    shown: Files,
    json_file: str | None,
    files: Files,
    overwrite: bool,
) -> None:
    """Solve a problem, print its report, write what was asked for; the exit code says whether a tolerance was met."""
    import frozenpinn as fp

    whole = True
    word = " (Ctrl-C keeps the best so far)" if options.get("tol") is not None else ""
    with log.status("solving") as status:
        try:
            solution = fp.solve(problem, **options, progress=lambda stage: status.update(f"solving: {stage}{word}"))
        except KeyboardInterrupt as interrupted:
            log.print(_escaped(str(interrupted) or "interrupted"))
            if getattr(interrupted, "solution", None) is None:
                raise typer.Exit(INTERRUPTED) from None
            whole, solution = False, interrupted.solution  # type: ignore[attr-defined]
        if estimate and whole:
            status.update("estimating the error")
            solution = fp.estimate_error(solution)
        status.update("measuring residuals")
        report = solution.report
    (out if json_file is None else log).print(_escaped(str(report)))
    if json_file is not None:
        write(json.dumps(report.as_dict(), indent=2), json_file)
    for method, path in shown.items():
        if path is not None:
            getattr(solution, method)(str(path))
            log.print(f"wrote {path}")
    for method, path in files.items():
        if path is not None:
            getattr(solution, method)(str(path), overwrite=overwrite)
            log.print(f"wrote {path}")
    if not whole:
        raise typer.Exit(INTERRUPTED)
    if solution.status in ("reached", "error unknown"):
        raise typer.Exit(REACHED)
