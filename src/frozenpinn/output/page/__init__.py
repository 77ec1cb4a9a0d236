"""A page that moves: one HTML file that evaluates a solution in the browser, with nothing fetched from anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.errors import EvaluationError, StorageError, warn
from frozenpinn.geometry.cells import loops
from frozenpinn.output.page.formulas import formulas
from frozenpinn.output.page.modes import Compressed, compressed
from frozenpinn.output.page.special import special_terms
from frozenpinn.output.page.tables import dataset_data, encoded, error_table
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.html import Shown
from frozenpinn.runtime.paths import checked_target, replacing
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.problem import stated_equations
from frozenpinn.transforms import KnownParts, Logarithm, MovingFrame

if TYPE_CHECKING:
    import xarray

    from frozenpinn.results.solution import Solution

__all__ = ["page", "write_dataset_page", "write_page", "written"]

Array = np.ndarray
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_ALPHAS: dict[int, list[tuple[int, ...]]] = {1: [(0,), (1,), (2,)], 2: [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]}


@spelled(EvaluationError)
def page(shown: Any, file: str, *, title: str | None = None) -> str:
    """Write a page that moves, one HTML file that needs no network, and return its path.

    Parameters
    ----------
    shown
        A solution, whose network is evaluated in the browser, or an xarray Dataset over x (and y) and t, such as a
        sweep returns: every other dimension has a slider.
    file
        Such as ``"burgers.html"``.
    title
        The heading; the equations by default.

    Examples
    --------
    >>> import tempfile, os, frozenpinn as fp
    >>> problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> target = os.path.join(tempfile.mkdtemp(), "heat.html")
    >>> os.path.getsize(fp.page(fp.solve(problem), target)) < 200_000
    True
    """
    from frozenpinn.results.solution import Solution

    if isinstance(shown, Solution):
        return write_page(shown, file, title)
    if hasattr(shown, "data_vars"):
        return write_dataset_page(shown, file, title)
    raise EvaluationError(f"page() takes a Solution or an xarray Dataset, got {type(shown).__name__}.")


def write_page(
    solution: Solution, file: Any, title: str | None = None, expressions: Mapping[str, str] | None = None
) -> str:
    """Write the page of a solution and return its path. See :meth:`Solution.page`."""
    if any(isinstance(own.basis, PatchBasis) for piece in solution.pieces for own in piece.expansions):
        if expressions:
            raise EvaluationError("the page of a solution on patches is a table, which has no expressions of its own.")
        return write_dataset_page(solution.grid(), file, title or _title(solution))
    target = _checked(file, title)
    return Shown(written(target, render(page_data(solution, expressions), title or _title(solution))))


def write_dataset_page(runs: xarray.Dataset, file: Any, title: str | None = None) -> str:
    """Write the page of a table of many solutions, with a slider for each parameter, and return its path."""
    target = _checked(file, title)
    data = dataset_data(runs)
    return Shown(written(target, render(data, title or "; ".join(data["equations"]) or "a sweep")))


def _checked(file: Any, title: str | None) -> str:
    target = checked_target(file, StorageError)
    if not target.lower().endswith((".html", ".htm")):
        raise StorageError(f"a page is an HTML file: '{target}' must end in .html.")
    if title is not None and not isinstance(title, str):
        raise EvaluationError(f"title is text, got {title!r}.")
    return target


def written(target: str, text: str) -> str:
    """Write a file as a whole or not at all; one that is there is replaced, as pictures are."""
    with replacing(target) as part, open(part, "w", encoding="utf-8") as stream:
        stream.write(text)
    return target


def page_data(solution: Solution, expressions: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return all that the page of a solution shows, as JSON."""
    problem = solution.problem
    if problem.domain.dimension > 2 and solution.reduced is not None:
        if expressions:
            raise EvaluationError(
                "the page of a solution that depends on few directions has their coordinates, and no expressions in "
                "those of the problem."
            )
        return page_data(solution.reduced) | _words(solution)
    d = problem.domain.dimension
    if d > 2:
        raise EvaluationError(
            f"a page shows one and two dimensions, and the domain has {d}; draw solution.plot() or solution.plot_3d()."
        )
    if any(piece.view(KnownParts) is not None for piece in solution.pieces):
        raise EvaluationError(
            "a part of the solution is known in closed form, because data jump or sources are points; the page of a "
            "network can't evaluate it. Show a table: frozenpinn.page(solution.grid(), 'table.html')."
        )
    if any(piece.view(MovingFrame) is not None or piece.view(Logarithm) is not None for piece in solution.pieces):
        raise EvaluationError(
            "the solution was found in coordinates that move with thin fronts, or as a logarithm; the page "
            "of a network can't evaluate it. Show a table: frozenpinn.page(solution.grid(), 'table.html')."
        )
    rng = np.random.default_rng(Seed.TEST_POINTS)
    points = problem.domain.sample(1200, "random", rng).x
    parts = {
        name: [compressed(piece, name, points, problem.is_static) for piece in solution.pieces]
        for name in problem.fields
    }
    parts, fits = _cut_to_size(parts)
    gap = _disagreement(solution, parts, points[:300], rng)
    if not fits:
        size = sum(p.numbers for pieces in parts.values() for p in pieces) * 11 / 1e6
        warn(f"the page takes {size:.1f} MB, because the solution needs so many functions in space and time.")
    alphas: list[tuple[int, ...]] = _ALPHAS[d]
    rate: list[str] = [] if problem.is_static else ["t"]
    names = ["".join(c * k for c, k in zip(problem.domain.coordinates, alpha, strict=True)) for alpha in alphas]
    store = _Layers([*alphas, *([(0,) * d] if rate else [])])
    fields = []
    for name in problem.fields:
        pieces = [_piece(p, w, store) for p, w in zip(parts[name], solution.pieces, strict=True)]
        error = error_table(solution, name)
        fields.append({"name": name, "pieces": pieces, "error": error})
    return {
        **_words(solution),
        "kind": "network",
        "coordinates": list(problem.domain.coordinates),
        "time": None if problem.is_static else list(problem.time),
        "lower": problem.domain.lower.tolist(),
        "upper": problem.domain.upper.tolist(),
        "loops": [] if d == 1 else [encoded(loop) for loop in loops(problem.domain)],
        "derivatives": [*names, *rate],
        "alphas": [list(alpha) for alpha in alphas],
        "layers": store.layers,
        "fields": fields,
        "formulas": formulas(solution, expressions, [*names, *rate]),
        "agreement": gap,
    }


