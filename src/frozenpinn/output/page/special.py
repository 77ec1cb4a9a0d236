"""Special functions of corners, holes and layers as sums of exponentials, which is what the page evaluates.

Every derivative of such a function is the real part of Σ factor · exp(a·L + b·L̄) · Λ with L = log z, or of
factor · exp(ω·(x − x₀)); the terms are worked out here, the page only sums them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenpinn.basis.corners import SingularFunctions, _terms
from frozenpinn.basis.hidden import SpecialFunctions
from frozenpinn.basis.layers import LayerFunctions
from frozenpinn.errors import EvaluationError


def special_terms(functions: SpecialFunctions, alphas: list[tuple[int, ...]]) -> list[dict[str, Any]]:
    """Return for each function where it stands, and its terms for each derivative."""
    if isinstance(functions, SingularFunctions):
        return [_power(row, alphas) for row in functions.table]
    if isinstance(functions, LayerFunctions):
        return [_layer(row, alphas) for row in functions.table]
    if functions.kind == "broken":
        raise EvaluationError(
            "functions that bend where a coefficient jumps can't be put on a page. Show a table: "
            "frozenpinn.page(solution.grid(), 'table.html')."
        )
    raise EvaluationError(f"special functions of kind '{functions.kind}' can't be put on a page.")


def _power(row: np.ndarray, alphas: list[tuple[int, ...]]) -> dict[str, Any]:
    x, y, start, opening, unit, p, q, log, phase, imaginary, *root = map(float, row)
    turn = complex(np.exp(-1j * start)) / unit
    slopes = (turn, complex(*root) * turn)  # of z by x and by y
    tables = []
    for alpha in alphas:
        terms = []
        for a, b, m, factor in _terms(complex(p, imaginary), q, log, alpha, 0, slopes):
            turned = factor * np.exp(-1j * phase)
            terms.append([a.real, a.imag, b, int(m * log), turned.real, turned.imag])
        tables.append(terms)
    z = [[slope.real, slope.imag] for slope in slopes]
    return {"kind": "power", "at": [x, y], "slopes": z, "middle": opening / 2.0, "terms": tables}


def _layer(row: np.ndarray, alphas: list[tuple[int, ...]]) -> dict[str, Any]:
    d = len(row) // 3
    rates = row[d : 2 * d] + 1j * row[2 * d : 3 * d]
    factors = [np.exp(-1j * row[-1]) * np.prod(rates ** np.array(alpha)) for alpha in alphas]
    return {
        "kind": "layer",
        "at": row[:d].tolist(),
        "re": rates.real.tolist(),
        "im": rates.imag.tolist(),
        "terms": [[float(f.real), float(f.imag)] for f in factors],
    }
