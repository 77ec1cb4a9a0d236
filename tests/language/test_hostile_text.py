"""Texts that try to break in, to exhaust the machine or to confuse: refused quickly, and never executed."""

import builtins
import contextlib
import signal
import time

import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frozenpinn import Dirichlet, FrozenPinnError, Interval, Problem, ProblemError
from frozenpinn.errors import ExpressionError
from frozenpinn.language.jets import JetSpace
from frozenpinn.language.parser import MAX_CHARACTERS, Scope, parse, parse_equation

SCOPE = Scope(JetSpace(["x"]), ["u"], {"a": sp.Integer(2)}, {"k": ("x",)})
PLANE = Scope(JetSpace(["x", "y"]), ["u", "v"], {"a": sp.Integer(2)}, {"k": ("x", "y")})


@contextlib.contextmanager
def at_most(seconds):
    """Stop what takes more processor time: a hanging parser must fail one test and not the whole run."""

    def stop(*_):
        # without a traceback: it would print numbers and expressions that are meant to be too large for that
        pytest.fail(f"took longer than {seconds} s", pytrace=False)

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)  # again and again: a destructor may swallow the first one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def refused(text, scope=SCOPE):
    """Both entry points refuse the text, quickly (with room for a busy machine)."""
    for read in (parse, parse_equation):
        with at_most(5.0), pytest.raises(ExpressionError):
            read(text, scope)


@pytest.mark.parametrize(
    "text",
    [
        # Python that a careless implementation would run
        "__import__('os').system('echo')",
        '__import__("os")',
        "__import__",
        "__builtins__",
        "u.__class__",
        "u.__class__.__mro__[1].__subclasses__()",
        "x.real",
        "u.subs(x, 1)",
        "().__class__",
        "[].append(1)",
        "u__x",
        "__",
        "lambda: 0",
        "lambda x: x",
        "(lambda: 0)()",
        "exec(1)",
        "eval(1)",
        "open(1)",
        "compile(u)",
        "getattr(u, x)",
        "globals()",
        "print(u)",
        "breakpoint()",
        "exec",
        "Symbol(x)",
        "sympify(x)",
        "Function(u)",
        "import os",
        "del u",
        "u if u else x",
        "u and x",
        "not u",
        "u is x",
        "u for u in x",
        "[u for u in x]",
        "yield u",
        "await u",
        "return u",
        "(u := 1)",
        "u := 1",
        "'u'",
        '"u"',
        "'''u'''",
        "f'{u}'",
        "{u}",
        "{}",
        "%s",
        "u % x",
        "{0.__class__}",
        "$u",
        "`ls`",
        "u; x",
        "u;",
        "u\\\n+x",
        "\\u0075",
        "u # comment",
        "u @ x",
        "u | x",
        "u & x",
        "~u",
        "!u",
        "u << 2",
        "u < 1",
        "u > 1",
        "u != 1",
        "u == 1",
        "a==b",
        "u // 2",
        "u ** ** 2",
        "u[0]",
        "u[x]",
        "u:x",
        "u?",
        "...",
        "..",
        "*u",
        "**u",
        "*[u]",
        "sin(*u)",
        "sin(x=1)",
        "1_000_000",
        "0x10",
        "0b1",
        "1j",
        "1e",
        "1e5e5",
        "1.2.3",
        "None",
        "True",
        "nan",
        "inf",
        "oo",
        "I",
        "zoo",
    ],
)
def test_not_part_of_the_language(text):
    refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "ｕ",  # fullwidth letters are other names
        "ｓｉｎ(x)",
        "u_ｔ",
        "__ｉｍｐｏｒｔ__(u)",
        "u\u200b",
        "u\u200d_x",
        "\ufeffu",
        "u\u202ex",
        "u\x00",
        "\x00",
        "u\x00+1",
        "u\x1b[31m",
        "u\x7f",
        "u − 1",  # the typographic minus sign
        "u · x",
        "u × x",
        "u²",
        "½*u",
        "∂u",
        "√2",
        "∞",
        "𝐮",
        "е",  # Cyrillic
        "u\U0001f600",
        "\ud800",
        "u＋x",
        "u＝x",
        "（u）",
    ],
    ids=ascii,
)
def test_unicode_tricks(text):
    refused(text)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t ", "()", "[]", "(", ")", "[", "]", ",", "+", "-", "*", "^", "u,", "u, x"]
)
def test_empty_or_unfinished(text):
    refused(text)


@pytest.mark.parametrize(
    "text", ["=", "= u", "u =", "==", "u = = x", "u = x = 1", "u == x", "a=b=c", "(u = x)", "sin(u = x)"]
)
def test_equal_signs(text):
    with at_most(5.0), pytest.raises(ExpressionError):
        parse_equation(text, SCOPE)


