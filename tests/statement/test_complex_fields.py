"""Complex fields: what makes one, how it is taken apart, what is refused."""

import numpy as np
import pytest
import sympy as sp

import frozenpinn as fp
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import Scope, parse_value
from frozenpinn.language.program import Program
from frozenpinn.language.values import Complex

RING = fp.Interval(0, 2 * np.pi, periodic=True)


def state(equation="psi_t = I*psi_xx", initial="exp(I*x)", boundary=None, domain=RING, **more):
    return fp.Problem(equation, domain, (0, 1), initial, boundary, **more)


TEXTS = "(1 + 2*I)*z; z/(w - I); z**3; z**(-2); w**z; z**0.5; exp(I*z); sin(z)*cos(w); sinh(z) + cosh(w); sech(z)"
TEXTS += "; tan(z) - tanh(w); log(z); sqrt(z); abs(z); abs2(z); conj(z)*w; re(z) + I*im(w); arg(z); where(x < 1, z, w)"


@pytest.mark.parametrize("text", [*TEXTS.split("; "), "I**2", "z - conj(z)"])
def test_arithmetic_of_complex_numbers(text):
    x = np.array([0.3, 0.7, 1.2])
    own = sp.Symbol("x", real=True)
    numbers = {"z": Complex(own, sp.Integer(2)), "w": Complex(sp.Integer(1), sp.sin(own))}
    scope = Scope(JetSpace(["x"]), parameters=numbers)
    value = parse_value(text, scope)
    pair = (value.re, value.im) if isinstance(value, Complex) else (value, sp.Integer(0))
    re, im = (np.broadcast_to(part, 3) for part in Program(pair, [scope.jets.x[0]])(x))
    names = {"x": x, "z": x + 2j, "w": 1 + 1j * np.sin(x), "I": 1j, "re": np.real, "im": np.imag, "arg": np.angle}
    names |= {"conj": np.conj, "abs2": lambda v: np.abs(v) ** 2, "sech": lambda v: 1 / np.cosh(v), "where": np.where}
    names |= {n: getattr(np, n) for n in ("exp", "sin", "cos", "sinh", "cosh", "tan", "tanh", "log", "sqrt", "abs")}
    expected = eval(text, {"__builtins__": {}}, names)  # a text of this file
    assert np.allclose(re + 1j * im, expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("given", "complex_fields"),
    [
        ({}, {"psi"}),
        ({"equation": "I*psi_t = -psi_xx + abs2(psi)*psi"}, {"psi"}),
        ({"equation": "psi_t = psi_xx"}, {"psi"}),
        ({"equation": "psi_t = psi_xx", "initial": lambda x: np.exp(1j * x)}, {"psi"}),
        ({"equation": "psi_t = c*psi_xx", "initial": "cos(x)", "parameters": {"c": 1 + 1j}}, {"psi"}),
        ({"equation": "psi_t = psi_xx + f", "initial": 0, "parameters": {"f": lambda x: 1j * np.sin(x)}}, {"psi"}),
        ({"equation": "psi_t = psi_xx", "initial": "cos(x)", "complex": "psi"}, {"psi"}),
        ({"equation": "psi_t = I*I*psi", "initial": "cos(x)"}, set()),
        ({"equation": "psi_t = psi_xx + re(exp(I*x))", "initial": "cos(x)"}, set()),
        (
            {"equation": ["psi_t = I*psi_xx - I*n*psi", "n_t = n_xx + abs2(psi)"], "initial": {"psi": 1, "n": 0}},
            {"psi"},
        ),
        ({"equation": ["a_t = I*b", "b_t = a_x"], "initial": {"a": 1, "b": 0}}, {"a", "b"}),
        ({"equation": sp.Eq(sp.Symbol("psi_t"), sp.I * sp.Symbol("psi_xx"))}, {"psi"}),
    ],
)
def test_which_fields_are_complex(given, complex_fields):
    problem = state(**given)
    assert problem.composites.complex == complex_fields
    assert [name for name in problem.fields if name.endswith("_re")] == [f"{n}_re" for n in sorted(complex_fields)]


