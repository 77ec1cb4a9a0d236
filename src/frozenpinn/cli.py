"""The command line; some of its commands have modules of their own.

Exit codes: 0 if the tolerance was met or none was asked for, 3 if it was not, 1 after a failure, 2 after bad input, 130
after Ctrl-C.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape as _escaped
from rich.table import Table

from frozenpinn import cli_bench, cli_infer, cli_modes, cli_sweep, cli_values
from frozenpinn.cli_follow import make_follow
from frozenpinn.errors import FrozenPinnError, FrozenPinnWarning, ProblemError, SettingsError
from frozenpinn.lab.studies import STUDIES, find_study, plot_study, write_csv
from frozenpinn.runtime.paths import checked_picture, checked_target

app = typer.Typer(
    help="Solve PDEs, time-dependent and static, by frozen random networks: no mesh, no GPU, no gradient descent.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
out = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 160)
log = Console(stderr=True, soft_wrap=True)  # progress and notes, which --quiet leaves out
alarm = Console(stderr=True, soft_wrap=True)  # errors and warnings
FAILED, BAD_INPUT, REACHED = 1, 2, 3  #: exit codes
_INTERRUPTED = 130  # after Ctrl-C, as shells have it


def main() -> None:
    """Run the command line; errors of this library are shown as a message, not as a traceback."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (FrozenPinnError, OSError) as error:
        alarm.print(f"[bold red]error:[/] {_escaped(str(error))}")
        sys.exit(BAD_INPUT if isinstance(error, ProblemError | SettingsError) else FAILED)
    except KeyboardInterrupt:
        alarm.print("interrupted")
        sys.exit(_INTERRUPTED)


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


@app.command("list")
def list_cases() -> None:
    """List the benchmark cases with the figures published for them, and the peers that have settings."""
    from frozenpinn.lab.cases import CASES, inverse_cases
    from frozenpinn.lab.console import cases_table

    out.print(cases_table([*CASES.values(), *inverse_cases().values()]))