@pytest.mark.parametrize("given", [None, 5, b"u", ["u"], sp.Symbol("u")], ids=repr)
def test_only_text_is_read(given):
    with pytest.raises(ExpressionError, match="expected an expression as text"):
        parse(given, SCOPE)


# ---- texts that would take for ever --------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9**9**9**9**9",
        "9^9^9",
        "(10**100)**100",
        "((10**100)**10)**10",
        "10**-1000",
        "u**1000000",
        "u**-101",
        "2**(10**18)",
        "1e999",
        "1" + "0" * 400,
        "9" * 5000,
        "1e308**2",
    ],
    ids=lambda text: text[:20],
)
def test_huge_powers_and_numbers(text):
    refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "*".join(["9**99"] * 1500),
        "9**99*9**99*9**99*9**99",
        "1e308*1e308",
        "exp(1000)",
        "exp(exp(exp(100)))",
        "x**exp(exp(exp(100)))",
        "abs(sin(exp(exp(exp(10)))))",
        "u*cosh(10**5)",
        "u/1e-200/1e-200",
    ],
    ids=lambda text: text[:30],
)
def test_constants_beyond_floating_point(text):
    # SymPy would evaluate such numbers to as many digits as it takes
    refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "u" + ")" * 5000,
        "(" * 5000,
        "-" * 5000 + "u",
        "+-" * 2500 + "u",
        "sin(" * 1000 + "u" + ")" * 1000,
        "[" * 5000,
        "u**" * 3000 + "u",
        "-(" * 2000 + "u" + ")" * 2000,
        "dx(" * 1000 + "u" + ")" * 1000,
        "u_" + "x" * 5000,
        "dx(" * 13 + "u" + ")" * 13,
        "((u + 1)**99)**99",
        "(((u**9)**9)**9)**9",
        "u" * (MAX_CHARACTERS + 1),
        "u+" * 5_000_000 + "u",
        " " * 10_000_000,
        "(" * 10_000_000,
    ],
    ids=lambda text: f"{text[:4]}-{len(text)}",
)
def test_long_and_deep_texts(text):
    refused(text)


def test_a_long_text_says_its_length():
    with pytest.raises(ExpressionError, match=r"has 10000001 characters; at most 10000 are read.*Python function"):
        parse("u" * 10_000_001, SCOPE)


def test_deep_nesting_says_so_and_reasonable_nesting_is_fine():
    with pytest.raises(ExpressionError, match="nested deeper than 60 levels"):
        parse("(" * 100 + "u" + ")" * 100, SCOPE)
    assert parse("(" * 20 + "u" + ")" * 20, SCOPE) == parse("u", SCOPE)


def test_doubling_parameters_are_stopped():
    """Each parameter uses the one before it twice: 2ⁿ operations from n short texts."""
    parameters = {"p0": "u + x"} | {f"p{i}": f"sin(p{i - 1})*cos(p{i - 1} + {i})" for i in range(1, 40)}
    with at_most(10.0), pytest.raises(ExpressionError, match="expands to more than 20000 operations"):
        Problem("u_t = p39", Interval(0, 1, periodic=True), (0, 1), 0, parameters=parameters)


@pytest.mark.parametrize(
    "text",
    [
        "lap(((u + 1)**99)**99)",
        "lap((u + v + x + y)**80)",
        "div(grad((u + v + x + y)**80))",
        "lap(" + "*".join(f"(u + sin({i}*x))" for i in range(14)) + ")",
    ],
    ids=lambda text: text[:30],
)
def test_expansions_without_end(text):
    with at_most(10.0), contextlib.suppress(ExpressionError):
        parse(text, PLANE)


@pytest.mark.parametrize("text", ["dx(" * 25 + "sin(u)" + ")" * 25, "dx(" * 14 + "exp(sin(u*u_x))" + ")" * 14])
def test_derivatives_without_end(text):
    with at_most(10.0), pytest.raises(ExpressionError):
        parse(text, SCOPE)


def test_a_long_sum_is_read_in_linear_time():
    # adding term by term would sort the whole sum again each time
    with at_most(5.0):
        parse("+".join(f"sin({i}*x)" for i in range(850)), SCOPE)


@pytest.mark.parametrize(
    "text",
    [
        "u_t = ((u + 1)**99)**99",
        "u_t = (1 + u + u_x + u_xx + x)**90",
        "u_t = " + "*".join(f"(u + sin({i}*x))" for i in range(25)),
    ],
    ids=lambda text: text[:30],
)
def test_equations_without_end(text):
    with at_most(10.0), contextlib.suppress(ProblemError):
        Problem(text, Interval(0, 1, periodic=True), (0, 1), 0)


# ---- nothing is executed -------------------------------------------------------------------------


ATTACK = "__import__('pathlib').Path({!r}).touch()"


