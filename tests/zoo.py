"""Solved problems that tests read instead of solving their own: by name, solved when first asked for, once a process.

They differ in what is stored, pickled, drawn and reported: kinds of bases, trajectories, views, conditions and data.
"""

import warnings
from functools import cache

import numpy as np

import frozenpinn as fp

PI = np.pi
LINE = fp.Interval(0, 1)
RING = fp.Interval(0, 1, periodic=True)
CIRCLE = fp.Interval(0, 2 * PI, periodic=True)
SQUARE = fp.Box([0, 0], [1, 1])
BALL = fp.Ball(dimension=3)
CORNER = fp.Polygon([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]])
EDGES = {"left": "u = sin(3*t)", "right": "u_x + u = t"}
SINES = "sin(pi*x)*sin(pi*y)"
STEPPERS = ("etd", "cvode", "cvode-adams", "rk45", "rk23", "dop853", "lsoda", "radau", "bdf")
_BUILDERS = {}


@cache
def solved(name):
    """Return the solution of that name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fp.FrozenPinnWarning)  # widths are small here
        return _BUILDERS[name]()


def named(build):
    """Put a function that solves a problem into the zoo."""
    _BUILDERS[build.__name__] = build
    return build


def put(name, statement, tol=None, more=None, **settings):
    """Put a problem with its settings into the zoo."""
    given = more or {}

    def build():
        return fp.solve(fp.Problem(*statement, **given), tol=tol, settings=fp.Settings(**settings))

    _BUILDERS[name] = build


# ---- on an interval, linear --------------------------------------------------------------------------

put("heat", ("u_t = u_xx", LINE, (0, 0.2), "sin(pi*x)", "u = 0"),
    more={"exact": "exp(-pi**2*t)*sin(pi*x)"}, width=60)  # fmt: skip
put("transport", ("u_t = -u_x", fp.Interval(0, 2, periodic=True), (1, 2), "sin(pi*x)"),
    more={"exact": "sin(pi*(x - t + 1))"}, width=60)  # fmt: skip
put("lifted", ("u_t = 0.3*u_xx + x", LINE, (0, 1), 0, EDGES), width=40)
put("ladder", ("u_t = u_xx - 3*u_x + 1", LINE, (0, 0.2), "sin(pi*x)", "u = 0"), width=40)  # no modes: not symmetric
put("string", ("u_tt = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", 0),
    more={"exact": "sin(pi*x)*cos(pi*t)"}, width=60)  # fmt: skip
put("struck_string", ("u_tt = u_xx", LINE, (0, 2), "sin(pi*x)", "u = 0", "sin(2*pi*x)"), width=50)
put("damped_string", ("u_tt = u_xx - u_t", LINE, (0, 2), "sin(pi*x)", "u = 0", 0), width=50)
put("driven_string", ("u_tt = u_xx - u_t", LINE, (0, 1), "sin(pi*x)", {"left": "u = sin(3*t)", "right": "u = 0"},
    "3*(1 - x)"), width=40)  # fmt: skip
put("quantum", (["a_t = -b_xx", "b_t = a_xx"], CIRCLE, (0, 1), {"a": "cos(x)", "b": 0}),
    more={"exact": {"a": "cos(x)*cos(t)", "b": "-cos(x)*sin(t)"}}, width=60)  # fmt: skip
put("mixed_orders", (["u_tt = u_xx - v", "v_t = v_xx + u"], LINE, (0, 0.5), {"u": "sin(pi*x)", "v": 0},
    fp.Dirichlet(0), 0), width=50)  # fmt: skip
put("coupled", (["u_t = u_xx", "v_t = v_xx"], LINE, (0, 0.2), {"u": "cos(pi*x)", "v": "cos(pi*x)"},
    {side: ["u = v", "u_x = -v_x"] for side in ("left", "right")}), width=50)  # fmt: skip
put("outer_basis", ("u_t = -u_x", RING, (0, 1), "sin(2*pi*x)"),
    width=50, boundary=fp.boundary.OuterBasis("fourier", 10))  # fmt: skip
put("soft", ("u_t = 0.3*u_xx", LINE, (0, 1), 0, EDGES), width=40, boundary="augmented-ode")
put("soft_string", ("u_tt = u_xx", LINE, (0, 1), "sin(pi*x)", "u = 0", 0),
    width=30, boundary="augmented-ode", rtol=1e-5)  # fmt: skip
put("scaled", ({"u": "0.05*u_xx + 1e9*v", "v": "0.05*v_xx - 1e-9*u"}, LINE, (0, 1),
    {"u": "1e6*sin(pi*x)", "v": "1e-6*x*(1 - x)"}, fp.Dirichlet(0)), width=40)  # fmt: skip


def bump(x):
    return x * (1 - x)


put("functions", ("u_t = k*u_xx", LINE, (0, 1), bump, {"left": fp.Dirichlet(np.sin), "right": "u = 0"}),
    more={"parameters": {"k": bump}}, width=30)  # fmt: skip


@named
def estimated():
    return fp.estimate_error(solved("lifted"))


# ---- on an interval, nonlinear -----------------------------------------------------------------------

REACTION = ("u_t = 0.1*u_xx - u**3 + cos(5*t)", LINE, (0, 1), "sin(pi*x)", "u = 0")
for _stepper in STEPPERS:
    put(_stepper, REACTION, width=24, integrator=_stepper, rtol=1e-5, windows=None)
put("tolerance", REACTION, tol=1e-4)
put("equal_windows", REACTION, width=40, windows=3)
put("nonlinear_string", ("u_tt = u_xx - u**3", LINE, (0, 1), "sin(pi*x)", "u = 0", 0), width=40)
put("exponential", ("u_t = -u_x + 0.1*u**2", RING, (0, 1), "sin(2*pi*x)"), width=40, integrator="exponential")
put("stiff", ("u_t = u_xx - u**3", LINE, (0, 0.2), "sin(pi*x)", "u = 0"), width=50, integrator="cvode")
put("windows", ("u_t + u*u_x = 0.01*u_xx", fp.Interval(-1, 1), (0, 0.6), "-sin(pi*x)", "u = 0"), width=80, rtol=1e-4)
put("burgers", ("u_t + u*u_x = 0.05*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0"), tol=1e-4)

# ---- in several dimensions ---------------------------------------------------------------------------

put("plate", ("u_t = lap(u)", fp.Box([0, 0], [1, 2]), (0, 0.1), SINES, "u = 0"),
    more={"exact": f"exp(-2*pi**2*t)*{SINES}"}, width=24)  # fmt: skip
put("moving_edges", ("u_t = lap(u)", SQUARE, (0, 0.3), "exp(x + y)", "u = exp(x + y + 2*t)"),
    more={"exact": "exp(x + y + 2*t)"}, width=16, subspace=None)  # fmt: skip
put("moving_membrane", ("u_tt = lap(u)", SQUARE, (0, 1), "cos(x + y)", "u = cos(x + y - sqrt(2)*t)",
    "sqrt(2)*sin(x + y)"), more={"exact": "cos(x + y - sqrt(2)*t)"}, width=16, subspace=None)  # fmt: skip
put("nonlinear_product", ("u_t = 0.1*lap(u) - u**3 + x*y", SQUARE, (0, 0.5), SINES, "u = 0"), width=8)
put("scattered", ("u_t = lap(u)", SQUARE, (0, 0.1), SINES, "u = 0"), sampler="elm", width=60, boundary="augmented-ode")
put("disk", ("u_t = lap(u) + x", fp.Disk(), (0, 0.2), "1 - x**2 - y**2", "u = 0"), width=80)
put("corner_in_time", ("u_t = lap(u) + 1", CORNER, (0, 0.1), 0, "u = 0"), width=80)
put("subspace", ("u_t = 0.1*lap(u)", fp.Box([0] * 3, [1] * 3), (0, 1), "cos(pi*x)", "u_n = 0"), tol=1e-4)
put("many_dimensions", ("u_t = lap(u)", fp.Box([0] * 4, [1] * 4), (0, 0.1), "exp(x1*x2 + x3*x4)",
    "u = exp(x1*x2 + x3*x4)"), width=60, subspace=None)  # fmt: skip

# ---- static ------------------------------------------------------------------------------------------

put("poisson", ("lap(u) = -2*pi**2*sin(pi*x)*sin(pi*y)", SQUARE), more={"boundary": "u = 0", "exact": SINES},
    tol=1e-6)  # fmt: skip
put("corner", ("lap(u) = -1", CORNER), more={"boundary": "u = 0"}, width=150)
put("ball", ("lap(u) = 6", BALL), more={"boundary": "u = x**2 + y**2 + z**2", "exact": "x**2 + y**2 + z**2"},
    width=100)  # fmt: skip
put("bratu", ("u_xx + exp(u) = 0", LINE), more={"boundary": "u = 0"}, tol=1e-9)
put("layer", ("0.01*u_xx - u_x = 1", LINE), more={"boundary": "u = 0"}, tol=1e-6)

NAMES = tuple(_BUILDERS)
