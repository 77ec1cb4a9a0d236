"""The command ``frozenpinn-lab``: ``bench``, ``study``, ``list`` (``frozenpinn`` has them, too) and ``census``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape as _escaped
from rich.table import Table

from frozenpinn.cli.app import run
from frozenpinn.cli.console import INTERRUPTED, announcer, check_targets, log, out, write
from frozenpinn.errors import SettingsError
from frozenpinn_lab.studies import STUDIES, find_study, plot_study, write_csv

app = typer.Typer(
    help="Benchmarks, peers and studies of frozenpinn.", no_args_is_help=True, pretty_exceptions_enable=False
)


def main() -> None:
    """Run the command line."""
    run(app)


@app.callback()
def _everywhere(
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no notes.")] = False,
) -> None:
    """Set what is shown on standard error."""
    log.quiet |= quiet


@app.command("list")
def list_cases() -> None:
    """List the benchmark cases with the figures published for them, and the peers that have settings."""
    from frozenpinn_lab.cases import CASES, inverse_cases
    from frozenpinn_lab.console import cases_table

    out.print(cases_table([*CASES.values(), *inverse_cases().values()]))


@app.command()
def bench(
    cases: Annotated[list[str] | None, typer.Argument(help="Names of cases; see 'frozenpinn list'.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Run all cases.")] = False,
    recipe: Annotated[list[str] | None, typer.Option(help="best, paper or auto; may be given several times.")] = None,
    precision: Annotated[str | None, typer.Option(help="low or high (default; both in a report).")] = None,
    tol: Annotated[
        float | None, typer.Option(help="Tolerance of the recipe auto (1e-8 at high, 1e-3 at low precision).")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of seeds.", min=1)] = 3,
    method: Annotated[
        list[str] | None,
        typer.Option(help="frozen-pinn (default; all in a report) or a peer, see 'frozenpinn list'; several times."),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="Seconds of one solve, after which it is cut.")] = None,
    steps: Annotated[int | None, typer.Option(help="Iterations after which a training is cut.", min=1)] = None,
    json_file: Annotated[str | None, typer.Option("--json", help="Write the records; '-' for standard output.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Write the diagrams of a report as a picture, too.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with tables and diagrams; finished runs are kept beside it.")
    ] = None,
    studies: Annotated[bool, typer.Option(help="Draw the studies into the report.")] = True,
    table: Annotated[Path | None, typer.Option(help="Write errors and times as a Markdown table.")] = None,
    quick: Annotated[bool, typer.Option(help="A report in ten minutes: shorter trainings, no sweeps.")] = False,
    fresh: Annotated[bool, typer.Option(help="Run again what this command finds in the report already.")] = False,
    variant: Annotated[
        list[str] | None, typer.Option(help="Label of a member of a sweep (default: all); may be given several times.")
    ] = None,
    mesh: Annotated[str | None, typer.Option(help="Closed surface of your own for helmholtz-solid, bunny.ply.")] = None,
) -> None:
    """Run benchmark cases: error against the exact solution, seconds, the program's own estimate."""
    from frozenpinn_lab.campaign import Selection
    from frozenpinn_lab.cases import CASES, find_case
    from frozenpinn_lab.cases.case import AUTO, FROZEN_PINN, METHODS, PRECISIONS, RECIPES, check_choice
    from frozenpinn_lab.console import records_table
    from frozenpinn_lab.markdown import write_table
    from frozenpinn_lab.runner import run_case

    recipes = recipe or (["best"] if report is None else list(RECIPES))
    methods = method or ([FROZEN_PINN] if report is None else list(METHODS))
    precisions = [precision] if precision else (["high"] if report is None or quick else list(PRECISIONS)[::-1])
    if tol is not None and AUTO not in recipes:
        raise SettingsError("--tol belongs to the automatic recipe; write --recipe auto --tol 1e-6.")
    if (quick or fresh or picture) and report is None:
        raise SettingsError("--quick, --fresh and --picture belong to a report; write --report report.html.")
    if budget is not None and not budget > 0:
        raise SettingsError(f"--budget is a positive number of seconds, got {budget:g}.")
    if not cases and not every:
        raise SettingsError("name one or more cases, or write --all; 'frozenpinn list' shows them.")
    chosen = list(CASES.values()) if every else [find_case(name) for name in cases or []]
    chosen = chosen if mesh is None else [case.with_mesh(mesh) for case in chosen]
    check_targets(picture, report, table, None if json_file in (None, "-") else Path(json_file))
    labels = sorted({v.label for case in chosen for v in case.variants if v.label})
    for what, names, known in (
        ("method", methods, METHODS),
        ("recipe", recipes, RECIPES),
        ("precision", precisions, PRECISIONS),
        ("variant", variant or (), labels),
    ):
        for name in names:
            check_choice(what, name, known)
    with log.status("benchmark") as status:
        if report is not None:
            scope = Selection(methods, recipes, precisions, seeds, tol, budget, steps, quick, variant or ())
            records, whole = _report(chosen, scope, report, picture, studies, fresh, announcer(status))
        else:
            runs = [(m, r) for m in methods for r in (recipes if m == FROZEN_PINN else recipes[:1])]
            records = [
                record
                for case in chosen
                for solver, name in runs
                if (len(runs) == 1 and not every) or case.can_run(solver, name, precisions[0])
                for record in run_case(
                    case,
                    name,
                    precisions[0],
                    range(seeds),
                    announcer(status),
                    solver,
                    tol,
                    budget,
                    steps,
                    variant or (),
                )
            ]
            whole = True
    if json_file is not None:
        write(json.dumps(records, indent=2), json_file)
    if table is not None:
        write(write_table(records), str(table))
    if json_file != "-":
        out.print(records_table(records))
    if not whole:
        raise typer.Exit(INTERRUPTED)


