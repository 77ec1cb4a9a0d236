"""Vector calculus over the jet, in any orthogonal coordinates: gradient, divergence, rotation, products.

Components are physical ones, along unit vectors. Derivatives of components take into account that unit vectors turn,
by the lengths of the chart (scale factors): in Cartesian coordinates all are one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

import sympy as sp

from frozenpinn.errors import ExpressionError
from frozenpinn.language.algebra import expanded
from frozenpinn.language.chart import Chart
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.scope import Scope
from frozenpinn.language.values import ONE, ZERO, Arithmetic, Matrix, Scalar, Value, Vector, each, is_matrix

Derive = Callable[[sp.Expr, int | None], sp.Expr]


class Calculus:
    """Operators on values; ``derive`` differentiates a real expression along one axis."""

    def __init__(self, chart: Chart, arithmetic: Arithmetic, derive: Derive) -> None:
        self.chart, self.derive = chart, derive
        self.add, self.mul = arithmetic.add, arithmetic.mul
        self.axes = range(chart.jets.dimension)
        self.whole = chart.volume

    def d(self, value: Scalar, axis: int) -> Scalar:
        """Differentiate along an axis."""
        return cast(Scalar, each(lambda part: self.derive(part, axis), value))

    def per_length(self, value: Scalar, axis: int) -> Scalar:
        """Differentiate along an axis, per unit of length."""
        return self._over(self.d(value, axis), self.chart.lengths[axis])

    def _over(self, value: Scalar, length: sp.Expr) -> Scalar:
        return value if length == 1 else self.mul(value, 1 / length)

    def _times(self, value: Scalar, factor: sp.Expr) -> Scalar:
        return value if factor == 1 else self.mul(value, factor)

    def _turn(self, i: int, j: int) -> sp.Expr:
        """Return ∂ⱼhᵢ/(hᵢ hⱼ): how fast the i-th unit vector turns along the j-th axis."""
        h = self.chart.lengths
        slope = self.chart.along(h[i], j) if not h[i].is_number else ZERO
        return slope / (h[i] * h[j])

    # ---- derivatives ----------------------------------------------------------------------------

    def grad(self, value: Value) -> Value:
        """Return the gradient; of a vector, the matrix with ∂ᵢvⱼ in row i and column j."""
        if not isinstance(value, tuple):
            return tuple(self.per_length(value, i) for i in self.axes)
        if is_matrix(value):
            raise ExpressionError("the gradient of a matrix is not part of the language.")
        if self.chart.is_reduced:
            raise ExpressionError(
                "derivatives of vectors need all coordinates of space here, as unit vectors turn around the axis; "
                "write the equations of the components."
            )
        v = self.full(cast(Vector, value))
        rows = [[self.per_length(v[j], i) for j in self.axes] for i in self.axes]
        if not self.chart.is_flat:
            for i in self.axes:
                others = [self._times(v[k], self._turn(i, k)) for k in self.axes if k != i]
                rows[i] = [
                    self.add(rows[i][j], *(others if i == j else [self._times(v[i], -self._turn(i, j))]))
                    for j in self.axes
                ]
        return tuple(map(tuple, rows))

    def div(self, value: Value) -> Value:
        """Return the divergence of a vector, or of the columns of a matrix."""
        if is_matrix(value) and self.chart.is_reduced:
            raise ExpressionError("the divergence of a matrix needs all coordinates of space here.")
        if is_matrix(value):
            return self._div_matrix(cast(Matrix, value))
        v = self.full(cast(Vector, value))
        h = self.chart.lengths
        parts = [self.d(self._times(v[i], self.whole / h[i]), i) for i in self.axes]
        total = self._over(self.add(*parts), self.whole)
        merge = (lambda part: merge_laplacians(part, self.chart.jets)) if self.chart.is_flat else expanded
        return each(merge, total)

    def _div_matrix(self, m: Matrix) -> Vector:
        columns = []
        for j in self.axes:
            column = tuple(m[i][j] for i in self.axes)
            total = cast(Scalar, self.div(column))
            if not self.chart.is_flat:
                turned = [self._times(m[j][i], self._turn(j, i)) for i in self.axes if i != j]
                turned += [self._times(m[i][i], -self._turn(i, j)) for i in self.axes if i != j]
                total = self.add(total, *turned)
            columns.append(total)
        return tuple(columns)

    def lap(self, value: Value) -> Value:
        """Return the Laplacian, of a vector as a vector."""
        if isinstance(value, tuple) and not self.chart.is_flat:
            return self.div(self.grad(value))
        return each(self.chart.laplacian, value)

    def curl(self, value: Value) -> Value:
        """Return the rotation: in space of a vector; in the plane of a vector (a number) or of a number (a vector)."""
        h, d = self.chart.lengths, self.d
        if len(self.axes) == 2 and not isinstance(value, tuple):
            low = self.per_length(value, 0)
            return (self.per_length(value, 1), self.mul(sp.Integer(-1), low))
        if len(self.axes) not in (2, 3):
            raise ExpressionError("curl(…) exists in two and three dimensions.")
        v = [self._times(component, h[i]) for i, component in enumerate(self.full(cast(Vector, value)))]

        def around(i: int, j: int) -> Scalar:
            turn = self.add(d(v[j], i), self.mul(sp.Integer(-1), d(v[i], j)))
            return self._over(turn, h[i] * h[j])

        return around(0, 1) if len(self.axes) == 2 else (around(1, 2), around(2, 0), around(0, 1))

    # ---- products -------------------------------------------------------------------------------

    def dot(self, left: Value, right: Value) -> Value:
        """Return the inner product: of vectors, of a vector and a matrix (Σ vᵢMᵢⱼ), of a matrix and a vector."""
        if not isinstance(left, tuple) or not isinstance(right, tuple):
            raise ExpressionError("a vector is needed here, such as grad(u) or [a, b].")
        if is_matrix(left) and is_matrix(right):
            columns = list(zip(*cast(Matrix, right), strict=True))
            return tuple(tuple(self._sum(row, column) for column in columns) for row in cast(Matrix, left))
        if is_matrix(left):
            return tuple(self._sum(row, cast(Vector, right)) for row in cast(Matrix, left))
        if is_matrix(right):
            return tuple(self._sum(cast(Vector, left), column) for column in zip(*cast(Matrix, right), strict=True))
        return self._sum(cast(Vector, left), cast(Vector, right))

    def _sum(self, a: Vector, b: Vector) -> Scalar:
        if len(a) != len(b):
            raise ExpressionError(f"vectors of {len(a)} and {len(b)} components are multiplied.")
        return self.add(*(self.mul(p, q) for p, q in zip(a, b, strict=True)))

    def cross(self, left: Value, right: Value) -> Value:
        """Return the cross product: in the plane a number."""
        a, b = cast(Vector, left), cast(Vector, right)
        if len(a) != len(b) or len(a) not in (2, 3):
            raise ExpressionError(
                f"cross(…, …) takes two vectors of two or three components, got {len(a)} and {len(b)}."
            )

        def around(i: int, j: int) -> Scalar:
            return self.add(self.mul(a[i], b[j]), self.mul(sp.Integer(-1), a[j], b[i]))

        return around(0, 1) if len(a) == 2 else (around(1, 2), around(2, 0), around(0, 1))

    def identity(self) -> Matrix:
        """Return the unit matrix."""
        return tuple(tuple(ONE if i == j else ZERO for j in self.axes) for i in self.axes)

    def transpose(self, value: Matrix) -> Matrix:
        """Return the transposed matrix."""
        return tuple(zip(*value, strict=True))

    def symmetric(self, value: Matrix) -> Matrix:
        """Return the symmetric part of a matrix."""
        half = sp.Rational(1, 2)
        other = self.transpose(value)
        return tuple(
            tuple(self.mul(half, self.add(p, q)) for p, q in zip(row, column, strict=True))
            for row, column in zip(value, other, strict=True)
        )

    def trace(self, value: Matrix) -> Scalar:
        """Return the trace of a matrix."""
        return self.add(*(value[i][i] for i in range(len(value))))

    def full(self, vector: Vector) -> Vector:
        """Return a vector that has a component for each axis."""
        if len(vector) != len(self.axes):
            raise ExpressionError(f"a vector needs {len(self.axes)} components here, got {len(vector)}.")
        return vector


# ---- derivatives of Python functions, and Laplacians ----------------------------------------------


def resolve_function_derivatives(expression: sp.Expr, scope: Scope, fail: Callable[[str], ExpressionError]) -> sp.Expr:
    """Replace k'(x) of a Python function k by what the name k_x stands for, or ask for it."""
    found = expression.atoms(sp.Derivative)
    # one pass that does not look inside what it has replaced: k'' contains k and must not become (k_x)'
    return expression.xreplace({d: _named_derivative(d, scope, fail) for d in found}) if found else expression


