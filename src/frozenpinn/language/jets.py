"""Jet variables: the names u, u_x, u_xxt, lap(u), … as SymPy symbols that know what they differentiate.

An equation is an ordinary expression in these symbols, so linearity, Jacobians and the chain rule
are plain algebra. ``laps`` counts Laplacians that are kept as one symbol: in d dimensions Δu is one
operator, not d of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import sympy as sp
from sympy.core.function import AppliedUndef

from frozenpinn.errors import ExpressionError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.quantities import Quantity

TIME = "t"
NORMAL = "n"  # suffix of the outward normal derivative in boundary conditions: u_n


def coordinate_names(dimension: int) -> tuple[str, ...]:
    """Return x, y, z up to three dimensions and x1, x2, … beyond."""
    if dimension <= 3:
        return ("x", "y", "z")[:dimension]
    return tuple(f"x{i + 1}" for i in range(dimension))


@dataclass(frozen=True, order=True)
class Jet:
    """One derivative of one field: ∂ₓ^alpha Δ^laps ∂ₜ^time ∂ₙ^normal field."""

    field: str
    alpha: tuple[int, ...]
    laps: int = 0
    time: int = 0
    normal: int = 0

    @property
    def order(self) -> int:
        """Total spatial order."""
        return sum(self.alpha) + 2 * self.laps + self.normal

    @property
    def spatial(self) -> Jet:
        """The same jet without its time derivatives."""
        return replace(self, time=0)


class JetSpace:
    """All jets over named coordinates; translates between names, jets and SymPy symbols."""

    def __init__(self, coordinates: Sequence[str]) -> None:
        self.coordinates = tuple(coordinates)
        self.dimension = len(self.coordinates)
        self.axes = {name: i for i, name in enumerate(self.coordinates)}
        self.x = tuple(sp.Symbol(name, real=True) for name in self.coordinates)
        self.t = sp.Symbol(TIME, real=True)
        self._jets: dict[sp.Symbol, Jet] = {}
        self._symbols: dict[Jet, sp.Symbol] = {}
        self.quantities: dict[str, Quantity] = {}  #: nonlocal ones, by the name under which they stand as fields

    def field(self, name: str) -> Jet:
        """Return the undifferentiated jet of a field."""
        return Jet(name, (0,) * self.dimension)

    def symbol(self, jet: Jet) -> sp.Symbol:
        """Return the SymPy symbol that stands for ``jet``."""
        max_order = 12  # no floating point number survives more differences
        if jet not in self._symbols:
            order = jet.order + jet.time
            if order > max_order:
                raise ExpressionError(
                    f"derivatives beyond order {max_order} are refused, got {order} of '{jet.field}'."
                )
            symbol = sp.Symbol(self.name(jet), real=True)
            self._symbols[jet] = symbol
            self._jets[symbol] = jet
        return self._symbols[jet]

    def quantity(self, quantity: Quantity) -> sp.Expr:
        """Return the symbol of a nonlocal quantity."""
        if quantity.inner == 0 or quantity.kernel == 0:
            return sp.Integer(0)
        self.quantities.setdefault(quantity.name, quantity)
        return self.symbol(self.field(quantity.name))

    def quantities_in(self, expression: sp.Expr) -> dict[Jet, Quantity]:
        """Return the nonlocal quantities that occur in an expression."""
        found = self.jets_in(expression).values()
        return {jet: self.quantities[jet.field] for jet in found if jet.field in self.quantities}

    def name(self, jet: Jet) -> str:
        """Return the readable name, e.g. ``u_xxt`` or ``lap(lap(u_x))``."""
        suffix = "".join(c * k for c, k in zip(self.coordinates, jet.alpha, strict=True))
        suffix += NORMAL * jet.normal + TIME * jet.time
        base = f"{jet.field}_{suffix}" if suffix else jet.field
        return "lap(" * jet.laps + base + ")" * jet.laps

    def jet_of(self, symbol: sp.Basic) -> Jet | None:
        """Return the jet behind a symbol, or None for coordinates and parameters."""
        return self._jets.get(symbol)

    def jets_in(self, expression: sp.Expr) -> dict[sp.Symbol, Jet]:
        """Return the jets that occur in an expression, in a reproducible order."""
        found = {s: self._jets[s] for s in expression.free_symbols if s in self._jets}
        return dict(sorted(found.items(), key=lambda item: item[1]))

    def affine(self, expression: sp.Expr) -> tuple[dict[Jet, sp.Expr], sp.Expr] | None:
        """Write an expression as Σ coefficient·jet + rest, both free of jets; None if it is not of this form.

        Decided by structure, not by derivatives: a step such as sign(u) has slope 0 and is not linear.
        """
        if not self.jets_in(expression):
            return {}, expression
        if expression.is_Symbol:
            return {self._jets[expression]: sp.Integer(1)}, sp.Integer(0)
        if not isinstance(expression, sp.Add | sp.Mul):
            return None
        scale, terms = sp.Integer(1), expression.args
        if isinstance(expression, sp.Mul):
            terms = [factor for factor in expression.args if self.jets_in(factor)]
            if len(terms) > 1:
                return None
            scale = sp.Mul(*(factor for factor in expression.args if factor is not terms[0]))
        coefficients: dict[Jet, sp.Expr] = {}
        rest = sp.Integer(0)
        for part in map(self.affine, terms):
            if part is None:
                return None
            rest += scale * part[1]
            for jet, coefficient in part[0].items():
                coefficients[jet] = coefficients.get(jet, sp.Integer(0)) + scale * coefficient
        return coefficients, rest

    def parse_suffix(self, suffix: str, *, normal: bool = False) -> Jet | None:
        """Read ``xxt`` as a derivative of an unnamed field; None if it is not one."""
        alpha = [0] * self.dimension
        time = normals = 0
        known = (*self.coordinates, TIME, *([NORMAL] if normal else []))
        while suffix:
            match = max((c for c in known if suffix.startswith(c)), key=len, default=None)  # theta, not t
            if match is None:
                return None
            suffix = suffix[len(match) :]
            time, normals = time + (match == TIME), normals + (match == NORMAL)
            if match in self.axes:
                alpha[self.axes[match]] += 1
        return Jet("", tuple(alpha), 0, time, normals)

    def split_name(self, name: str, *, normal: bool = False) -> tuple[str, Jet] | None:
        """Split ``u_xt`` into ``("u", jet)``; None if the name carries no derivative suffix."""
        base, underscore, suffix = name.rpartition("_")
        if not underscore or not base or not suffix:
            return None
        jet = self.parse_suffix(suffix, normal=normal)
        return None if jet is None else (base, replace(jet, field=base))

    # ---- calculus -------------------------------------------------------------------------

    def shifted(self, jet: Jet, axis: int | None) -> Jet:
        """Differentiate a jet once more: along a spatial axis, or in time for ``None``."""
        if axis is None:
            return replace(jet, time=jet.time + 1)
        alpha = list(jet.alpha)
        alpha[axis] += 1
        return replace(jet, alpha=tuple(alpha))

    def total_derivative(self, expression: sp.Expr, axis: int | None, deltas: bool = False) -> sp.Expr:
        """Return d/dx (or d/dt) of an expression over the jet, by the chain rule.

        A jump of a coefficient would contribute a delta function, which no value at a point can represent; it is
        refused unless ``deltas`` are asked for.
        """
        result = self._derivative(expression, axis, {})
        jumps = expression.atoms(sp.Heaviside, sp.sign, sp.Piecewise)
        broken = [
            j for j in jumps if not self.jets_in(j) and (self.t if axis is None else self.x[axis]) in j.free_symbols
        ]
        if broken and not deltas and result.has(sp.DiracDelta, sp.Piecewise):
            name = "t" if axis is None else self.coordinates[axis]
            raise ExpressionError(
                f"the derivative by {name} of '{expression}' contains a delta function, because '{broken[0]}' jumps. "
                "Write a coefficient that jumps inside the divergence of a flux, div(k*grad(u)); elsewhere, use a "
                "smooth transition such as tanh((x - a)/w)."
            )
        self._refuse_deltas_of_fields(result, axis)
        return result

    def _refuse_deltas_of_fields(self, derivative: sp.Expr, axis: int | None) -> None:
        """Refuse the derivative of a jump in a field: the equation has no values where the field crosses it."""
        jumps = [delta.args[0] for delta in derivative.atoms(sp.DiracDelta) if self.jets_in(delta.args[0])]
        if jumps:
            name = "t" if axis is None else self.coordinates[axis]
            raise ExpressionError(
                f"the derivative by {name} contains a delta function where {jumps[0]} = 0: a function of the fields "
                "that jumps was differentiated, or one with a kink twice. Smooth it over a small width w: "
                "w*log(1 + exp(a/w)) for max(a, 0), (1 + tanh(a/w))/2 for heaviside(a), sqrt(a**2 + w**2) for abs(a)."
            )

    def _derivative(self, node: sp.Expr, axis: int | None, done: dict[sp.Expr, sp.Expr]) -> sp.Expr:
        """Differentiate from the leaves up, each distinct part once and along all jets at the same time."""
        if node not in done:
            done[node] = self._chain_rule(node, axis, done)
        return done[node]

    def _chain_rule(self, node: sp.Expr, axis: int | None, done: dict[sp.Expr, sp.Expr]) -> sp.Expr:
        if node.is_Symbol:
            jet = self._jets.get(node)
            if jet is not None and jet.field in self.quantities:
                return self.quantities[jet.field].derivative(axis, self)
            if jet is not None:
                return self.symbol(self.shifted(jet, axis))
            return sp.Integer(int(node == (self.t if axis is None else self.x[axis])))
        if not node.free_symbols:
            return sp.Integer(0)
        if isinstance(node, AppliedUndef | sp.Derivative):  # a Python function of the coordinates
            return sp.diff(node, self.t if axis is None else self.x[axis])
        arguments = node.args
        if isinstance(node, sp.Add):
            return sp.Add(*(self._derivative(argument, axis, done) for argument in arguments))
        if isinstance(node, sp.Mul):
            inner = [self._derivative(argument, axis, done) for argument in arguments]
            return sp.Add(*(sp.Mul(*arguments[:i], d, *arguments[i + 1 :]) for i, d in enumerate(inner) if d != 0))
        if isinstance(node, sp.Piecewise):
            return sp.Piecewise(*((self._derivative(value, axis, done), condition) for value, condition in node.args))
        # the outer derivative by placeholders: SymPy knows it for powers and functions alike
        places = {argument: sp.Dummy(real=True) for argument in arguments if argument.free_symbols}
        outer = node.func(*(places.get(argument, argument) for argument in arguments))
        back = {place: argument for argument, place in places.items()}
        return sp.Add(
            *(
                sp.diff(outer, place).xreplace(back) * self._derivative(argument, axis, done)
                for argument, place in places.items()
            )
        )

    def laplacian(self, expression: sp.Expr) -> sp.Expr:
        """Return Δ of an expression: one symbol per Δ(jet), the chain rule for everything else."""
        if self.dimension == 1:
            return self.total_derivative(self.total_derivative(expression, 0), 0)
        jets = self.jets_in(expression)
        linear = sp.Integer(0)
        rest = expanded(expression)
        for symbol, jet in jets.items():
            if jet.field in self.quantities:
                continue
            coefficient = rest.coeff(symbol, 1)
            if coefficient != 0 and not (coefficient.free_symbols & {*self.x, *jets}):
                linear += coefficient * self.symbol(replace(jet, laps=jet.laps + 1))
                rest = expanded(rest - coefficient * symbol)
        if rest == 0:
            return linear
        axes = range(self.dimension)
        return linear + sum(self.total_derivative(self.total_derivative(rest, i), i) for i in axes)

    def substitute(self, expression: sp.Expr, values: dict[str, sp.Expr]) -> sp.Expr:
        """Replace every jet by the derivative of a given function of x and t (one per field)."""
        replaced = {s: self.differentiate(values[j.field], j) for s, j in self.jets_in(expression).items()}
        return expression.xreplace(replaced)

    def differentiate(self, function: sp.Expr, jet: Jet) -> sp.Expr:
        """Apply the derivative that ``jet`` names to an explicit function of x and t."""
        result = function
        for axis, times in enumerate(jet.alpha):
            result = sp.diff(result, self.x[axis], times) if times else result
        for _ in range(jet.laps):
            result = sum((sp.diff(result, x, 2) for x in self.x), sp.Integer(0))
        return sp.diff(result, self.t, jet.time) if jet.time else result


def maximal_time_order(jets: Iterable[Jet], field: str) -> int:
    """Return the highest time derivative of ``field`` among ``jets`` (−1 if it does not occur)."""
    return max((jet.time for jet in jets if jet.field == field), default=-1)
