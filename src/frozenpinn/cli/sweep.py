"""The commands ``frozenpinn sweep`` and ``frozenpinn check``."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from frozenpinn.cli import values
from frozenpinn.cli.console import FAILED, INTERRUPTED, REACHED, log, read_problem
from frozenpinn.cli.console import out as console
from frozenpinn.errors import MissingExtraError, SettingsError, silenced


def register(app: typer.Typer) -> None:
    """Add the commands to a command line."""
    app.command()(check)
    app.command()(sweep)


def check(
    what: Annotated[str, typer.Argument(help="A benchmark case or a TOML file with a problem.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="Another value of a parameter, nu=0.02; several times.")
    ] = None,
) -> None:
    """Check that a problem is well posed, without solving it; print the problem and the findings."""
    import frozenpinn as fp

    problem, _ = read_problem(what, set_=set_)
    with silenced(Warning):  # the findings report the same
        findings = fp.check(problem)
    console.print(escape(f"{problem!r}\n{findings}"))


def sweep(
    what: Annotated[str, typer.Argument(help="A benchmark case or a TOML file with a problem.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="What varies: nu=0.01:0.1:20, nu=0.01:0.1:20:log, nu=1,2,5, k=normal(1,0.1)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Store: runs.zarr or runs.nc; the same command goes on.")] = None,
    tol: Annotated[float | None, typer.Option(help="Relative error asked of every run.")] = None,
    points: Annotated[str | None, typer.Option(help="Points along each axis.")] = None,
    times: Annotated[str | None, typer.Option(help="How many times, 5, or which: 0,0.5,1.")] = None,
    samples: Annotated[int | None, typer.Option(help="Draws of the distributions.")] = None,
    design: Annotated[str, typer.Option(help="random, sobol or saltelli.")] = "random",
    seed: Annotated[int | None, typer.Option(help="Seed of draws and frozen layers.")] = None,
    workers: Annotated[int, typer.Option(help="Processes on this machine.")] = 1,
    dask: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, tcp://host:8786.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds that one run may take.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store that is there.")] = False,
    share: Annotated[bool, typer.Option(help="Start runs from sizes that pilots have needed.")] = True,
) -> None:
    """Solve a problem for many values of its parameters, into one table."""
    import frozenpinn as fp

    problem, options = read_problem(what, tol)
    given = {
        key: value for key, value in (("tol", tol), ("seed", seed), ("time_limit", time_limit)) if value is not None
    }
    many = values.numbers(points, "--points")
    counts = [int(n) for n in many] if isinstance(many, list) else many
    table = values.varied(set_)
    if not table:
        raise SettingsError("say what varies, such as --set nu=0.01:0.1:20.")
    client = _client(dask)
    try:
        with log.status("sweep") as status:
            runs = fp.sweep(
                problem,
                table,
                **(options | given),
                points=counts,
                times=values.numbers(times, "--times"),
                samples=samples,
                design=design,
                workers=workers,
                client=client,
                out=None if out is None else str(out),
                overwrite=overwrite,
                share=share,
                progress=lambda text: status.update(f"sweep: {text} (Ctrl-C stops it)"),
            )
    except KeyboardInterrupt as interrupted:
        log.print(escape(str(interrupted) or "interrupted"))
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if client is not None:
            client.close()
    console.print(escape(_summary(runs)))
    if out is not None:
        log.print(f"wrote {out}")
    found = set(runs.status.values.tolist())
    raise typer.Exit(FAILED if "failed" in found else REACHED if found & {"reached", "error unknown"} else 0)


def _summary(runs: Any) -> str:
    """Return how many runs there are of each status, the largest errors, and the first reasons."""
    counts = Counter(runs.status.values.tolist())
    lines = [f"{runs.sizes['run']} runs: " + ", ".join(f"{n} {status}" for status, n in counts.most_common())]
    for name in (str(n) for n in runs.data_vars if str(n).endswith("_error_estimate")):
        worst = float(runs[name].max())
        if math.isfinite(worst):
            lines.append(f"largest estimated error of {name.removesuffix('_error_estimate')}: {worst:.2g}")
    lines.append(f"CPU time of the runs: {float(runs.seconds.sum()):.3g} s")
    failed = [
        (k, r) for k, (s, r) in enumerate(zip(runs.status.values, runs.reason.values, strict=True)) if s == "failed"
    ]
    lines += [f"run {k} failed: {reason}" for k, reason in failed[:5]]
    return "\n".join([*lines, *([f"… and {len(failed) - 5} more"] if len(failed) > 5 else [])])


def _client(address: str | None) -> Any:
    if address is None:
        return None
    try:
        import distributed
    except ImportError:
        raise MissingExtraError.of("--dask needs", "distributed", "dask") from None
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise SettingsError(f"there is no Dask scheduler at '{address}' ({type(error).__name__}).") from None