@app.command()
def solve(
    what: Annotated[str, typer.Argument(help="A benchmark case or a TOML file with a problem.")],
    tol: Annotated[
        float | None, typer.Option(help="Relative error asked of the solution; everything else is chosen to meet it.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds that the search for the tolerance may take.")
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
    import frozenpinn as fp

    files = {"save": save, "to_csv": csv, "to_netcdf": netcdf, "to_vtk": vtk}
    _check_targets(plot, None if json_file in (None, "-") else Path(json_file), page)
    for target in files.values():
        if target is not None:
            checked_target(target, SettingsError, overwrite)
    problem, options = _problem(what, tol, mesh, set_)
    given = (("seed", seed), ("tol", tol), ("time_limit", time_limit))
    options |= {key: value for key, value in given if value is not None}
    whole = True
    word = " (Ctrl-C keeps the best so far)" if options.get("tol") is not None else ""
    with log.status("solving") as status:
        try:
            solution = fp.solve(problem, **options, progress=lambda stage: status.update(f"solving: {stage}{word}"))
        except KeyboardInterrupt as interrupted:
            log.print(_escaped(str(interrupted) or "interrupted"))
            if getattr(interrupted, "solution", None) is None:
                raise typer.Exit(_INTERRUPTED) from None
            whole, solution = False, interrupted.solution  # type: ignore[attr-defined]
        if estimate and whole:
            status.update("estimating the error")
            solution = fp.estimate_error(solution)
        status.update("measuring residuals")
        report = solution.report
    (out if json_file is None else log).print(_escaped(str(report)))
    if json_file is not None:
        _write(json.dumps(report.as_dict(), indent=2), json_file)
    for show, path in ((solution.plot, plot), (solution.page, page)):
        if path is not None:
            show(str(path))
            log.print(f"wrote {path}")
    for method, path in files.items():
        if path is not None:
            getattr(solution, method)(str(path), overwrite=overwrite)
            log.print(f"wrote {path}")
    if not whole:
        raise typer.Exit(_INTERRUPTED)
    if solution.status == "reached":
        raise typer.Exit(REACHED)


def _check_targets(plot: Path | None, *others: Path | None) -> None:
    """Refuse files that can't be written before minutes are spent on a solve."""
    for path in others:
        if path is not None:
            checked_target(path, SettingsError)
    if plot is not None:
        checked_picture(plot, SettingsError)


def _problem(
    what: str, tol: float | None = None, mesh: str | None = None, set_: list[str] | None = None
) -> tuple[Any, dict[str, Any]]:
    """Return a problem and its solve options from a case name or a TOML file; a tolerance replaces those of a case.

    ``set_`` are other values of parameters, as texts such as ``nu=0.02``.
    """
    given = cli_values.values(set_)
    problem, options = _stated(what, tol, mesh)
    return (problem.at(**given) if given else problem), options


def _stated(what: str, tol: float | None, mesh: str | None) -> tuple[Any, dict[str, Any]]:
    from frozenpinn.adaptivity.problem_file import read_problem_file
    from frozenpinn.lab.cases import find_case

    if not what.endswith(".toml"):
        case = find_case(what) if mesh is None else find_case(what).with_mesh(mesh)
        variant = case.variants[-1]
        return case.problem(**variant.problem), {} if tol is not None else case.options("best", "high", variant)
    if mesh is not None:
        raise SettingsError("--mesh is for the case helmholtz-solid; in a file, write the mesh under [domain].")
    return read_problem_file(what)


@app.command()
def study(
    name: Annotated[str, typer.Argument(help=f"Which study: {', '.join(STUDIES)}.")],
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 3,
    plot: Annotated[
        list[Path] | None, typer.Option(help="Write the plot (PNG, SVG, PDF); may be given several times.")
    ] = None,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the rows; '-' for standard output.")] = None,
    csv_file: Annotated[Path | None, typer.Option("--csv", help="Write the rows; lists as JSON.")] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="gallery, calibration: name of a problem; several times.")
    ] = None,
    tol: Annotated[float | None, typer.Option(help="gallery: tolerance of every solve (1e-4).")] = None,
    time_limit: Annotated[float | None, typer.Option(help="gallery: seconds of every solve (60).")] = None,
    size: Annotated[list[str] | None, typer.Option(help="scaling: neurons per axis, 64x64; several times.")] = None,
) -> None:
    """Run a study: a table, plots, and its numbers as JSON and CSV."""
    found = find_study(name)
    given = {"only": only or None, "tol": tol, "time_limit": time_limit, "size": size or None}
    for picture in plot or []:
        _check_targets(picture)
    _check_targets(None, csv_file, None if json_file in (None, "-") else Path(json_file))
    with log.status(found.title) as status:
        rows = found.compute(seeds, _announcer(status), **given)
    if json_file is not None:
        _write(json.dumps({"study": name, "rows": rows}, indent=2), json_file)
    if json_file != "-":
        table = Table(*(c.replace("_", " ") for c in found.columns), box=None, pad_edge=False)
        for row in rows:
            table.add_row(*found.cells(row))
        out.print(table)
        for reason in (reason for row in rows for reason in row.get("failures", [])):
            log.print(f"failed: {_escaped(reason)}")
    if csv_file is not None:
        with csv_file.open("w", encoding="utf-8", newline="") as stream:
            write_csv(rows, stream)
        log.print(f"wrote {csv_file}")
    for picture in plot or []:
        plot_study(found, rows, str(picture))
        log.print(f"wrote {picture}")


@app.command()
def demo(plot: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("demo.png")) -> None:
    """Solve the viscous Burgers equation, print the stages and errors, write a picture."""
    solve("burgers", plot=plot)


def _announcer(status: Any) -> Callable[[str], None]:
    """Show progress in place on a terminal, and line by line in a log."""
    return status.update if log.is_terminal else log.print


def _write(text: str, target: str) -> None:
    if target == "-":
        sys.stdout.write(text + "\n")
    else:
        Path(target).write_text(text + "\n", encoding="utf-8")
        log.print(f"wrote {target}")


app.command("follow")(make_follow(_problem, _check_targets, _write, lambda text: out.print(_escaped(text))))
cli_modes.register(app)
cli_bench.register(app)
cli_infer.register(app)
cli_sweep.register(app)


if __name__ == "__main__":
    main()