def _report(
    chosen: list[Any],
    scope: Any,
    page: Path,
    picture: Path | None,
    studies: bool,
    fresh: bool,
    announce: Callable[[str], None],
) -> tuple[list[Any], bool]:
    """Run what is not there yet, and write the page of all that is there; return its rows, and whether it is whole."""
    from frozenpinn_lab import campaign
    from frozenpinn_lab.page import Results, describe_machine, draw_work_precision, origin_of, write_report
    from frozenpinn_lab.store import Store, diagrams
    from frozenpinn_lab.tasks import Task

    runs = page.with_suffix(".runs.jsonl")
    machine = describe_machine()
    store = Store(runs, origin_of(machine))
    if store.others:
        machine["kept"] = sorted(store.others)
        log.print(
            f"some runs in {runs} were made elsewhere or with other versions: {_escaped('; '.join(machine['kept']))}"
        )
        log.print("they are kept, and the page says so; --fresh runs all again")
    pictures = campaign.figures(scope.quick) if studies else []
    tasks: list[Task] = [*campaign.lines(chosen, scope), *campaign.points(chosen, scope), *pictures]
    if not tasks:
        wanted = f"{' or '.join(scope.methods)} at {' or '.join(scope.precisions)} precision"
        raise SettingsError(f"none of the cases has settings for {wanted}; 'frozenpinn list' shows what there is.")
    if fresh:
        store.forget(task.key for task in tasks)
    whole = True
    try:
        campaign.perform(tasks, store, announce)
    except KeyboardInterrupt:
        whole = False
        log.print(f"interrupted; what is finished stands in {runs}, and the same command goes on from there")
    records = store.lines()
    drawn = [figure for figure in store.of("figure") if figure.get("png")]
    results = Results(records, diagrams(store), drawn, machine)
    write_report(results, page)
    log.print(f"wrote {page}")
    if picture is not None:
        draw_work_precision(results.diagrams, picture)
        log.print(f"wrote {picture}")
    return records, whole


@app.command()
def census(
    collections: Annotated[
        list[str] | None, typer.Argument(help="Collections of problems (default: all but inverse).")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="Solve again without this decision where it took part; several times.")
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="Solve again without each decision that took part.")] = False,
    tol: Annotated[float, typer.Option(help="Tolerance of every solve.")] = 1e-4,
    time_limit: Annotated[float, typer.Option(help="Seconds of every solve.")] = 10.0,
    only: Annotated[list[str] | None, typer.Option(help="Name of a problem; may be given several times.")] = None,
    kept: Annotated[Path | None, typer.Option(help="Keep finished solves in this file, and go on from there.")] = None,
    json_file: Annotated[str | None, typer.Option("--json", help="Write counts and solves; '-' for output.")] = None,
) -> None:
    """Count in how many problems each decision takes part, and what results are without it."""
    from frozenpinn.search.settings import optional_decisions
    from frozenpinn_lab.studies import census as study

    groups = collections or [name for name in study.COLLECTIONS if name != "inverse"]
    chosen = [job for job in study.jobs(groups) if only is None or job.name in only]
    check_targets(None, kept, None if json_file in (None, "-") else Path(json_file))
    names = [*optional_decisions()] if each else without or []
    with log.status("census") as status:
        rows = study.census(announcer(status), chosen, names, tol, time_limit, kept)
    counts = study.counted(rows)
    if json_file is not None:
        write(json.dumps({"counts": counts, "solves": rows}, indent=2), json_file)
    if json_file != "-":
        table = Table(*counts[0], box=None, pad_edge=False)
        for row in counts:
            table.add_row(*map(str, row.values()))
        out.print(table)
        out.print(f"{len(chosen)} problems, {sum(row['status'] == 'failed' for row in rows)} solves failed")


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
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds of every solve (gallery: 60) or training (fields, pinn-ablation: 20)."),
    ] = None,
    size: Annotated[list[str] | None, typer.Option(help="scaling: neurons per axis, 64x64; several times.")] = None,
) -> None:
    """Run a study: a table, plots, and its numbers as JSON and CSV."""
    found = find_study(name)
    given = {"only": only or None, "tol": tol, "time_limit": time_limit, "size": size or None}
    for picture in plot or []:
        check_targets(picture)
    check_targets(None, csv_file, None if json_file in (None, "-") else Path(json_file))
    with log.status(found.title) as status:
        rows = found.compute(seeds, announcer(status), **given)
    if json_file is not None:
        write(json.dumps({"study": name, "rows": rows}, indent=2), json_file)
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


if __name__ == "__main__":
    main()
