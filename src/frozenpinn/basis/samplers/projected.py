"""SWIM from projected pairs (Datar et al.): neurons aligned with the gradients of a known function.

The difference of a pair of points is projected onto the plane spanned by the gradients at the two points. Where a
function varies in few directions only, so do its neurons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.samplers.protocol import Cloud, check_width
from frozenpinn.basis.samplers.swim import SWIM, pair_neurons
from frozenpinn.errors import SettingsError
from frozenpinn.runtime.arguments import spelled

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class ProjectedSWIM:
    """One neuron from (x₁, x₁ + projection of x₂ − x₁ onto the span of the gradients at x₁ and x₂) of each pair.

    Parameters
    ----------
    width
        Number of neurons.
    gradient
        Gradients at the points, shape (n, d) or (n, fields, d), or a function from points (n, d) to them. None projects
        nothing; in a solve it then stands for the gradient of the initial value. Pairs that are perpendicular to all
        gradients are left out as long as there are others, and used unprojected if there are not.

    Examples
    --------
    All neurons of a function that depends on x + y alone look along (1, 1):

    >>> import numpy as np, frozenpinn as fp
    >>> points = fp.Box([0, 0], [1, 1]).sample(50)
    >>> hidden = fp.samplers.ProjectedSWIM(20, gradient=np.ones_like).sample(points, rng=0)
    >>> bool(np.allclose(hidden.weights[:, 0], hidden.weights[:, 1]))
    True
    """

    width: int
    gradient: Array | Callable[[Array], Array] | None = field(default=None, repr=False, compare=False)
    activation: str = "tanh"
    name: str = "projected-swim"

    def __post_init__(self) -> None:
        check_width(self.width)

    def oriented(self, gradient: Callable[[Array], Array]) -> ProjectedSWIM:
        """Return the sampler with the gradients of a problem's initial value, unless it has others."""
        return replace(self, gradient=gradient) if self.gradient is None else self

    def sample(self, points: Cloud, rng: int | np.random.Generator) -> HiddenLayer:
        """Draw pairs, project them, and place one neuron on each."""
        short = 1e-6  # pairs whose projection is this much shorter than they are say nothing
        x, generator = points.x, np.random.default_rng(rng)
        start, end = SWIM(2 * self.width).pairs(len(x), generator)
        difference = x[end] - x[start]
        if self.gradient is not None:
            slopes = self._gradients(x)
            projected = project(difference, np.concatenate([slopes[start], slopes[end]], axis=1))
            long = np.linalg.norm(projected, axis=1) > short * np.linalg.norm(difference, axis=1)
            order = np.argsort(~long, kind="stable")  # the usable ones first
            start, difference = start[order], np.where(long[:, None], projected, difference)[order]
        first = x[start[: self.width]]
        return pair_neurons(first, first + difference[: self.width], self.activation)

    def _gradients(self, x: Array) -> Array:
        """Return the gradients at the points, shape (n, fields, d)."""
        given = self.gradient(x) if callable(self.gradient) else self.gradient
        slopes = np.asarray(given, dtype=float)
        shape = slopes.shape
        if slopes.ndim == 2:
            slopes = slopes[:, None, :]
        if slopes.ndim != 3 or slopes.shape[0] != len(x) or slopes.shape[2] != x.shape[1]:
            raise SettingsError(
                f"ProjectedSWIM got gradients of shape {shape} for {len(x)} points in {x.shape[1]} "
                f"dimension(s); expected ({len(x)}, {x.shape[1]})."
            )
        if not np.all(np.isfinite(slopes)):
            raise SettingsError("ProjectedSWIM got a gradient that is not finite.")
        return slopes


def project(vectors: Array, directions: Array) -> Array:
    """Project each vector (m, d) onto the span of its own directions (m, k, d)."""
    parallel = 1e-8  # gradients that differ by less than this span a line
    _, singular, basis = np.linalg.svd(directions, full_matrices=False)
    used = singular > parallel * np.max(singular, axis=1, keepdims=True)
    components = np.einsum("mkd,md->mk", basis, vectors) * used
    return np.asarray(np.einsum("mk,mkd->md", components, basis))
