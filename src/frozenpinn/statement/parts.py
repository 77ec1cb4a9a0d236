"""Data of complex fields and vectors, taken apart into data of real fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frozenpinn.errors import EvaluationError, ProblemError
from frozenpinn.geometry import Domain
from frozenpinn.language.functions import UserFunction, read_value
from frozenpinn.language.scope import Scope
from frozenpinn.language.values import Complex, kind_of, scalars
from frozenpinn.statement.composites import Composites
from frozenpinn.tables import Table

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ComplexTable:
    """An array of complex numbers, as two tables."""

    re: Table
    im: Table


@dataclass(frozen=True, eq=False)
class Part:
    """The real or imaginary part of what a Python function returns, or of one of its components."""

    function: Callable[..., Any]
    imaginary: bool = False
    component: int | None = None
    size: int = 1

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def __call__(self, *where: Any) -> Array:
        """Return one real part."""
        values = self.function(*where)
        if self.component is not None:
            n = max((np.shape(w)[0] for w in where if np.ndim(w)), default=1)
            values = _component(values, self.component, self.size, n)
        values = np.asarray(values)
        return np.imag(values) if self.imaginary else np.real(values)


def _component(values: Any, index: int, size: int, n: int) -> Any:
    """Return one component of a vector given as a list of arrays, or as an array of shape (n, size) or (size, n)."""
    if isinstance(values, tuple | list) and len(values) == size:
        return values[index]
    array = np.asarray(values)
    if array.shape == (n, size):
        return array[:, index]
    if array.ndim >= 1 and array.shape[0] == size:
        return array[index]
    raise EvaluationError(
        f"a Python function of a vector returned an array of shape {array.shape} for {n} points; expected a list of "
        f"{size} arrays, or shape ({n}, {size})."
    )


def apart(given: Any, name: str, composites: Composites, scope: Scope, what: str) -> dict[str, Any]:
    """Return data of one field as data of its real parts."""
    if composites.parts(name) == (name,):
        return {name: given}
    size, is_complex = len(composites.components(name)), composites.owner(name) in composites.complex
    if name in composites.vectors:
        entries = _entries(given, name, size, scope, what)
        pairs = zip(composites.components(name), entries, strict=True)
        return {part: value for own, entry in pairs for part, value in _halves(entry, own, is_complex, scope, what)}
    return dict(_halves(given, name, is_complex, scope, what))


def _entries(given: Any, name: str, size: int, scope: Scope, what: str) -> list[Any]:
    """Return one datum for each component of a vector."""
    if isinstance(given, list | tuple):
        if len(given) != size:
            raise ProblemError(f"{what} of the vector '{name}' needs {size} components, got {len(given)}.")
        return list(given)
    if isinstance(given, Mapping):
        raise ProblemError(f"{what} of the vector '{name}' is a list of {size} components, not a table.")
    value = read_value(given, scope, what)
    if value is None:
        return [Part(given, component=i, size=size) for i in range(size)]
    if value == 0:
        return [0] * size
    if not isinstance(value, tuple) or len(value) != size or kind_of(value) != "a vector":
        got = f"{kind_of(value)}" + (f" with {len(value)} components" if isinstance(value, tuple) else "")
        raise ProblemError(
            f"{what} of the vector '{name}' is {got}; write {size} components, such as ['sin(pi*x)', 0], or 0 for all."
        )
    return list(value)


def _halves(given: Any, name: str, is_complex: bool, scope: Scope, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the real and the imaginary part of a datum."""
    if not is_complex:
        yield name, given
        return
    values: tuple[Any, Any]
    if isinstance(given, ComplexTable):
        values = (given.re, given.im)
    elif isinstance(given, Table | np.ndarray):
        values = (given, 0)
    elif isinstance(given, Complex):
        values = (given.re, given.im)
    else:
        value = read_value(given, scope, f"{what} of {name}")
        if isinstance(value, tuple):
            raise ProblemError(f"{what} of {name} is {kind_of(value)}, and a complex number is needed here.")
        if value is None:
            values = (_half(given, False), _half(given, True))
        else:
            values = (value.re, value.im) if isinstance(value, Complex) else (value, 0)
    yield from zip((f"{name}_re", f"{name}_im"), values, strict=True)


def _half(function: Any, imaginary: bool) -> Part:
    return replace(function, imaginary=imaginary) if isinstance(function, Part) else Part(function, imaginary)


def is_complex_datum(given: Any, scope: Scope, domain: Domain, time: float, what: str) -> bool:
    """Whether a datum is complex: a number, text or SymPy by its value, a Python function by what it returns."""
    if isinstance(given, list | tuple):
        return any(is_complex_datum(entry, scope, domain, time, what) for entry in given)
    if isinstance(given, Complex | ComplexTable):
        return True
    if isinstance(given, np.ndarray | Table):
        return False
    value = read_value(given, scope, what)
    return (
        any(isinstance(n, Complex) for n in scalars(value))
        if value is not None
        else returns_complex(given, scope.chart.names, domain, time)
    )


def returns_complex(function: Callable[..., Any], coordinates: Sequence[str], domain: Domain, time: float) -> bool:
    """Whether a Python function returns complex numbers at some points; what it can't do is told elsewhere."""
    try:
        own = UserFunction.read(function, coordinates, "")
        x = domain.sample(3, "random", rng=0).x
        table = {c: x[:, i] for i, c in enumerate(coordinates)} | {"t": time, "points": x}
        with np.errstate(all="ignore"):
            found = function(*(table[name] for name in own.arguments))
        entries = found if isinstance(found, tuple | list) else [found]
        return any(np.iscomplexobj(entry) for entry in entries)
    except Exception:
        return False
