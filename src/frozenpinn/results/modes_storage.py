"""Stored modes: one ``.npz`` file of arrays and a JSON text. Nothing in it is ever executed."""

from __future__ import annotations

import json
import warnings
import zipfile
import zlib
from typing import Any, cast

import numpy as np

from frozenpinn.basis.stored import basis_arrays, basis_from_arrays
from frozenpinn.errors import FrozenPinnError
from frozenpinn.results.modes import Modes, ModesReport
from frozenpinn.statement.document import domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.statement.outline import Outline
from frozenpinn.statement.problem import Problem

Array = np.ndarray
FORMAT = 1
_META = "modes"  # the name of the JSON text, by which such a file is told from others


def save_modes(modes: Modes, file: str) -> None:
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
        "problem": problem_to_dict(modes.problem) if isinstance(modes.problem, Problem) else None,
        "domain": domain,
        "fields": list(modes.problem.fields),
        "bases": bases,
        "report": modes.report.as_dict(),
    }
    arrays[_META] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with open(file, "wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def holds_modes(file: str) -> bool:
    """Whether a file has been written by :meth:`Modes.save`."""
    with open(file, "rb") as handle:
        if not zipfile.is_zipfile(handle):
            return False
        with zipfile.ZipFile(handle) as archive:
            return f"{_META}.npy" in archive.namelist()


def load_modes(file: str) -> Modes:
    """Read stored modes; they can be evaluated and differentiated like the original ones."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop(_META).tobytes().decode())
        if meta["format"] == FORMAT:
            return _rebuilt(meta, arrays)
    except (ValueError, TypeError, LookupError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FrozenPinnError(f"'{file}' does not hold stored modes, or it is damaged ({error}).") from None
    raise FrozenPinnError(f"'{file}' has format {meta['format']!r}; this version reads format {FORMAT}.")


def _rebuilt(meta: dict[str, Any], arrays: dict[str, Array]) -> Modes:
    bases = []
    for i, about in enumerate(meta["bases"]):
        prefix = f"basis/{i}/"
        own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
        bases.append(basis_from_arrays(about, own))
    if meta["problem"] is None:
        orders = dict.fromkeys(meta["fields"], 0)
        outline = Outline(domain_from_dict(meta["domain"]), (0.0, 0.0), tuple(meta["fields"]), orders)
        problem = cast(Problem, outline)
    else:
        with warnings.catch_warnings():  # warned about when the problem was stated
            warnings.simplefilter("ignore")
            problem = problem_from_dict(meta["problem"])
    return Modes(
        problem,
        tuple(bases),
        arrays["coefficients"],
        arrays["values"],
        arrays["errors"],
        arrays["residuals"],
        ModesReport.from_dict(meta["report"]),
    )
