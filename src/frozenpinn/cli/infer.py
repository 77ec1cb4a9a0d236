"""The command ``frozenpinn infer``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from frozenpinn.cli.console import check_targets, log, out, write
from frozenpinn.errors import SettingsError


def register(app: typer.Typer) -> None:
    """Add the command to a command line."""
    app.command()(infer)


def infer(
    file: Annotated[
        Path, typer.Argument(help="A TOML file with a problem: [parameters] k = {start = 1.0}.", metavar="FILE.toml")
    ],
    data: Annotated[
        list[Path], typer.Argument(help="Measurements: columns x, …, t, the field, noise.", metavar="DATA.csv")
    ],
    noise: Annotated[
        str | None, typer.Option(help="Standard deviation, such as 0.01, or 1% of the values; estimated if left out.")
    ] = None,
    level: Annotated[float, typer.Option(help="Probability that an interval contains the truth.")] = 0.95,
    starts: Annotated[int | None, typer.Option(help="Other starts over the bounds.")] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds that all may take.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the frozen layers.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Write a picture of the fit.")] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write what was found as JSON; '-' for standard output.")
    ] = None,
) -> None:
    """Find the unknowns of a problem from measurements, with error bars."""
    import frozenpinn as fp
    from frozenpinn.cli.problem_file import read_problem_file

    check_targets(plot, None if json_file in (None, "-") else Path(json_file))
    problem, _ = read_problem_file(file)
    measured = [part for path in data for part in fp.Measurements.read_all(path, noise=_noise(noise))]
    with log.status("inference") as status:
        found = fp.infer(
            problem, measured, level=level, starts=starts, time_limit=time_limit, seed=seed, progress=status.update
        )
    if json_file is None:
        out.print(escape(found.report))
    else:
        write(json.dumps(_as_dict(found), indent=2), json_file)
    if plot is not None:
        found.plot(str(plot))
        log.print(f"wrote {plot}")


def _noise(given: str | None) -> Any:
    import frozenpinn as fp

    if given is None:
        return None
    try:
        number = float(given.removesuffix("%"))
    except ValueError:
        raise SettingsError(f"--noise takes a number or a percentage, such as 0.01 or 1%; got '{given}'.") from None
    return fp.Relative(number / 100.0) if given.endswith("%") else number


def _as_dict(found: Any) -> dict[str, Any]:
    return {
        "parameters": {
            name: {"value": e.value, "std": e.std, "low": e.low, "high": e.high, "at_bound": e.at_bound}
            for name, e in found.parameters.items()
        },
        "fields": {name: _sampled(field) for name, field in found.fields.items()},
        "covariance": found.covariance.tolist(),
        "correlations": found.correlations.tolist(),
        "misfit": found.misfit if found.freedom else None,
        "freedom": found.freedom,
        "noise": found.noise,
        "notes": list(found.notes),
        "seconds": dict(found.seconds),
    }


def _sampled(field: Any) -> dict[str, Any]:
    """Return a field at points of its domain, with its deviations."""
    import numpy as np

    d = field.domain.dimension
    ends = zip(field.domain.lower, field.domain.upper, strict=True)
    axes = [np.linspace(low, high, 101 if d == 1 else 21) for low, high in ends]
    x = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
    x = x[field.domain.contains(x)]
    values, deviations = field(*x.T, std=True)
    columns = {name: x[:, i].tolist() for i, name in enumerate(field.arguments)}
    return columns | {"value": values.tolist(), "std": deviations.tolist(), "effective": field.effective}
