"""The command ``frozenpinn bench``; frozenpinn/cli.py puts it beside the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape as _escaped

from frozenpinn.errors import SettingsError


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(bench)


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
    from frozenpinn.cli import _INTERRUPTED, _announcer, _check_targets, _write, log, out
    from frozenpinn.lab.campaign import Selection
    from frozenpinn.lab.cases import CASES, find_case
    from frozenpinn.lab.cases.case import AUTO, FROZEN_PINN, METHODS, PRECISIONS, RECIPES, check_choice
    from frozenpinn.lab.console import records_table
    from frozenpinn.lab.markdown import write_table
    from frozenpinn.lab.runner import run_case

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
    _check_targets(picture, report, table, None if json_file in (None, "-") else Path(json_file))
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
            records, whole = _report(chosen, scope, report, picture, studies, fresh, _announcer(status))
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
                    _announcer(status),
                    solver,
                    tol,
                    budget,
                    steps,
                    variant or (),
                )
            ]
            whole = True
    if json_file is not None:
        _write(json.dumps(records, indent=2), json_file)
    if table is not None:
        _write(write_table(records), str(table))
    if json_file != "-":
        out.print(records_table(records))
    if not whole:
        raise typer.Exit(_INTERRUPTED)


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
    from frozenpinn.cli import log
    from frozenpinn.lab import campaign
    from frozenpinn.lab.page import Results, describe_machine, draw_work_precision, origin_of, write_report
    from frozenpinn.lab.store import Store, diagrams
    from frozenpinn.lab.tasks import Task

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
