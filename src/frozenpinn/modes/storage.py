"""Stored modes: arrays and a JSON text in one file (results/archive.py). Nothing in it is ever executed."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np

from frozenpinn.basis.stored import basis_arrays, basis_from_arrays
from frozenpinn.errors import FrozenPinnError
from frozenpinn.modes.result import Modes, ModesReport
from frozenpinn.results.archive import FORMAT, write_archive
from frozenpinn.statement.composites import Composites
from frozenpinn.statement.document import domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.statement.outline import Outline
from frozenpinn.statement.problem import Problem

Array = np.ndarray
KIND = "modes"  #: by which such a file is told from that of a solution


def save_modes(modes: Modes, file: str, overwrite: bool = False) -> None:
    """Write everything that evaluation needs: the functions, their coefficients, the values."""
    arrays: dict[str, Array] = {name: np.asarray(getattr(modes, name)) for name in ("values", "errors", "residuals")}
    arrays["coefficients"] = modes.coefficients
    bases = []
    for i, basis in enumerate(modes.bases):
        about, own = basis_arrays(basis)
        bases.append(about)
        arrays |= {f"basis/{i}/{name}": array for name, array in own.items()}
    try:
        domain = domain_to_dict(modes.problem.domain)
    except TypeError:
        raise FrozenPinnError(
            f"the modes can't be stored, because their domain {modes.problem.domain!r} is made of a Python function; "
            "write that function as text."
        ) from None
    meta = {
        "format": FORMAT,
        "kind": KIND,
        "problem": problem_to_dict(modes.problem, arrays) if isinstance(modes.problem, Problem) else None,
        "domain": domain,
        "fields": list(modes.problem.fields),
        "bases": bases,
        "report": modes.report.as_dict(),
    }
    write_archive(file, meta, arrays, overwrite)


def rebuilt_modes(meta: dict[str, Any], arrays: dict[str, Array]) -> Modes:
    """Return stored modes; they can be evaluated and differentiated like the original ones."""
    bases = []
    for i, about in enumerate(meta["bases"]):
        prefix = f"basis/{i}/"
        own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        bases.append(basis_from_arrays(about, own))
    if meta["problem"] is None:
        orders = dict.fromkeys(meta["fields"], 0)
        outline = Outline(
            domain_from_dict(meta["domain"]),
            (0.0, 0.0),
            tuple(meta["fields"]),
            orders,
            Composites(tuple(meta["fields"])),
        )
        problem = cast(Problem, outline)
    else:
        with warnings.catch_warnings():  # warned about when the problem was stated
            warnings.simplefilter("ignore")
            problem = problem_from_dict(meta["problem"], arrays)
    return Modes(
        problem,
        tuple(bases),
        arrays["coefficients"],
        arrays["values"],
        arrays["errors"],
        arrays["residuals"],
        ModesReport.from_dict(meta["report"]),
    )
