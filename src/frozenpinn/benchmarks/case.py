"""What a benchmark case is: a problem, settings by recipe and precision, published figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from frozenpinn.errors import SettingsError, choices
from frozenpinn.problem.problem import Problem

RECIPES = ("best", "paper")
PRECISIONS = ("low", "high")


@dataclass(frozen=True)
class Variant:
    """One member of a sweep: arguments of the problem, and changes to the settings of each recipe."""

    label: str = ""
    problem: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Published:
    """What the paper reports (Datar et al., Frozen-PINN): relative L² error and seconds."""

    rel_l2: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Case:
    """A benchmark case.

    Attributes
    ----------
    problem
        Builds the problem; takes the arguments of a variant.
    settings
        Keyword arguments of :func:`frozenpinn.solve` by ``(recipe, precision)``.
    published
        The paper's figures by precision.
    """

    name: str
    title: str
    problem: Callable[..., Problem]
    settings: Mapping[tuple[str, str], Mapping[str, Any]]
    published: Mapping[str, Published] = field(default_factory=dict)
    variants: tuple[Variant, ...] = (Variant(),)

    def options(self, recipe: str, precision: str, variant: Variant) -> dict[str, Any]:
        """Return the settings of one run."""
        if recipe not in RECIPES:
            raise SettingsError(f"unknown recipe '{recipe}'; choose one of {choices(RECIPES)}.")
        if precision not in PRECISIONS:
            raise SettingsError(f"unknown precision '{precision}'; choose one of {choices(PRECISIONS)}.")
        if (recipe, precision) not in self.settings:
            known = choices(f"{r}/{p}" for r, p in self.settings)
            raise SettingsError(f"case '{self.name}' has no settings for '{recipe}/{precision}', only for {known}.")
        return {**self.settings[recipe, precision], **variant.settings.get(recipe, {})}
