"""Fields that are made of real ones: complex fields and vectors, by the names that a user gives them.

A complex field ``psi`` is the pair ``psi_re``, ``psi_im``; a vector ``U`` in the plane has the components ``Ux`` and
``Uy``.
All that comes after the statement knows real fields only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import sympy as sp

from frozenpinn.errors import ProblemError, choices
from frozenpinn.language.greek import same_name
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.values import Complex, Scalar, Value, scalars
from frozenpinn.runtime.arguments import shown

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
