"""What an inverse case consists of: a problem with unknowns, its measurements, and the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as default
from typing import Any

import numpy as np

from frozenpinn.geometry.domain import Domain
from frozenpinn.inverse.paper import Alternating, Scan
from frozenpinn.runtime.seeds import Seed
from frozenpinn.statement.measurements import Measurements, Relative
from frozenpinn.statement.problem import Problem

Array = np.ndarray


@dataclass(frozen=True)
class InverseCase:
    """A problem with unknowns whose truth is known.

    Attributes
    ----------
    problem
        Builds the problem.
    solution
        Returns what sensors would show without noise, at points and times.
    truth
        The unknown numbers.
    field
        Name and truth of an unknown field; None if there is none.
    count, noise, absolute
        How many sensors there are, and their noise, a part of the values or absolute.
    known_on_boundary
        Whether the field is known there; its values count as measurements with a deviation of 1e-3.
    measured
        Which field is seen, if there are several.
    published
        Errors of the unknowns without noise in print, by source.
    paper
        The paper's way to solve it, with the seconds that the paper reports; None if it is not in the paper.
    """

    name: str
    title: str
    problem: Callable[[], Problem]
    solution: Callable[[Array, Array | None], Array]
    truth: Mapping[str, float] = default(default_factory=dict)
    field: tuple[str, Callable[[Array], Array]] | None = None
    count: int = 100
    noise: float = 0.01
    absolute: bool = False
    known_on_boundary: bool = False
    measured: str | None = None
    published: Mapping[str, float] = default(default_factory=dict)
    paper: tuple[Scan | Alternating, float] | None = None

    def error(
        self, numbers: Mapping[str, Any], field: Callable[[Array], Array] | None, domain: Domain
    ) -> dict[str, float]:
        """Return the largest relative error of the numbers, or the relative L² error of the field; and the RMSE."""
        if self.field is None:
            exact = np.array(list(self.truth.values()))
            gaps = np.array([float(numbers[name]) for name in self.truth]) - exact
            relative = float(np.max(np.abs(gaps / exact)))
        else:
            assert field is not None
            x = domain.sample(2000, "random", int(Seed.TEST_POINTS)).x
            exact = self.field[1](x)
            gaps = field(x) - exact
            relative = float(np.linalg.norm(gaps) / np.linalg.norm(exact))
        return {"rel_l2": relative, "rmse": float(np.sqrt(np.mean(gaps**2)))}

    def places(self, seed: int) -> tuple[Array, Array | None]:
        """Return where and when is measured."""
        problem, rng = self.problem(), np.random.default_rng(seed)
        x = problem.domain.sample(self.count, "random", rng).x
        return x, None if problem.is_static else rng.uniform(*problem.time, len(x))

    def data(self, seed: int, noisy: bool, told: bool = True) -> list[Measurements]:
        """Return measurements, exact or with noise, whose size is told or left to be estimated."""
        return [self._sensors(seed, noisy, told), *self._on_boundary(noisy and told)]

    def _on_boundary(self, told: bool) -> list[Measurements]:
        """Return values of the field on the boundary, if they are known."""
        if self.field is None or not self.known_on_boundary:
            return []
        domain = self.problem().domain
        x = np.concatenate([domain.sample_side(side, 25, "gauss", 0).x for side in domain.sides])
        times = None if self.problem().is_static else self.problem().time[0]
        return [Measurements(x, self.field[1](x), times, self.field[0], noise=1e-3 if told else None)]

    def _sensors(self, seed: int, noisy: bool, told: bool) -> Measurements:
        x, t = self.places(seed % 1000)
        values = self.solution(x, t)
        if not noisy:
            return Measurements(x, values, times=t, field=self.measured)
        drawn = np.random.default_rng(seed + 10_000).standard_normal(len(values))
        sizes = self.noise * (1.0 if self.absolute else np.abs(values))
        given: Any = (self.noise if self.absolute else Relative(self.noise)) if told else None
        return Measurements(x, values + sizes * drawn, times=t, field=self.measured, noise=given)
