"""Views: values of the user's fields from those of the fields that were solved for.

A problem may be solved in other units, other coordinates or for other unknowns. A solution then has a chain of views.
The first is asked for a sum of derivatives and asks the next one for what it needs; the last one asks the basis. So any
number of them can be combined, and none knows of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self, TypeAlias, cast

import numpy as np

from frozenpinn.basis.hidden import Derivative, Term
from frozenpinn.language.jets import Jet
from frozenpinn.runtime.decisions import Decision
from frozenpinn.statement.problem import Problem

Array = np.ndarray
Arrangement: TypeAlias = Literal["all", "pairs", "grid"]


class Places(NamedTuple):
    """Where a solution is evaluated.

    Attributes
    ----------
    x
        Points, shape (n, d); none of a grid.
    times
        Times, shape (m,).
    arrangement
        ``"all"`` points at all times have values (n, m), ``"pairs"`` of points and times (n,), and the ``"grid"`` of
        axes (n₁,), (n₂,), … and times (n₁, n₂, …, m).
    axes
        Those of a grid.
    """

    x: Array
    times: Array
    arrangement: Arrangement = "all"
    axes: tuple[Array, ...] = ()

    @classmethod
    def grid(cls, axes: Sequence[Array], times: Array) -> Places:
        """Return the grid of some axes."""
        return cls(np.empty((0, len(axes))), times, "grid", tuple(axes))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of values."""
        if self.arrangement == "grid":
            return (*map(len, self.axes), len(self.times))
        return (len(self.x),) if self.arrangement == "pairs" else (len(self.x), len(self.times))

    @property
    def mesh(self) -> Sequence[Array]:
        """The coordinates and the times as arrays that broadcast to the shape of values."""
        if self.arrangement == "grid":
            return np.meshgrid(*self.axes, self.times, indexing="ij", sparse=True)
        if self.arrangement == "pairs":
            return (*self.x.T, self.times)
        return (*(c[:, None] for c in self.x.T), self.times[None, :])


class Request(NamedTuple):
    """Σ coefficient·D of one field, with the same number of time derivatives in all terms, at some places."""

    places: Places
    terms: tuple[Term, ...]
    time: int = 0

    @classmethod
    def of(cls, places: Places, jet: Jet) -> Request:
        """Ask for one derivative."""
        return cls(places, (Term(jet.field, Derivative(jet.alpha, jet.laps)),), jet.time)

    @property
    def field(self) -> str:
        """The field."""
        return self.terms[0].field

    def summed(self, values: Callable[[Jet], Array]) -> Array:
        """Return the sum of the terms, given the values of each derivative."""
        jets = [Jet(term.field, *term.derivative, time=self.time) for term in self.terms]
        parts = [term.coefficient * values(jet) for term, jet in zip(self.terms, jets, strict=True)]
        return np.asarray(sum(parts[1:], parts[0]))


Inner: TypeAlias = Callable[[Request], Array]  #: values of what a view is a view of


class View(Protocol):
    """How the fields of one problem follow from those of another; a value that is stored by its name."""

    name: ClassVar[str]
    keeps_axes: ClassVar[bool]  #: whether values on a grid follow from values on the same grid

    def values(self, inner: Inner, request: Request) -> Array:
        """Return what is asked for, from values of the fields that were solved for."""

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: the attributes, if nothing else is written."""
        return asdict(cast(Any, self))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Return what was stored."""
        return cls(**stored)


def seen_through(views: Sequence[View], inner: Inner, request: Request) -> Array:
    """Return what is asked of the first view of a chain; ``inner`` is what the last one asks."""
    for view in reversed(views):
        inner = partial(view.values, inner)
    return inner(request)


class Transform(Protocol):
    """Another form of a problem that is easier to solve, and the view back: of itself, if it is a view as well."""

    name: ClassVar[str]  #: by which users switch it off

    @classmethod
    def propose(cls, problem: Problem) -> Transform | None:
        """Return the form that suits a problem; None for most."""

    @property
    def note(self) -> str:
        """What a solution notes; empty for nothing."""

    def decision(self, problem: Problem) -> Decision:
        """Return the name, and why it was taken."""
        return Decision(self.name, self.note)

    def forward(self, problem: Problem) -> Problem:
        """Return the problem to solve instead."""

    def view(self, problem: Problem) -> View:
        """Return how the fields of the problem follow from those of the other."""
        return cast(View, self)
