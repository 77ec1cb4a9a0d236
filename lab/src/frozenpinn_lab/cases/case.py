"""What a benchmark case is: a problem, settings by recipe and precision, published figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import PurePath
from typing import Any, TypeAlias

import numpy as np

from frozenpinn.errors import SettingsError, choices
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.inverse_case import InverseCase
from frozenpinn_lab.cases.peers import Baseline, Published, baselines_of
from frozenpinn_lab.peers.methods import BASELINES

__all__ = [
    "AUTO",
    "FROZEN_PINN",
    "METHODS",
    "PRECISIONS",
    "RECIPES",
    "Baseline",
    "Case",
    "Published",
    "Variant",
    "check_choice",
]

FROZEN_PINN = "frozen-pinn"
METHODS = (FROZEN_PINN, *BASELINES)
AUTO = "auto"
RECIPES = ("best", "paper", AUTO)
PRECISIONS = ("low", "high")
TOLERANCES = {"low": 1e-3, "high": 1e-8}  #: of the recipe "auto", if no other is given


TestPoints: TypeAlias = Callable[[Problem], np.ndarray]


@dataclass(frozen=True)
class Variant:
    """One member of a sweep: arguments of the problem, settings in place of those of the case, other test points.

    ``peers`` has options of other methods, by their name, in place of some of those that they have for the case;
    ``published`` are the paper's figures in place of those of the case.
    """

    label: str = ""
    problem: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[tuple[str, str], Settings] = field(default_factory=dict)
    recipes: tuple[str, ...] = RECIPES
    test_points: TestPoints | None = None
    peers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    published: Mapping[str, Published] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A benchmark case.

    Attributes
    ----------
    problem
        Builds the problem; takes the arguments of a variant.
    settings
        Numerical choices by ``(recipe, precision)``.
    published
        The paper's figures by precision.
    test_points
        Where errors are measured; None takes the common grid.
    trivial
        A predictor that knows nothing, as text: its score stands beside ours.
    costly
        Recipes that run with the first seed only and without a warm-up, as they take minutes.
    is_static
        Whether its problem has no time.
    mesh
        File of the user that its domain comes from; empty for domains of its own.
    values
        The eigenvalues that are asked for, with the arguments of a variant; None if there are none.
    inverse
        Measurements and truth of an inverse problem; None if nothing is unknown.
    """

    name: str
    title: str
    problem: Callable[..., Problem]
    settings: Mapping[tuple[str, str], Settings]
    published: Mapping[str, Published] = field(default_factory=dict)
    variants: tuple[Variant, ...] = (Variant(),)
    test_points: TestPoints | None = None
    trivial: str | None = None
    costly: tuple[str, ...] = ()
    is_static: bool = False
    mesh: str = ""
    values: Callable[..., tuple[float, ...]] | None = None
    inverse: InverseCase | None = None

    def options(self, recipe: str, precision: str, variant: Variant) -> dict[str, Any]:
        """Return what :func:`frozenpinn.solve` is given: a tolerance, or settings."""
        check_choice("recipe", recipe, RECIPES)
        check_choice("precision", precision, PRECISIONS)
        if recipe == AUTO and self.inverse is None:  # an inference has no tolerance
            return {"tol": TOLERANCES[precision]}
        return {"settings": self.choices(recipe, precision, variant)}

    def choices(self, recipe: str, precision: str, variant: Variant) -> Settings:
        """Return the settings of a recipe that has some."""
        if (recipe, precision) not in self.settings:
            known = choices(f"{r}/{p}" for r, p in self.settings)
            raise SettingsError(f"case '{self.name}' has no settings for '{recipe}/{precision}', only for {known}.")
        return variant.settings.get((recipe, precision), self.settings[recipe, precision])

    def members(self, recipe: str) -> list[Variant]:
        """Return the variants that a recipe runs; the automatic one has no settings to vary."""
        chosen = [variant for variant in self.variants if recipe in variant.recipes]
        if recipe != AUTO:
            return chosen
        distinct: dict[object, Variant] = {}
        for variant in chosen:
            distinct.setdefault((tuple(variant.problem.items()), variant.test_points), variant)
        return [v if len(distinct) > 1 else replace(v, label="") for v in distinct.values()]

    def figures(self, precision: str, variant: Variant) -> Published:
        """Return what the paper reports; nothing where it has no figures."""
        return variant.published.get(precision, self.published.get(precision, Published()))

    def with_mesh(self, file: str) -> Case:
        """Return the case on the mesh of a file: one variant for each of those that differ in something else."""
        if "mesh" not in signature(self.problem).parameters:
            raise SettingsError(f"case '{self.name}' has a domain of its own; --mesh is for helmholtz-solid.")
        stem, found = PurePath(file).stem, dict[object, Variant]()
        for variant in self.variants:
            others = {name: value for name, value in variant.problem.items() if name != "mesh"}
            label = ", ".join([stem, *map(str, others.values())])
            found.setdefault(label, replace(variant, label=label, problem={**others, "mesh": file}))
        return replace(self, variants=tuple(found.values()), mesh=file)

    @property
    def baselines(self) -> dict[str, Baseline]:
        """Other methods by name."""
        return baselines_of(self.name)

    def baseline(self, method: str, precision: str) -> Baseline:
        """Return how another method solves this case."""
        check_choice("precision", precision, PRECISIONS)
        if method == "iga-exact":
            splines = self.baseline("iga", precision)
            own = {name: value for name, value in splines.settings.items() if name != "integrator"}
            return Baseline(own, recipe=None, note="the splines of IGA, our closed form in time")
        if method not in self.baselines:
            known = choices([FROZEN_PINN, *self.baselines])
            raise SettingsError(f"case '{self.name}' has no settings for the method '{method}', only for {known}.")
        if precision != "high":
            raise SettingsError(f"the method '{method}' has settings for high precision only.")
        return self.baselines[method]

    def can_run(self, method: str, recipe: str, precision: str) -> bool:
        """Whether there are settings for a method, a recipe (which matters for ours only) and a precision."""
        if method == FROZEN_PINN:
            return (recipe == AUTO and self.inverse is None) or (recipe, precision) in self.settings
        if self.inverse is not None:
            return precision == "high" and method in ("pinn-adam", "pinn-lbfgs")
        known = precision == "high" and method.removesuffix("-exact") in self.baselines
        return known and (method != "iga-exact" or self.problem(**self.variants[0].problem).is_linear)


def check_choice(what: str, name: str, known: Sequence[str]) -> None:
    """Refuse a name that is not known; the error lists those that are."""
    if name not in known:
        raise SettingsError(f"unknown {what} '{name}'; choose one of {choices(known)}.")
