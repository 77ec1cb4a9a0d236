"""Fields that are made of real ones: complex fields and vectors, by the names that a user gives them.

A complex field ``psi`` is the pair ``psi_re``, ``psi_im``; a vector ``U`` in the plane has the components ``Ux`` and
``Uy``.
All that comes after the statement knows real fields only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import EvaluationError, ProblemError, choices, suggestion
from frozenpinn.geometry import Domain
from frozenpinn.language.functions import UserFunction, read_value
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.scope import Scope, same_name
from frozenpinn.language.values import Complex, Scalar, Value, kind_of, scalars
from frozenpinn.runtime.arguments import shown, unmasked
from frozenpinn.tables import Table

Array = np.ndarray
Vectors: TypeAlias = Sequence[str] | Mapping[str, int] | str
REAL, IMAGINARY = "_re", "_im"


@dataclass(frozen=True)
class Composites:
    """The fields of a problem by the names of its user.

    Attributes
    ----------
    names
        What the equations are for, in their order.
    vectors
        The components of each vector.
    complex
        Which of the names are complex; vectors with all their components.
    """

    names: tuple[str, ...] = ()
    vectors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    complex: frozenset[str] = frozenset()

    def components(self, name: str) -> tuple[str, ...]:
        """Return the components of a vector; any other field is its own."""
        return self.vectors.get(name, (name,))

    def parts(self, name: str) -> tuple[str, ...]:
        """Return the real fields that a field, or a component of one, is made of; a real field is its own part."""
        owner = self.owner(name)
        if owner not in self.names:
            return (name,)
        ends = (REAL, IMAGINARY) if owner in self.complex else ("",)
        return tuple(f"{component}{end}" for component in self.components(name) for end in ends)

    def owner(self, name: str) -> str:
        """Return the field that a name belongs to."""
        return next((vector for vector, own in self.vectors.items() if name in own), name)

    @property
    def real(self) -> tuple[str, ...]:
        """All real fields, in their order."""
        return tuple(part for name in self.names for part in self.parts(name))

    @property
    def composed(self) -> tuple[str, ...]:
        """The names that stand for more than one real field: complex ones, vectors, and complex components."""
        own = [name for name in self.names if self.parts(name) != (name,)]
        return (*own, *(c for name, cs in self.vectors.items() if name in self.complex for c in cs))

    @property
    def tabulated(self) -> tuple[str, ...]:
        """The columns of a table: components of vectors one by one, complex numbers as a whole."""
        return tuple(component for name in self.names for component in self.components(name))

    def known(self, name: str) -> str | None:
        """Return the field, component or real part that a name stands for, spelled or in Greek letters; or None."""
        components = [component for vector in self.vectors.values() for component in vector]
        return same_name(name, [*self.names, *components, *self.real])

    def together(self, part: str) -> tuple[str, ...]:
        """Return all real fields of the field that one of them belongs to."""
        return next((self.parts(name) for name in self.names if part in self.parts(name)), (part,))

    def values(self, jets: JetSpace) -> dict[str, Value]:
        """Return what composed names stand for in texts."""
        return {name: self._value(name, jets) for name in self.composed}

    def _value(self, name: str, jets: JetSpace) -> Value:
        symbols = [jets.symbol(jets.field(part)) for part in self.parts(name)]
        numbers: list[Scalar] = list(symbols)
        if self.owner(name) in self.complex:
            numbers = [Complex(re, im) for re, im in zip(symbols[::2], symbols[1::2], strict=True)]
        return tuple(numbers) if name in self.vectors else numbers[0]

    def assembled(self, name: str, parts: Sequence[Array]) -> Array:
        """Return the values of a field from those of its parts; components come first."""
        values = list(parts)
        if self.owner(name) in self.complex:
            values = [re + 1j * im for re, im in zip(parts[::2], parts[1::2], strict=True)]
        return np.stack(values) if name in self.vectors else np.asarray(values[0])

    def as_dict(self) -> dict[str, Any]:
        """Return plain data."""
        vectors = {name: list(components) for name, components in self.vectors.items()}
        return {"names": list(self.names), "vectors": vectors, "complex": sorted(self.complex)}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Composites:
        """Read what :meth:`as_dict` has written."""
        vectors = {name: tuple(components) for name, components in stored["vectors"].items()}
        return cls(tuple(stored["names"]), vectors, frozenset(stored["complex"]))


def declared(
    names: Sequence[str],
    vectors: Vectors | None,
    complex_fields: Sequence[str] | str | None,
    found: Sequence[str],
    axes: Sequence[str],
) -> Composites:
    """Return the fields that a user has declared, and vectors that were ``found`` in the equations."""
    sizes = dict.fromkeys(found, len(axes)) | _sizes(vectors, names, len(axes))
    components = {name: _component_names(name, size, axes) for name, size in sizes.items()}
    for name, own in components.items():
        for component in own:
            if component in names:
                raise ProblemError(f"'{component}' is a component of the vector '{name}' and can't be a field, too.")
    if not isinstance(complex_fields, str | list | tuple | None):
        raise ProblemError(f"complex= names fields, such as complex=('{names[0]}',); got {shown(complex_fields)}.")
    chosen = (complex_fields,) if isinstance(complex_fields, str) else tuple(complex_fields or ())
    for name in chosen:
        if name not in names:
            raise ProblemError(f"complex= names {shown(name)}; the fields are {choices(names)}.")
    return Composites(tuple(names), components, frozenset(chosen))


def _sizes(vectors: Vectors | None, names: Sequence[str], dimension: int) -> dict[str, int]:
    if vectors is None:
        return {}
    if not isinstance(vectors, str | list | tuple | Mapping):
        raise ProblemError(f"vectors= names fields, such as vectors=('{names[0]}',); got {shown(vectors)}.")
    given = {vectors: dimension} if isinstance(vectors, str) else vectors
    sizes = dict(given) if isinstance(given, Mapping) else dict.fromkeys(given, dimension)
    for name, size in sizes.items():
        if name not in names:
            raise ProblemError(f"vectors= names {shown(name)}; the fields are {choices(names)}.")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 100:
            raise ProblemError(f"vectors={{'{name}': …}} is the number of components, such as 2; got {shown(size)}.")
    return sizes


def _component_names(name: str, size: int, axes: Sequence[str]) -> tuple[str, ...]:
    """Return Ux, Uy, … for a vector with one component along each axis, U1, U2, … for others."""
    ends = axes if size == len(axes) else [str(i + 1) for i in range(size)]
    return tuple(f"{name}{end}" for end in ends)


def flat(value: Value) -> list[sp.Expr]:
    """Return all real parts of a value: of each complex number its real and its imaginary part."""
    parts: list[sp.Expr] = []
    for number in scalars(value):
        parts += [number.re, number.im] if isinstance(number, Complex) else [number]
    return parts


def found_complex(values: Sequence[Value], composites: Composites, jets: JetSpace, static: bool) -> Iterator[str]:
    """Yield the real fields that equations determine by complex numbers: these must be complex, too."""
    for value in values:
        if any(isinstance(number, Complex) for number in scalars(value)):
            found = [jet for part in flat(value) for jet in jets.jets_in(part).values()]
            determined = [jet for jet in found if jet.time or (static and jet.order)] or found
            for jet in determined:
                name = composites.owner(
                    next((n for n in composites.names if jet.field in composites.parts(n)), jet.field)
                )
                if name not in composites.complex:
                    yield name


def with_complex(composites: Composites, more: Sequence[str]) -> Composites:
    """Return the same fields with more complex ones."""
    return replace(composites, complex=composites.complex | set(more))


# ---- data by their real parts ---------------------------------------------------------------------


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
        values = unmasked(self.function(*where), "a Python function returns a number for each point", EvaluationError)
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
    """Whether a Python function returns complex numbers at some points; what it can't do is reported elsewhere."""
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