def test_equations_are_taken_apart():
    problem = state("I*psi_t = -psi_xx/2 + g*abs2(psi)*psi", parameters={"g": 3})
    assert [str(sp.expand(e.right_side)) for e in problem.equations] == [
        "3*psi_im**3 + 3*psi_im*psi_re**2 - psi_im_xx/2",
        "-3*psi_im**2*psi_re - 3*psi_re**3 + psi_re_xx/2",
    ]
    assert problem.at(g=0).equations[0].is_linear


def test_conditions_are_taken_apart():
    problem = state(initial=0, domain=fp.Interval(0, 1), boundary={"left": "psi_n = I*psi", "right": fp.Dirichlet(0)})
    assert [(c.side.name, c.fields) for c in problem.conditions] == [
        ("left", ("psi_im", "psi_re")), ("left", ("psi_im", "psi_re")), ("right", ("psi_re",)), ("right", ("psi_im",)),
    ]  # fmt: skip
    impedance = fp.Problem("lap(u) + 4*u = 0", fp.Interval(0, 1), boundary={"left": "u = 1", "right": "u_n = 2*I*u"})
    assert impedance.composites.complex == {"u"}
    named = state(
        initial="x*(1 + I)",
        domain=fp.Interval(0, 1),
        boundary={"left": "psi = 0", "right": fp.Dirichlet(1 + 1j, "psi")},
    )
    assert [float(c.value(np.ones((1, 1)))[0]) for c in named.conditions] == [0, 0, 1, 1]


def test_plain_data_and_files_keep_complex_fields():
    from frozenpinn.statement.document import problem_from_dict, problem_to_dict

    problem = state(initial="cos(x)", complex=("psi",), exact="cos(x)*exp(-I*t)")
    again = problem_from_dict(problem_to_dict(problem))
    assert again.composites == problem.composites
    assert str(again.equations) == str(problem.equations)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"complex": ("phi",)}, "complex= names 'phi'; the fields are 'psi'"),
        (
            {"equation": "psi_t = max(psi, 0)", "initial": "exp(I*x)"},
            r"'max' takes real numbers only, and this is complex",
        ),
        ({"equation": "psi_t = I*psi*(psi > 0)"}, "this is complex, and a real number is needed here"),
        ({"equation": "psi_t = I*psi**20"}, "powers of complex expressions beyond 12 are refused"),
        ({"initial": {"psi": ["1", "I"]}}, "must be a finite number, text"),
        ({"initial": lambda x: np.full(5, 1j)}, "the initial value of psi_re returned an array of shape"),
        ({"parameters": {"psi_re": 2}}, "'psi_re' is an unknown of the equation and can't be a parameter too"),
        ({"equation": "psi_t = j*psi_xx"}, "The imaginary unit is 'I'"),
        ({"domain": fp.Interval(0, 1), "boundary": "psi = 1 < x"}, "Put a comparison in parentheses"),
        ({"initial": complex("nan")}, "must be a finite number"),
        ({"complex": 3}, r"complex= names fields, such as complex=\('psi',\); got 3"),
        ({"parameters": {"f": 1j * np.ones(9)}}, "an array of complex numbers; give its real and its imaginary part"),
    ],
)
def test_refused(given, words):
    with pytest.raises(fp.FrozenPinnError, match=words):
        state(**given)


def test_constraints_of_complex_fields():
    line = fp.Interval(0, 1)
    problem = fp.Problem("lap(u) = I*cos(pi*x)", line, boundary="u_n = 0", constraint="mean(u) = 1 + 2*I")
    assert [(c.field, c.value) for c in problem.constraints] == [("u_re", 1.0), ("u_im", 2.0)]
    with pytest.raises(fp.ProblemError, match="has not one number for 'u'"):
        fp.Problem("lap(u) = 0", line, boundary="u_n = 0", constraint="mean(u) = I")


def test_arrays_of_complex_numbers():
    x = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    problem = state("psi_t = psi_xx", np.exp(1j * x))
    assert problem.composites.complex == {"psi"}
    assert problem.initial["psi_im"](np.array([[1.0]]))[0] == pytest.approx(np.sin(1.0), abs=1e-5)
