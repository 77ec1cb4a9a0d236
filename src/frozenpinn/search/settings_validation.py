"""Settings as users give them: each of a kind that it can have, before anything is computed."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from frozenpinn.errors import SettingsError, choices, suggestion
from frozenpinn.runtime.arguments import between, is_number, is_whole, shown
from frozenpinn.runtime.decisions import FIXED, OPTIONAL
from frozenpinn.search.rules import Rules

MAX_WINDOWS = 10_000
FINEST_RTOL = 1e-15
MAX_NUMBER = 1e100  # of whatever a sampler, an integrator or a boundary strategy is made of
_OBJECTS = {
    "sampler": ("sample", "fp.samplers.SWIM(400)"),
    "integrator": ("integrate", "fp.integrators.CVODE()"),
    "boundary": ("build", "fp.boundary.NullSpaceLayer()"),
}


def check_kinds(settings: Any) -> None:
    """Refuse settings of a kind that they can't have, such as a class instead of an object of it."""
    for name, (method, example) in _OBJECTS.items():
        _check_object(name, getattr(settings, name), method, example)
    _check_counts("width", settings.width, "a positive whole number of neurons")
    _check_counts("points", settings.points, "a whole number from 2 on (or one per axis)", 2)
    if settings.boundary_points is not None:
        _check_counts("boundary_points", settings.boundary_points, "a positive whole number", several=False)
    if settings.cutoff is not None and not (isinstance(settings.cutoff, str) and settings.cutoff == "auto"):
        _check_between("the SVD cut-off", settings.cutoff)
    if settings.rcond is not None and not between(settings.rcond, 0, 1):
        raise SettingsError(f"rcond must lie between 0 and 1, or be None; got {shown(settings.rcond)}.")
    if settings.rtol is not None:
        _check_between("rtol", settings.rtol)
    if not isinstance(settings.point_method, str):
        raise SettingsError(f"point_method is a name such as 'gauss' or 'auto', got {shown(settings.point_method)}.")
    if settings.without != ():
        _check_without(settings.without)
    if not isinstance(settings.rules, Rules):
        raise SettingsError(f"rules is a value such as fp.Rules(), got {shown(settings.rules)}.")


def check_windows(count: Any) -> None:
    """Refuse a number of windows that is none, or that no solve would live through."""
    if count is not None and not (is_whole(count) and 1 <= count <= MAX_WINDOWS):
        most = f" up to {MAX_WINDOWS}" if is_whole(count) and count > MAX_WINDOWS else ""
        raise SettingsError(f"windows must be a positive whole number{most}, or None to adapt; got {shown(count)}.")


def _check_without(given: Any) -> None:
    """Refuse names of decisions that there are not, or that nothing can do without."""
    if not isinstance(given, tuple):
        raise SettingsError(f"without is a tuple of names such as ('logarithm',), got {shown(given)}.")
    for name in given:
        if isinstance(name, str) and name in OPTIONAL:
            continue
        known = isinstance(name, str) and name in FIXED
        what = f"'{name}' can't be switched off" if known else f"without={shown(name)} is no decision"
        hint = suggestion(name, OPTIONAL) if isinstance(name, str) and not known else ""
        raise SettingsError(f"{what}; those that can be switched off are {choices(OPTIONAL)}.{hint}")


def _check_object(name: str, given: Any, method: str, example: str) -> None:
    if given is None or isinstance(given, str):
        return
    if isinstance(given, type):
        raise SettingsError(f"{name} is the class {given.__name__}; give an object of it, such as {example}.")
    if hasattr(given, "free_symbols") or not callable(getattr(given, method, None)):  # SymPy's have integrate(), too
        raise SettingsError(
            f"{name} is a name, or an object with a method '{method}' such as {example}; got {shown(given)}."
        )
    for number in fields(given) if is_dataclass(given) else ():
        value = getattr(given, number.name)
        if is_number(number.default) and not between(value, 0, MAX_NUMBER):
            raise SettingsError(
                f"{number.name} of the {name} is a number such as {number.default}, got {shown(value)}."
            )
    if hasattr(given, "rtol") and not between(given.rtol, FINEST_RTOL, 1):
        raise SettingsError(
            f"rtol of the {name} must lie between {FINEST_RTOL:g}, as double precision has it, and 1; "
            f"got {shown(given.rtol)}."
        )


def _check_counts(name: str, given: Any, wanted: str, least: int = 1, *, several: bool = True) -> None:
    if given is None:
        return
    counts = given if several and isinstance(given, tuple) else [given]
    if not len(counts) or not all(is_whole(n) and between(n, least, MAX_NUMBER) for n in counts):
        raise SettingsError(f"{name} must be {wanted}, got {shown(given)}.")


def _check_between(name: str, given: Any) -> None:
    if not between(given, 5e-324, 1 - 2**-53):
        raise SettingsError(f"{name} must lie between 0 and 1, got {shown(given)}.")