def data_by_field(
    given: Any, what: str, required: Sequence[str], composites: Composites, scope: Scope, welcome: Sequence[str] = ()
) -> dict[str, Any]:
    """Return one datum for each real field that is ``required``, and those that are given of ``welcome`` ones."""
    possible = (*required, *welcome)
    names = [name for name in composites.names if set(composites.parts(name)) & set(required)]
    known = [name for name in composites.names if set(composites.parts(name)) & set(possible)]
    if not isinstance(given, Mapping):
        all_given = isinstance(given, list | tuple) and len(names) != len(given) == len(known)
        given = _table(given, what, known if all_given else names, composites)
    result: dict[str, Any] = {}
    for key, value in given.items():
        name = _known(key, what, known, possible, composites)
        result |= {name: value} if name in possible else apart(value, name, composites, scope, what)
    missing = [name for name in required if name not in result]
    if missing:
        owners = dict.fromkeys(next((n for n in names if part in composites.parts(n)), part) for part in missing)
        raise ProblemError(f"{what} is missing for {choices(owners)}.")
    return {name: result[name] for name in possible if name in result}


def _table(given: Any, what: str, names: Sequence[str], composites: Composites) -> dict[str, Any]:
    """Return data that are not a table as one."""
    alone = names[0] if len(names) == 1 else None
    if isinstance(given, list | tuple) and alone not in composites.vectors:
        if len(given) != len(names):
            raise ProblemError(f"{what} needs {len(names)} entries ({', '.join(names)}), got {len(given)}.")
        return dict(zip(names, given, strict=True))
    if alone is None:
        raise ProblemError(
            f"{what} is one expression for {len(names)} fields; "
            f"write a dict such as {{'{names[0]}': …, '{names[1]}': …}}."
        )
    return {alone: given}


def _known(key: object, what: str, names: Sequence[str], required: Sequence[str], composites: Composites) -> str:
    """Return the field, component or real part that a key names."""
    components = [component for name in names for component in composites.components(name)]
    name = same_name(key, dict.fromkeys([*names, *components, *required])) if isinstance(key, str) else None
    if name is None:
        raise ProblemError(
            f"{what} is given for {choices([str(key)])}; the fields are {choices(names)}.{suggestion(str(key), names)}"
        )
    return name
