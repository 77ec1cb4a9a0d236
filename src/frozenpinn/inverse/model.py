"""What would be measured for given values of the unknowns, and how that changes with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from frozenpinn.errors import ConvergenceError

Array = np.ndarray


class Prediction(NamedTuple):
    """What would be measured, shape (m,), its derivatives by the unknowns, (m, p), and what led there."""

    values: Array
    slopes: Array
    state: Any

    def after(self, step: Array) -> Prediction:
        """Return the prediction, and its static state, after a step so small that the first order is all there is."""
        state = None if self.state is None else self.state.after(step)
        return Prediction(self.values + self.slopes @ step, self.slopes, state)


class Model(Protocol):
    """A problem, discretised, with sensors."""

    @property
    def follows(self) -> bool:
        """Whether the last, small step may be taken to first order, without a solve."""

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; ``near`` is the state of an earlier prediction."""


@runtime_checkable
class TwoStages(Protocol):
    """A model whose slopes cost as much as its values do, and can be left out."""

    def values(self, theta: Array) -> tuple[Array, Any]:
        """Return what would be measured, and what led there."""

    def slopes(self, theta: Array, state: Any) -> Array:
        """Return the derivatives of that."""


@dataclass(frozen=True, eq=False)
class Chord:
    """A model whose slopes are taken from elsewhere: near a fit they need not be exact."""

    values: Callable[[Array], tuple[Array, Any]]
    known: Array
    follows = False

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured, with the old slopes."""
        values, state = self.values(theta)
        return Prediction(values, self.known, state)


@dataclass(frozen=True, eq=False)
class Straight:
    """A model that is linear in all unknowns."""

    centre: Array
    known: Prediction
    follows = True

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; there is no solution to it."""
        return Prediction(self.known.values + self.known.slopes @ (theta - self.centre), self.known.slopes, None)


@dataclass(frozen=True, eq=False)
class Shifted:
    """A model near a known prediction: a quicker one predicts by how much that changes.

    Attributes
    ----------
    quick, base
        Return what would be measured with fewer digits, and did so at the known place, whose errors cancel.
    known
        The prediction, whose slopes are taken.
    noise, reach
        The noise, and how many times as large changes may be.
    """

    quick: Callable[[Array], tuple[Array, Any]]
    base: Callable[[], Array]
    known: Prediction
    noise: Array
    reach: float
    follows = True

    def at(self, theta: Array, near: Any = None) -> Prediction:
        """Return what would be measured; there is no solution to it."""
        change = self.quick(theta)[0] - self.base()
        if not np.sqrt(np.mean((change / self.noise) ** 2)) <= self.reach:
            raise ConvergenceError("a quick solve does not tell so large a change")
        return Prediction(self.known.values + change, self.known.slopes, None)


class Forward(Protocol):
    """The models of one problem, from a rough one, on which fits are found, to an independent second one."""

    @property
    def rough(self) -> Model:
        """Where fits are looked for."""

    @property
    def fine(self) -> Model:
        """Where they are refined."""

    def refined(self, fit: Any) -> Self:
        """Return the models whose fine one suits a rough fit."""

    def twin(self, question: Any, theta: Array, fit: Any, sigmas: Array) -> Model:
        """Return a model on other networks."""

    def solution(self, fit: Any, known: Any = None) -> Any:
        """Return the solution at a fit; another one near it may be known."""

    def predict(self, fit: Any) -> Callable[[Array], Array]:
        """Return the function from unknowns to what would be measured near a fit."""

    def renewed(self, data: Any, fit: Any, noise: Array) -> tuple[Self, list[Model]]:
        """Return the models for new data, and those on which to start from an old fit, the cheapest first."""
