"""The names of the language: functions, constants, operators, and what else a text may use; Greek letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp

from frozenpinn.errors import ProblemError, choices, suggestion
from frozenpinn.language.algebra import exponential
from frozenpinn.language.chart import Chart
from frozenpinn.language.hints import COMPLEX, IMAGINARY, foreign_name
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.program import ExpInt
from frozenpinn.language.quantities import NONLOCAL
from frozenpinn.language.values import COMPLEX_FUNCTIONS, IMAGINARY_UNIT, ONE, ZERO, Value, Vector, each

HALF = sp.Rational(1, 2)
_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lam mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
)
_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _NAMES.split(), strict=True))


_LETTERS |= {letter.upper(): name.capitalize() for letter, name in _LETTERS.items()}


_LETTERS |= {"ς": "sigma", "ϑ": "theta", "ϕ": "phi", "ϵ": "epsilon", "ϱ": "rho", "ϖ": "pi", "µ": "mu"}


_TABLE = str.maketrans(_LETTERS)


def spelled_out(name: str) -> str:
    """Return a name with its Greek letters spelled.

    >>> spelled_out("ψ_t"), spelled_out("Δt")
    ('psi_t', 'Deltat')
    """
    plain = name.translate(_TABLE)
    head, underscore, tail = plain.partition("_")
    return f"lam{underscore}{tail}" if head == "lambda" else plain


def same_name(word: str, names: Iterable[str]) -> str | None:
    """Return the name that a word stands for: itself, or one that is spelled alike; None if there is none."""
    if not isinstance(word, str):
        return None
    names = list(names)
    if word in names:
        return word
    wanted = spelled_out(word)
    return next((name for name in names if spelled_out(name) == wanted), None)


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
    "ln": (1, sp.log),
    "sqrt": (1, sp.sqrt),
    "abs": (1, absolute),
    "sign": (1, signum),
    "erf": (1, sp.erf),
    "expint": (1, ExpInt),
    "heaviside": (1, lambda z: sp.Heaviside(z, HALF)),
    "min": (2, sp.Min),
    "max": (2, sp.Max),
}


KINKED = ("abs", "sign", "heaviside", "min", "max")  # whose arguments SymPy compares


CONSTANTS = {"pi": sp.pi}


OPERATORS = ("grad", "div", "dot", "lap", "laplace", "laplacian", "biharmonic")


# names that mean something unless a user gives them another meaning
SOFT_OPERATORS = {"curl": 1, "rot": 1, "cross": 2, "advect": 2, "sym": 1, "transpose": 1, "trace": 1, "dn": 1}


POINT = sp.Function("point source", real=True)  #: what delta(x - a, y - b) stands for until it is taken out


SOFT_CONSTANTS: dict[str, Value] = {"e": sp.E, "I": IMAGINARY_UNIT}


_SYNONYMS = {"Δ": "lap"}


def derivative_names(jets: JetSpace | Chart) -> list[str]:
    """Return the operators dx, dy, …, dt."""
    names = jets.names if isinstance(jets, Chart) else jets.coordinates
    return [f"d{c}" for c in (*names, TIME)]


def derivative_call(word: str, chart: Chart) -> Jet | None:
    """Read the name of an operator dx, dxx, dxy, d_dx as how often it differentiates; None if it is none.

    >>> derivative_call("dxxt", Chart(JetSpace(["x"])))
    Jet(field='d', alpha=(2,), laps=0, time=1, normal=0)
    """
    if word.startswith("d_d"):
        return derivative_call(word[2:], chart)
    split = chart.split_name(f"d_{word[1:]}") if word.startswith("d") and word[1:] else None
    return None if split is None else split[1]


def is_builtin(word: str, jets: JetSpace | Chart) -> bool:
    """Whether a name has a meaning in every text that no user can change."""
    return word in FUNCTIONS or word in CONSTANTS or word in OPERATORS or word in derivative_names(jets)


def is_soft(word: str, chart: Chart, *, called: bool) -> bool:
    """Whether a name has a meaning as long as no user gives it another one."""
    if not called:
        return word in SOFT_CONSTANTS
    return (
        word in (*SOFT_OPERATORS, *COMPLEX_FUNCTIONS, *NONLOCAL, "where", "delta", *_SYNONYMS)
        or derivative_call(word, chart) is not None
    )


def callable_names(scope: Scope) -> list[str]:
    """Return the names of everything that can be called in a text."""
    soft = [
        name for name in (*SOFT_OPERATORS, *COMPLEX_FUNCTIONS, *NONLOCAL, "where", "delta") if not scope.is_own(name)
    ]
    return [*FUNCTIONS, *OPERATORS, *soft, *derivative_names(scope.chart), *scope.functions]


def operator_name(word: str) -> str:
    """Return the plain name of an operator."""
    return _SYNONYMS.get(word, word)


def check_name(name: object, kind: str, jets: JetSpace | Chart, fields: Sequence[str] = ()) -> None:
    """Refuse a name for a field or parameter (``kind``) that already means something else."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name) or "__" in name:
        raise ProblemError(f"a {kind} needs a plain name such as 'nu', got {name!r}.")
    if name in (*(jets.names if isinstance(jets, Chart) else jets.coordinates), TIME):
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

    ``parameters`` maps a name to a value (substituted), ``functions`` lists names of Python functions; a bare use of
    such a name means "at the current point and time". ``fields`` are real, ``composites`` are made of them: complex
    fields and vectors. ``static`` says that fields do not depend on time, ``normal`` is the outward normal on a side,
    ``own_chart`` the coordinates of the text if they are not those of the jets, ``interfaces`` says that
    fluxes may jump, ``solved`` that the fields are those of a solution.
    """

    jets: JetSpace
    fields: Sequence[str] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    functions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normal_derivatives: bool = False
    static: bool = False
    composites: Mapping[str, Value] = field(default_factory=dict)
    normal: Vector | None = None
    own_chart: Chart | None = None
    interfaces: bool = False
    solved: bool = False

    @property
    def chart(self) -> Chart:
        """The coordinates of the text."""
        return Chart(self.jets) if self.own_chart is None else self.own_chart

    @property
    def legal(self) -> tuple[str, ...]:
        """The names of the coordinates, and of time, if there is any."""
        return self.chart.names if self.static else (*self.chart.names, TIME)

    @property
    def place(self) -> tuple[sp.Expr, ...]:
        """Where fields are taken: the coordinates and time, if there is any."""
        x = tuple(map(self.chart.coordinate, self.chart.names))
        return x if self.static else (*x, self.jets.t)

    def is_own(self, word: str) -> bool:
        """Whether a user has given a name its meaning."""
        return any(word in known for known in (self.parameters, self.functions, self.fields, self.composites))

    def lookup(self, word: str) -> Value | None:
        """Return what a name stands for, or None."""
        value = self._lookup(word)
        if value is None:
            other = same_name(word, [name for name in self._plain_names() if name != word])
            return None if other is None else self._lookup(other)
        return value

    def _lookup(self, word: str) -> Value | None:
        if word in self.parameters:
            return self.parameters[word]
        if word in self.functions:
            return self.function(word)
        if word in self.composites:
            return self.composites[word]
        if word in self.fields:
            return self.jets.symbol(self.jets.field(word))
        if word == TIME or word in self.chart.axes:
            return self.coordinate(word)
        if word in CONSTANTS:
            return CONSTANTS[word]
        split = self.chart.split_name(word, normal=self.normal_derivatives)
        if split is not None:
            base = same_name(split[0], (*self.composites, *self.fields)) or split[0]
            return self._derivative(base, split[1])
        return self._soft(word)

    def _derivative(self, name: str, jet: Jet) -> Value | None:
        """Return a derivative of a field, of all its parts if it has some."""
        if name in self.fields:
            return self._of_real(name, jet)
        if name not in self.composites:
            return None
        return each(lambda part: self._of_real(self.part(part), jet), self.composites[name])

    def _of_real(self, name: str, jet: Jet) -> sp.Expr:
        """Return a derivative of a real field; those along the normal are taken last in coordinates of an own chart."""
        value = self.chart.differentiated(name, jet)
        if self.own_chart is not None and self.normal is not None:
            for _ in range(jet.normal):
                along = enumerate(zip(self.normal, self.own_chart.lengths, strict=True))
                value = sp.Add(*(n / h * self.own_chart.along(value, i) for i, (n, h) in along if n != 0))
        return value

    def part(self, symbol: sp.Expr) -> str:
        """Return the name of a real field by its symbol."""
        jet = self.jets.jet_of(symbol)
        assert jet is not None
        return jet.field

    def _soft(self, word: str) -> Value | None:
        if word == "n" and self.normal is not None:
            return self.normal
        if word in self.normal_names and self.normal is not None:
            return self.normal[self.normal_names.index(word)]
        if word == "identity":
            axes = range(self.jets.dimension)
            return tuple(tuple(ONE if i == j else ZERO for j in axes) for i in axes)
        return SOFT_CONSTANTS.get(word)

    @property
    def normal_names(self) -> tuple[str, ...]:
        """The names of the components of the outward normal, such as nx and ny."""
        return tuple(f"n{name}" for name in self.chart.names)

    def coordinate(self, name: str) -> sp.Expr:
        """Return a coordinate or time."""
        return self.chart.coordinate(name)

    def function(self, word: str, arguments: Sequence[sp.Expr] | None = None) -> sp.Expr:
        """Return a Python function at the current point and time, or at given coordinates."""
        if arguments is None:
            arguments = [self.coordinate(name) for name in self.functions[word]]
        return sp.Function(word, real=True)(*arguments)

    def _plain_names(self) -> list[str]:
        """Return the names of all values."""
        own = [*self.composites, *self.fields, *self.legal, *self.parameters, *self.functions]
        fields = [*self.composites, *self.fields]
        return [*own, *(f"{f}_{c}" for f in fields for c in self.legal), *CONSTANTS]

    def names(self) -> list[str]:
        """Return every legal name, for error texts and suggestions."""
        return [*self._plain_names(), *FUNCTIONS, *OPERATORS, *derivative_names(self.chart)]

    def unknown(self, word: str) -> str:
        """Say that a name is unknown, and which are known."""
        if word in IMAGINARY:
            return f"unknown name '{word}'. {COMPLEX} A constant of your own goes into parameters={{'{word}': …}}."
        if word in self.normal_names and self.normal is None:
            normal = ", ".join(self.normal_names)
            where = "in boundary conditions and on sides only"
            return f"unknown name '{word}'. The outward normal n = [{normal}] is known {where}."
        if hint := foreign_name(word, self.chart.kind, self.chart.names):
            return f"unknown name '{word}'. {hint}"
        fields = [*self.composites, *self.fields]
        known = f"fields {choices(fields)}; " if fields else ""
        known += f"coordinates {choices(self.legal)}; parameters {choices([*self.parameters, *self.functions])}"
        known = f"Names that can be used here: {known}."
        split = self.chart.split_name(word)
        if split is not None and fields and not self.solved and not self._resembles_field(split[0]):
            return f"unknown name '{word}'. {known} {self._no_field(word, split[1])}"
        names = self.names()
        alike = [name for name in names if name.lower() == word.lower()]
        close = suggestion(word, alike or (names if len(word) > 1 else []))  # p is no slip for pi
        if self.solved:
            return f"unknown name '{word}'. {known}{close}"
        return (
            f"unknown name '{word}'. {known}{close} A constant or function of your own goes into parameters={{…}}, and "
            "another unknown field needs an equation of its own."
        )

    def _resembles_field(self, name: str) -> bool:
        """Whether a name is a coordinate, a field, or a field with a slip in writing."""
        fields = [*self.composites, *self.fields]
        if name == TIME or name in self.chart.axes or name.lower() in [field.lower() for field in fields]:
            return True
        return len(name) > 3 and bool(suggestion(name, fields))

    def _no_field(self, word: str, jet: Jet) -> str:
        """Say what to do about a derivative of something that is not a field."""
        name = jet.field
        axis = next((c for c, count in zip(self.chart.names, jet.alpha, strict=True) if count), TIME)
        if name in self.parameters:
            return f"'{name}' is a parameter: write its derivative with d{axis}({name})."
        if name in self.functions:
            return f"'{name}' is a Python function: give its derivative too, parameters={{'{word}': …}}."
        return (
            f"Every field needs an equation of its own: with {name}_t, or one more without a time derivative, such as "
            f"lap({name}) = … or u_x + v_y = 0 for a pressure. If it is not a field but a function or "
            f"a formula of your own, it goes into parameters={{'{name}': …}}, and its derivative is d{axis}({name})."
        )
