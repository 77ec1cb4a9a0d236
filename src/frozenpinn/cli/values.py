"""What ``--set`` means on the command line: ``nu=0.02``, and for sweeps ``nu=0.01:0.1:20`` or ``nu=normal(1,0.1)``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from frozenpinn.errors import SettingsError
from frozenpinn.sweeps import GaussianField, LogUniform, Normal, Uniform

_HELP = "write nu=0.01:0.1:20 (20 values from … to …), nu=0.01:0.1:20:log, nu=0.01,0.02,0.05 or nu=normal(1,0.1)"
_KINDS: dict[str, Callable[..., Any]] = {
    "normal": Normal,
    "uniform": Uniform,
    "loguniform": LogUniform,
    "gaussian": GaussianField,
}


def values(given: Sequence[str] | None) -> dict[str, Any]:
    """Return values of parameters: numbers where they are numbers, texts otherwise."""
    return {name: _value(text) for name, text in _pairs(given)}


def varied(given: Sequence[str] | None) -> dict[str, Any]:
    """Return what varies in a sweep: lists and distributions."""
    return {name: _varied(name, text) for name, text in _pairs(given)}


def numbers(text: str | None, what: str) -> int | list[float] | None:
    """Return a count, ``5``, or a list of numbers, ``0,0.5,1`` or ``1.0``."""
    if text is None:
        return None
    if re.fullmatch(r"\d+", text.strip()):
        return int(text)
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SettingsError(f"{what} takes how many, 5, or a list such as 0,0.5,1; got '{text}'.") from None


def _pairs(given: Sequence[str] | None) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for text in given or ():
        name, mark, value = text.partition("=")
        if not mark or not name.strip() or not value.strip():
            raise SettingsError(f"--set takes a name and a value, such as nu=0.02; got '{text}'.")
        if name.strip() in dict(pairs):
            raise SettingsError(f"--set gives '{name.strip()}' twice.")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _value(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _varied(name: str, text: str) -> Any:
    call = re.fullmatch(r"(\w+)\((.*)\)", text)
    if call is not None and call[1] in _KINDS:
        return _KINDS[call[1]](*(_number(name, part) for part in call[2].split(",")))
    parts = text.split(":")
    if len(parts) == 1:
        return [_value(part.strip()) for part in text.split(",")]
    if (
        len(parts) not in (3, 4)
        or (len(parts) == 4 and parts[3] != "log")
        or not parts[2].isdigit()
        or int(parts[2]) < 2
    ):
        raise SettingsError(f"--set {name}={text} makes no sense; {_HELP}.")
    low, high, count = _number(name, parts[0]), _number(name, parts[1]), int(parts[2])
    if low == high or (len(parts) == 4 and not (low > 0 and high > 0)):
        raise SettingsError(f"--set {name}={text}: the range is empty, or not positive as a logarithmic one must be.")
    return (np.geomspace if len(parts) == 4 else np.linspace)(low, high, count).tolist()


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingsError(f"--set {name}: '{text}' is not a number; {_HELP}.") from None