def _words(solution: Solution) -> dict[str, Any]:
    problem, estimate = solution.problem, solution.error_estimate
    told = [f"{solution.status}"]
    if solution.verdict is not None:
        told[0] += f" (tolerance {solution.verdict.tol:g})"
    for name, value in (estimate or {}).items():
        told.append(f"estimated relative error of {name}: {value:.1e}")
    return {"equations": list(stated_equations(problem)), "domain": repr(problem.domain), "told": told}


def _title(solution: Solution) -> str:
    return "; ".join(stated_equations(solution.problem))


def _cut_to_size(parts: dict[str, list[Compressed]]) -> tuple[dict[str, list[Compressed]], bool]:
    """Keep what fits on a page, and as much of it as does."""
    accuracies = (1e-13, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7)
    largest = 150_000  # numbers, eleven letters each: what a page of less than 2 MB may hold
    kept = parts
    for accuracy in accuracies:
        kept = {name: [p.cut(accuracy) for p in pieces] for name, pieces in parts.items()}
        if sum(p.numbers for pieces in kept.values() for p in pieces) <= largest:
            return kept, True
    return kept, False


def _disagreement(
    solution: Solution, parts: dict[str, list[Compressed]], points: Array, rng: np.random.Generator
) -> float:
    """Return how far the page is from the solution at places chosen at random, relative to its largest value."""
    problem, worst = solution.problem, 0.0
    times = rng.uniform(*problem.time, len(points)) if not problem.is_static else np.zeros(len(points))
    window = solution._window(times)
    for name, pieces in parts.items():
        true, found = solution.paired_values(points, times, problem.jets.field(name)), np.empty(len(points))
        for k in np.unique(window):
            found[window == k] = pieces[k](points[window == k], times[window == k])
        size = float(np.max(np.abs(true), initial=0.0)) or 1.0
        worst = max(worst, float(np.max(np.abs(found - true), initial=0.0)) / size)
    return worst


class _Layers:
    """Frozen layers by number: fields and windows share them."""

    def __init__(self, alphas: list[tuple[int, ...]]) -> None:
        self.layers: list[dict[str, Any]] = []
        self._alphas, self._known = alphas, dict[int, int]()

    def number(self, layer: HiddenLayer, axis: int | None) -> int:
        """Return under which number a layer stands, of one axis of a product or of all coordinates."""
        if id(layer) not in self._known:
            alphas: list[tuple[int, ...]] = self._alphas
            if axis is not None:
                alphas = [(alpha[axis],) for alpha in self._alphas]
            special = [] if layer.singular is None else special_terms(layer.singular, alphas)
            self._known[id(layer)] = len(self.layers)
            arrays = {name: encoded(getattr(layer, name)) for name in ("weights", "origins", "offsets")}
            self.layers.append({**arrays, "activation": layer.activation, "special": special})
        return self._known[id(layer)]


def _piece(part: Compressed, window: Any, store: _Layers) -> dict[str, Any]:
    product = bool(part.mixing)
    return {
        "start": window.start,
        "layers": [store.number(layer, axis if product else None) for axis, layer in enumerate(part.layers)],
        "mixing": [encoded(m) for m in part.mixing],
        "modes": encoded(part.modes.reshape(-1, part.modes.shape[-1])),
        "breaks": encoded(part.course.breaks),
        "course": encoded(part.course.values),
    }


def render(data: dict[str, Any], title: str) -> str:
    """Return the page as HTML."""
    text = json.dumps(data, allow_nan=False).replace("</", "<\\/")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_asset('viewer.css')}</style></head>"
        f"<body><header><h1>{escape(title)}</h1><p id=told></p></header>"
        "<main><div id=tools></div><div id=views></div><p id=hint></p></main>"
        "<footer id=foot></footer><noscript>This page needs JavaScript.</noscript>"
        f'<script type="application/json" id="data">{text}</script>'
        f"<script>{_asset('evaluate.js')}\n{_asset('viewer.js')}</script></body></html>\n"
    )


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
