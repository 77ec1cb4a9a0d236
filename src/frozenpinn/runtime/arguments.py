"""Arguments that users give: numbers that are numbers, and names that are spelled right."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from frozenpinn.errors import FrozenPinnError, suggestion

Array = np.ndarray
MAX_NUMBERS = 10**8
Target = TypeVar("Target", bound=Callable[..., Any])


def is_number(value: object) -> bool:
    """Whether something is one real number; True, False and texts such as '5' are none."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf"
    return not isinstance(value, bool | np.bool_) and isinstance(value, int | float | np.integer | np.floating)


def between(value: Any, low: float, high: float) -> bool:
    """Whether something is one real number from ``low`` to ``high``."""
    try:
        return is_number(value) and low <= float(value) <= high
    except OverflowError:  # a whole number beyond the range of a float
        return False


def is_whole(value: object) -> bool:
    """Whether something is one whole number, as Python or NumPy writes them."""
    return not isinstance(value, bool) and isinstance(value, int | np.integer)


def shown(value: object, length: int = 80) -> str:
    """Return what was got, short enough for a message."""
    try:
        text = repr(value)
    except Exception as error:  # a number of more than 4300 digits has no text
        text = f"{type(value).__name__} ({type(error).__name__} when printed)"
    return text if len(text) <= length else f"{text[: length - 1]}…"


def reals(value: Any, wanted: str, kind: type[FrozenPinnError]) -> Array:
    """Return numbers as an array of floats; texts, truth values, complex numbers and ragged lists are refused.

    ``wanted`` says what would have been right, such as ``"a radius is a positive number"``.
    """
    try:
        if isinstance(value, range) and len(value) > MAX_NUMBERS:
            raise kind(f"{wanted}, and at most {MAX_NUMBERS} of them; got {shown(value)}.")
        array = np.asarray(value)
        if array.dtype.kind == "O" and not _has_text(array):  # fractions, decimals, large whole numbers
            array = array.astype(float)
    except OverflowError:
        raise kind(f"{wanted}, and floating point numbers end at 1e308; got {shown(value)}.") from None
    except (TypeError, ValueError):
        raise kind(f"{wanted}, got {shown(value)}.") from None
    if array.dtype.kind not in "iuf" and array.size:
        raise kind(f"{wanted}, got {shown(value)}.")
    return array.astype(float, copy=False)


def _has_text(array: Array) -> bool:
    return any(isinstance(item, str | bytes | bool | None) for item in array.flat)


def spelled(kind: type[FrozenPinnError]) -> Callable[[Target], Target]:
    """Make a function or a class refuse arguments that it does not have, with the nearest that it has.

    Examples
    --------
    >>> from frozenpinn.errors import SettingsError
    >>> @spelled(SettingsError)
    ... def run(seed):
    ...     return seed
    >>> run(sead=2)
    Traceback (most recent call last):
    frozenpinn.errors.SettingsError: run() has no argument 'sead'. Did you mean 'seed'? It takes seed.
    """

    def decorate(target: Target) -> Target:
        if isinstance(target, type):
            target.__init__ = _checked(target.__init__, target.__name__, kind)  # type: ignore[misc]
            return target
        return _checked(target, target.__name__, kind)  # type: ignore[return-value]

    return decorate


def _checked(function: Callable[..., Any], name: str, kind: type[FrozenPinnError]) -> Callable[..., Any]:
    signature = inspect.signature(function)
    known = [parameter for parameter in signature.parameters if parameter != "self"]

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
                raise  # from inside: the arguments were right
            unknown = [word for word in named if word not in known]
            fault = f"{name}() has no argument '{unknown[0]}'." if unknown else f"{name}(): {_mismatch(given, named)}."
            close = suggestion(unknown[0], known) if unknown else ""
            raise kind(f"{fault}{close} It takes {', '.join(known) or 'no arguments'}.") from None

    def _mismatch(given: tuple[Any, ...], named: dict[str, Any]) -> str:
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            return str(error)
        return "its arguments do not fit"

    return called
