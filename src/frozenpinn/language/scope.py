"""The names of the language: functions, constants, operators, and what a text may use beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.language.algebra import exponential
from frozenpinn.language.hints import COMPLEX, IMAGINARY
from frozenpinn.language.jets import TIME, Jet, JetSpace

HALF = sp.Rational(1, 2)


def absolute(z: sp.Expr) -> sp.Expr:
    """Return |z|; SymPy differentiates Abs only of what it knows to be real, and log(x) may not be."""
    return sp.Abs(z) if z.is_extended_real else sp.Max(z, -z)


def signum(z: sp.Expr) -> sp.Expr:
    """Return the sign of z, with 0 at 0; see :func:`absolute`."""
    return sp.sign(z) if z.is_extended_real else 2 * sp.Heaviside(z, HALF) - 1


FUNCTIONS: dict[str, tuple[int, Callable[..., sp.Expr]]] = {
    "sin": (1, sp.sin),
    "cos": (1, sp.cos),
    "tan": (1, sp.tan),
    "asin": (1, sp.asin),
    "acos": (1, sp.acos),
    "atan": (1, sp.atan),
    "atan2": (2, sp.atan2),
    "sinh": (1, sp.sinh),
    "cosh": (1, sp.cosh),
    "tanh": (1, sp.tanh),
    "sech": (1, lambda z: 1 / sp.cosh(z)),
    "exp": (1, exponential),
    "log": (1, sp.log),
    "sqrt": (1, sp.sqrt),
    "abs": (1, absolute),
    "sign": (1, signum),
    "erf": (1, sp.erf),
    "heaviside": (1, lambda z: sp.Heaviside(z, HALF)),
    "min": (2, sp.Min),
    "max": (2, sp.Max),
}
KINKED = ("abs", "sign", "heaviside", "min", "max")  # whose arguments SymPy compares
CONSTANTS = {"pi": sp.pi}
OPERATORS = ("grad", "div", "dot", "lap", "laplace", "laplacian", "biharmonic")


def derivative_names(jets: JetSpace) -> list[str]:
    """Return the operators dx, dy, …, dt."""
    return [f"d{c}" for c in (*jets.coordinates, TIME)]


def is_builtin(word: str, jets: JetSpace) -> bool:
    """Whether a name has a meaning in every text."""
    return word in FUNCTIONS or word in CONSTANTS or word in OPERATORS or word in derivative_names(jets)


def check_name(name: object, kind: str, jets: JetSpace, fields: Sequence[str] = ()) -> None:
    """Refuse a name for a field or parameter (``kind``) that already means something else."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name) or "__" in name:
        raise ProblemError(f"a {kind} needs a plain name such as 'nu', got {name!r}.")
    if name in (*jets.coordinates, TIME):
        raise ProblemError(f"'{name}' is a coordinate and can't be a {kind}; choose another name.")
    if is_builtin(name, jets):
        raise ProblemError(f"'{name}' is a built-in name and can't be a {kind}; choose another name.")
    if name in fields:
        raise ProblemError(f"'{name}' is an unknown of the equation and can't be a {kind} too.")
    split = jets.split_name(name, normal=True)
    if split is not None and split[0] in fields:
        raise ProblemError(f"'{name}' is a derivative of '{split[0]}' and can't be a {kind}; choose another name.")


@dataclass(frozen=True)
class Scope:
    """The names that a text may use.

    ``parameters`` maps a name to an expression (substituted), ``functions`` lists names of Python
    functions; a bare use of such a name means "at the current point and time". ``static`` says that
    fields do not depend on time, ``interfaces`` that fluxes may jump.
    """

    jets: JetSpace
    fields: Sequence[str] = ()
    parameters: Mapping[str, sp.Expr] = field(default_factory=dict)
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normal_derivatives: bool = False
    static: bool = False
    interfaces: bool = False

    @property
    def place(self) -> tuple[sp.Symbol, ...]:
        """Where fields are taken: the coordinates and time, if there is any."""
        return self.jets.x if self.static else (*self.jets.x, self.jets.t)

    def lookup(self, word: str) -> sp.Expr | None:
        """Return what a name stands for, or None."""
        if word in self.parameters:
            return self.parameters[word]
        if word in self.functions:
            return self.function(word)
        if word in self.fields:
            return self.jets.symbol(self.jets.field(word))
        if word == TIME or word in self.jets.axes:
            return self.coordinate(word)
        if word in CONSTANTS:
            return CONSTANTS[word]
        split = self.jets.split_name(word, normal=self.normal_derivatives)
        return self.jets.symbol(split[1]) if split is not None and split[0] in self.fields else None

    def coordinate(self, name: str) -> sp.Symbol:
        """Return the symbol of a coordinate or of time."""
        return self.jets.t if name == TIME else self.jets.x[self.jets.axes[name]]

    def function(self, word: str, arguments: Sequence[sp.Expr] | None = None) -> sp.Expr:
        """Return a Python function at the current point and time, or at given coordinates."""
        if arguments is None:
            arguments = [self.coordinate(name) for name in self.functions[word]]
        return sp.Function(word, real=True)(*arguments)

    def names(self) -> list[str]:
        """Return every legal name, for error texts and suggestions."""
        known = [*self.fields, *self.jets.coordinates, TIME, *self.parameters, *self.functions]
        known += [f"{f}_{c}" for f in self.fields for c in (*self.jets.coordinates, TIME)]
        return [*known, *FUNCTIONS, *CONSTANTS, *OPERATORS, *derivative_names(self.jets)]

    def unknown(self, word: str) -> str:
        """Say that a name is unknown, and which are known."""
        if word in IMAGINARY:
            return f"unknown name '{word}'. {COMPLEX} A constant of your own goes into parameters={{'{word}': …}}."
        known = f"Known are the fields {choices(self.fields)}; " if self.fields else "Known are "
        known += f"the coordinates {choices([*self.jets.coordinates, TIME])}; "
        known += f"the parameters {choices([*self.parameters, *self.functions])}."
        split = self.jets.split_name(word)
        if split is not None and self.fields and not self._resembles_field(split[0]):
            return f"unknown name '{word}'. {known} {self._no_field(word, split[1])}"
        names = self.names()
        close = suggestion(word, [name for name in names if name.lower() == word.lower()] or names)
        return f"unknown name '{word}'. {known}{close} A constant or function of your own goes into parameters={{…}}."

    def _resembles_field(self, name: str) -> bool:
        """Whether a name is a coordinate, a field, or a field with a slip in writing."""
        if name == TIME or name in self.jets.axes or name.lower() in [field.lower() for field in self.fields]:
            return True
        return len(name) > 3 and bool(suggestion(name, self.fields))

    def _no_field(self, word: str, jet: Jet) -> str:
        """Say what to do about a derivative of something that is not a field."""
        name = jet.field
        axis = next((c for c, count in zip(self.jets.coordinates, jet.alpha, strict=True) if count), TIME)
        if name in self.parameters:
            return f"'{name}' is a parameter: write its derivative with d{axis}({name})."
        if name in self.functions:
            return f"'{name}' is a Python function: give its derivative too, parameters={{'{word}': …}}."
        return (
            f"Every field needs an equation with its time derivative, and none has {name}_t; constraints without one, "
            "such as incompressibility (u_x + v_y = 0), are not supported. If it is not a field but a function or "
            f"a formula of your own, it goes into parameters={{'{name}': …}}, and its derivative is d{axis}({name})."
        )