@pytest.mark.parametrize("where", ["equation", "initial", "boundary", "value", "parameters", "exact", "symbol"])
def test_no_part_of_a_problem_executes_its_text(where, tmp_path):
    marker = tmp_path / "marker"
    text = ATTACK.format(str(marker))
    given = {
        "equation": "u_t = u_xx",
        "initial": 0,
        "boundary": "u = 0",
        "parameters": {},
        "exact": None,
    }
    attacks = {
        "equation": f"u_t = {text}",
        "initial": text,
        "boundary": f"u = {text}",
        "parameters": {"a": text},
        "exact": text,
    }
    if where == "value":
        given["boundary"] = Dirichlet(text)
    elif where == "symbol":
        given["initial"] = sp.Symbol(text)
    else:
        given[where] = attacks[where]
    with pytest.raises(ExpressionError):
        Problem(domain=Interval(0, 1), time=(0, 1), **given)
    assert not marker.exists()


def test_reading_a_text_compiles_no_code(monkeypatch):
    def forbidden(*_, **__):
        raise AssertionError("code was compiled or evaluated")

    texts = ["dx(k0*u*u_x) + sin(u)**2/3", "max(u, 0)*exp(-x**2)", "lap(u**2)"]
    scope = Scope(JetSpace(["x"]), ["u"], {"k0": sp.Integer(2)})
    with monkeypatch.context() as patch:
        for name in ("eval", "exec", "compile"):
            patch.setattr(builtins, name, forbidden)
        patch.setattr(sp, "sympify", forbidden)
        patch.setattr(sp, "lambdify", forbidden)
        results = [parse(text, scope) for text in texts]
    assert len(results) == 3


# ---- fuzzing -------------------------------------------------------------------------------------


def parses_or_refuses(text):
    for scope in (SCOPE, PLANE):
        for read in (parse, parse_equation):
            with at_most(5.0), contextlib.suppress(ExpressionError):
                assert isinstance(read(text, scope), sp.Expr)


@given(st.text())
@example("u\r\n=\u2028x")
@example("٣ + ۴*u")
@settings(max_examples=400)
def test_any_text_parses_or_is_refused(text):
    parses_or_refuses(text)


WORDS = [*"+-*/^(),[]=", "**", "(", ")", "0", "1", "2", "-1", "0.5", "1e3", "9", "u", "u_x", "u_t", "x", "t", "a", "k"]
WORDS += ["pi", "sin(", "log(", "sqrt(", "exp(", "max(", "atan2(", "heaviside(", "asin(", "abs(", "sign(", "k(", "u("]
WORDS += ["dx(", "dt(", "lap(", "grad(", "div(", "dot("]


@given(st.lists(st.sampled_from(WORDS), max_size=14).map("".join))
@example("2**sqrt(-1)")
@example("sqrt(-1)**2")
@example("2**(1/0)")
@example("max(1/0,1)")
@example("max(sqrt(-1),1)")
@example("heaviside(sqrt(-1))")
@settings(max_examples=400)
def test_any_sequence_of_words_parses_or_is_refused(text):
    parses_or_refuses(text)


PIECES = ["u", "u_x", "u_xx", "x", "t", "a", "k", "1", "-2", "0", "0.5", "pi"]
FORMULAS = st.recursive(
    st.sampled_from(PIECES),
    lambda c: st.one_of(
        st.tuples(c, st.sampled_from(["+", "-", "*", "/", "**"]), c).map(lambda p: f"({p[0]}{p[1]}{p[2]})"),
        st.tuples(st.sampled_from(["sin", "log", "sqrt", "asin", "abs", "dx", "lap", "dt", "-"]), c).map(
            lambda p: f"{p[0]}({p[1]})"
        ),
        st.tuples(st.sampled_from(["max", "atan2"]), c, c).map(lambda p: f"{p[0]}({p[1]},{p[2]})"),
    ),
    max_leaves=6,
)


@given(FORMULAS)
@example("((-2)**0.5)*u")
@example("(asin(2)*u)")
@settings(max_examples=150)
def test_any_formula_makes_a_problem_or_is_refused(text):
    parses_or_refuses(text)
    with at_most(10.0), contextlib.suppress(FrozenPinnError):
        Problem(
            f"u_t = {text}",
            Interval(1, 2, periodic=True),
            (0, 1),
            "1 + x",
            parameters={"a": 2, "k": lambda x: 1 + x, "k_x": lambda x: 0 * x},
        )


def test_refusing_is_fast_for_everything_at_once():
    start = time.process_time()
    for text in ["9**9**9", "u.__class__", "(" * 9999, "-" * 9999, "'" * 9999, "u u " * 2499, "=" * 9999]:
        with pytest.raises(ExpressionError):
            parse_equation(text, SCOPE)
    assert time.process_time() - start < 1.0