def _named_derivative(derivative: sp.Derivative, scope: Scope, fail: Callable[[str], ExpressionError]) -> sp.Expr:
    """Find the parameter that stands for one derivative of a Python function."""
    jets, function = scope.jets, derivative.expr
    base = function.func.__name__
    if base not in scope.functions:
        raise fail(f"the derivative of '{base}' is not known; give it as text or SymPy.")
    if function != scope.function(base):
        raise fail(f"'{function}' can't be differentiated; write '{base}' at the current point only.")
    root, jet = base, jets.field(base)
    split = jets.split_name(base)
    if split is not None and split[0] in scope.functions:  # k_x is itself a derivative, of k
        root, jet = split
    for variable, count in derivative.variable_count:
        for _ in range(int(count)):
            jet = jets.shifted(jet, None if variable.name == TIME else jets.axes[variable.name])
    for name in (*scope.functions, *scope.parameters):
        if jets.split_name(name) == (root, jet):  # k_xy and k_yx are the same
            value = scope.lookup(name)
            if isinstance(value, sp.Expr):
                return value
    name = jets.name(jet)
    raise fail(
        f"this needs the derivative {name} of the Python function '{root}'. "
        f"Give '{root}' as text or SymPy, or add parameters={{'{name}': …}}."
    )


def merge_laplacians(expression: sp.Expr, jets: JetSpace) -> sp.Expr:
    """Write k·u_xx + k·u_yy + … as k·lap(u): one operator instead of one per axis."""
    if jets.dimension == 1:
        return expression
    result = expanded(expression)
    second: dict[Jet, list[sp.Symbol]] = {}
    for symbol, jet in jets.jets_in(result).items():
        for axis, count in enumerate(jet.alpha):
            if count >= 2:
                alpha = tuple(c - 2 * (i == axis) for i, c in enumerate(jet.alpha))
                second.setdefault(replace(jet, alpha=alpha), []).append(symbol)
    for base, symbols in second.items():
        if len(symbols) != jets.dimension:
            continue
        coefficients = {result.coeff(s, 1) for s in symbols}
        if len(coefficients) == 1 and not any(result.coeff(s, 2) for s in symbols):
            coefficient = coefficients.pop()
            lap = jets.symbol(replace(base, laps=base.laps + 1))
            result = expanded(result - coefficient * sum(symbols)) + coefficient * lap
    return result
