"""Arguments that users give: numbers that are numbers, and names that are spelled right."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from frozenpinn.errors import FrozenPinnError, SettingsError, suggestion

Array = np.ndarray
MAX_NUMBER = 1e100  # of whatever a sampler, an integrator or a boundary strategy is made of
Target = TypeVar("Target", bound=Callable[..., Any])


def is_number(value: object) -> bool:
    """Whether something is one real number; True, False and texts such as '5' are none."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iuf" and not np.ma.is_masked(value)
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
    max_numbers = 10**8
    value = unmasked(value, wanted, kind)
    try:
        if isinstance(value, range) and len(value) > max_numbers:
            raise kind(f"{wanted}, and at most {max_numbers} of them; got {shown(value)}.")
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


def is_complex(value: Any) -> bool:
    """Whether something is an array of complex numbers, or a list with one of them."""
    if isinstance(value, list | tuple):
        return any(is_complex(part) for part in value)
    return isinstance(value, complex | np.complexfloating) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def unmasked(value: Any, wanted: str, kind: type[FrozenPinnError]) -> Any:
    """Return what was given, unless entries of it, or of arrays in a list, are masked; NumPy forgets that.

    Examples
    --------
    >>> from frozenpinn.errors import ProblemError
    >>> unmasked(np.ma.array([1.0, -999.0], mask=[False, True]), "values are numbers", ProblemError)
    Traceback (most recent call last):
    frozenpinn.errors.ProblemError: values are numbers; 1 of 2 entries are masked. Fill them, array.filled(…), or ...
    """
    parts = value if isinstance(value, list | tuple) else (value,)
    arrays = [part for part in parts if isinstance(part, np.ma.MaskedArray)]
    count = sum(int(np.sum(np.ma.getmaskarray(array))) for array in arrays)
    if count:
        size = sum(array.size for array in arrays)
        raise kind(
            f"{wanted}; {count} of {size} entries are masked. Fill them, array.filled(…), or leave them out, "
            "array.compressed(), with their places."
        )
    return value


def _has_text(array: Array) -> bool:
    return any(isinstance(item, str | bytes | bool | None) for item in array.flat)


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise SettingsError(f"{name} is True or False, got {shown(value)}.")


def as_functions(given: Any, what: str) -> tuple[Callable[[Array], Any], ...]:
    """Return functions of points as a tuple; one alone and what can't be called are refused."""
    if callable(given) or isinstance(given, str):
        raise SettingsError(f"{what}s are a list of functions, such as [np.sin]; got {shown(given)}.")
    try:
        functions = tuple(given)
    except TypeError:
        raise SettingsError(f"{what}s are a list of functions, such as [np.sin]; got {shown(given)}.") from None
    for k, function in enumerate(functions):
        if not callable(function):
            raise SettingsError(
                f"{what} {k + 1} of {len(functions)} is a function of points such as np.sin; got {shown(function)}."
            )
    return functions


def columns(functions: Sequence[Callable[[Array], Any]], x: Array, what: str) -> Array:
    """Return the values of functions at points, one in each column; what is no finite number is refused, and zeros."""
    found = np.empty((len(x), len(functions)))
    for k, function in enumerate(functions):
        which = f"{what} {k + 1} of {len(functions)}"
        values = reals(function(x), f"{which} returns one number for each point", SettingsError)
        if values.size not in (1, len(x)):
            raise SettingsError(
                f"{which} returns one number for each of {len(x)} points, or one for all; got an array of shape "
                f"{values.shape}."
            )
        found[:, k] = values.reshape(-1)
        if not np.all(np.isfinite(found[:, k])):
            raise SettingsError(f"{which} has values that are not finite.")
        if not np.any(found[:, k]):
            raise SettingsError(f"{which} vanishes at all points; leave it out.")
    return found


def spelled(kind: type[FrozenPinnError], hints: Mapping[str, str] | None = None) -> Callable[[Target], Target]:
    """Make a function or a class refuse arguments that it does not have, with the nearest that it has.

    ``hints`` say what to write instead of some names.

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
            target.__init__ = _checked(target.__init__, target.__name__, kind, hints or {})  # type: ignore[misc]
            return target
        return _checked(target, target.__name__, kind, hints or {})  # type: ignore[return-value]

    return decorate


def _checked(
    function: Callable[..., Any], name: str, kind: type[FrozenPinnError], hints: Mapping[str, str]
) -> Callable[..., Any]:
    signature = inspect.signature(function)
    known = [parameter for parameter in signature.parameters if parameter not in ("self", "cls")]

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
            close = f" {hints[unknown[0]]}" if unknown and unknown[0] in hints else close
            raise kind(f"{fault}{close} It takes {', '.join(known) or 'no arguments'}.") from None

    def _mismatch(given: tuple[Any, ...], named: dict[str, Any]) -> str:
        try:
            signature.bind(*given, **named)
        except TypeError as error:
            return str(error)
        return "its arguments do not fit"

    return called
