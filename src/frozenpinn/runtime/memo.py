"""Remembering what pure functions have found about a value that never changes, for as long as that value lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, ref

Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def remembered(
    function: Callable[Concatenate[Value, Arguments], Result],
) -> Callable[Concatenate[Value, Arguments], Result]:
    """Compute a function once for each value (distinguished by identity) and each set of further arguments.

    Arguments that have no hash are not remembered.

    Only for pure functions: whether a result was remembered must change nothing but the time it takes. Results belong
    to no object, so they are neither copied nor pickled; they must not refer to the value, which they would keep alive.

    Examples
    --------
    >>> class Cube:
    ...     side = 2
    >>> @remembered
    ... def volume(cube, unit=1):
    ...     print("computed")
    ...     return cube.side**3 * unit
    >>> cube = Cube()
    >>> volume(cube) + volume(cube)
    computed
    16
    """
    found: WeakKeyDictionary[Any, dict[Any, Result]] = WeakKeyDictionary()

    @wraps(function)
    def looked_up(value: Value, /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        known = found.data.get(ref(value))  # type: ignore[attr-defined]  # without a call of __getitem__: solves look up some twenty of them
        key: Any = (arguments, tuple(sorted(named.items()))) if named else arguments
        try:
            if known is not None and key in known:
                return known[key]
        except TypeError:  # no hash
            return function(value, *arguments, **named)
        result = function(value, *arguments, **named)
        found.setdefault(value, {})[key] = result
        return result

    return looked_up


class Same(Generic[Value]):
    """A value that can't change, distinguished by identity: an argument of what is remembered.

    Examples
    --------
    >>> numbers = [1, 2]
    >>> Same(numbers) == Same(numbers), Same(numbers) == Same([1, 2])
    (True, False)
    """

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


_RECENT: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()


def recent(value: Any, key: Any, compute: Callable[[], Result]) -> Result:
    """Return what a pure function of a value finds; the last few results are kept for as long as the value lives.

    Examples
    --------
    >>> class Cube:
    ...     side = 2
    >>> cube = Cube()
    >>> recent(cube, "volume", lambda: cube.side**3), recent(cube, "volume", lambda: 1 / 0)
    (8, 8)
    """
    kept = 6  # results for each value
    known = _RECENT.setdefault(value, {})
    if key not in known:
        found = compute()
        while len(known) >= kept:
            known.pop(next(iter(known)), None)
        known[key] = found
    return known[key]
