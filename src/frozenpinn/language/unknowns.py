"""Which names of a text are unknowns: what carries a time derivative or, in static equations, any derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from frozenpinn.language.chart import Chart
from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.lexer import tokenize
from frozenpinn.language.scope import CONSTANTS, OPERATORS, derivative_call, is_builtin, is_soft, same_name, spelled_out

_DIFFERENTIAL = {*OPERATORS, "curl", "rot", "advect", "Δ"} - {"dot"}
_TAKES_VECTORS = {"div": 1, "curl": 1, "rot": 1, "advect": 1, "dot": 2, "cross": 2}  # the first arguments of these
_WORDS = ("and", "or", "identity")


def fields_in(texts: Sequence[str], jets: JetSpace | Chart, excluded: Sequence[str] = ()) -> list[str]:
    """Find the fields of a set of equations: whatever carries a time derivative (u_t, u_tt, dt(…u…)).

    >>> fields_in(["u_t = v_x", "dt(v) = u"], JetSpace(["x"]))
    ['u', 'v']
    """
    found: dict[str, None] = {}
    for text in texts:
        for name, jet, inside in _names(text, jets, excluded, _in_time):
            if inside or (jet is not None and jet.time):
                found[name] = None
    return list(found)


def unknowns_in(texts: Sequence[str], jets: JetSpace | Chart, excluded: Sequence[str] = ()) -> list[str]:
    """Find the fields of static equations: whatever is differentiated in space (u_xx, lap(u), div(k*grad(u))).

    With fewer of them than equations, names that mean nothing else are fields too.

    >>> unknowns_in(["lap(u) = v", "v_xx + v_yy = k*u*w"], JetSpace(["x", "y"]), ["k", "w"])
    ['u', 'v']
    """
    found, plain = _spread_and_plain(texts, jets, excluded)
    more = [name for name in plain if name not in found] if found else []
    return [*found, *more[: max(0, len(texts) - len(found))]]


def determined_in(
    texts: Sequence[str], jets: JetSpace | Chart, excluded: Sequence[str], known: Sequence[str], count: int
) -> list[str]:
    """Find the fields without a time derivative in ``count`` equations: what is differentiated in space.

    There are none if the ``known`` fields are as many as the equations. With fewer than there are equations left, names
    that mean nothing else are fields too, first those in equations without a time derivative.

    >>> determined_in(["u_t = u_xx - k*w", "w + w**3 = u"], JetSpace(["x"]), ["k"], ["u"], 2)
    ['w']
    """
    missing = count - len(known)
    without = [text for text in texts if not fields_in([text], jets, excluded)]
    spread, plain = _spread_and_plain([*without, *texts], jets, excluded)
    found = [name for name in spread if name not in known]
    more = [name for name in plain if name not in (*found, *known)]
    return [*found, *more[: max(0, missing - len(found))]] if missing > 0 else []


def _spread_and_plain(
    texts: Sequence[str], jets: JetSpace | Chart, excluded: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the names that are differentiated, and all others that mean nothing else."""
    found: dict[str, None] = {}
    plain: dict[str, None] = {}
    for text in texts:
        for name, jet, inside in _names(text, jets, excluded, _in_space):
            if name not in excluded:
                (found if inside or jet is not None else plain)[name] = None
    return list(found), list(plain)


def vectors_in(texts: Sequence[str], fields: Sequence[str]) -> list[str]:
    """Find the fields that are used as vectors: div(U), curl(U), dot(U, n), advect(U, w), cross(U, B), U[0].

    >>> vectors_in(["U_t = grad(div(U)) - grad(p)", "p_t = -div(U)"], ["U", "p"])
    ['U']
    """
    found: dict[str, None] = {}
    for text in texts:
        tokens = tokenize(text)
        calls: list[tuple[str, int]] = []  # the open parentheses: what is called, and which argument stands there
        for i, token in enumerate(tokens):
            before = tokens[i - 1].text if i else ""
            after = tokens[i + 1].text if i + 1 < len(tokens) else ""
            if token.text in "([":
                calls.append((before if token.text == "(" else "", 0))
            elif token.text in ")]" and calls:
                calls.pop()
            elif token.text == "," and calls:
                calls[-1] = (calls[-1][0], calls[-1][1] + 1)
            name = same_name(token.text, fields) if token.kind == "name" else None
            if name is None:
                continue
            alone = bool(calls) and before in ("(", ",") and after in (")", ",")
            takes = alone and calls[-1][1] < _TAKES_VECTORS.get(calls[-1][0], 0)
            if after == "[" or takes:
                found[name] = None
    return list(found)


def _in_time(word: str, chart: Chart) -> bool:
    """Whether an operator differentiates in time."""
    jet = derivative_call(word, chart)
    return jet is not None and bool(jet.time)


def _in_space(word: str, chart: Chart) -> bool:
    """Whether an operator differentiates."""
    return word in (*_DIFFERENTIAL, "fraclap") or derivative_call(word, chart) is not None


def _names(
    text: str, jets: JetSpace | Chart, excluded: Sequence[str], is_operator: Callable[[str, Chart], bool]
) -> Iterator[tuple[str, Jet | None, bool]]:
    """Yield the names without a meaning of their own, with the derivative that they carry, if any.

    The last entry says whether they stand inside the parentheses of an operator.
    """
    chart = jets if isinstance(jets, Chart) else Chart(jets)
    known = {*excluded, *chart.names, TIME}
    spelled = {spelled_out(name) for name in (*known, *CONSTANTS) if isinstance(name, str)}
    tokens = tokenize(text)
    level, inside = 0, 0  # depth of parentheses, and the depth at which the outermost operator was opened
    for i, token in enumerate(tokens):
        opens = i + 1 < len(tokens) and tokens[i + 1].text == "("
        level += (token.text == "(") - (token.text == ")")
        if level < inside:
            inside = 0
        word = token.text
        if token.kind != "name" or word in known or (not word.isascii() and spelled_out(word) in spelled):
            continue
        split = chart.split_name(word)
        if opens and is_operator(word, chart):
            inside = inside or level + 1
        elif split is not None and not (opens and is_soft(word, chart, called=True)):
            yield split[0], split[1], bool(inside)
        elif not is_builtin(word, chart) and not is_soft(word, chart, called=opens) and word not in _WORDS:
            yield word, None, bool(inside)
