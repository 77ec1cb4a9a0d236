"""Which names of a text are unknowns: what carries a time derivative or, in static equations, any derivative."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from frozenpinn.language.jets import TIME, Jet, JetSpace
from frozenpinn.language.lexer import tokenize
from frozenpinn.language.scope import OPERATORS, derivative_names, is_builtin


def fields_in(texts: Sequence[str], jets: JetSpace, excluded: Sequence[str] = ()) -> list[str]:
    """Find the fields of a set of equations: whatever carries a time derivative (u_t, u_tt, dt(…u…)).

    >>> fields_in(["u_t = v_x", "dt(v) = u"], JetSpace(["x"]))
    ['u', 'v']
    """
    found: dict[str, None] = {}
    for text in texts:
        for name, jet, inside in _names(text, jets, excluded, {"dt"}):
            if inside or (jet is not None and jet.time):
                found[name] = None
    return list(found)


def unknowns_in(texts: Sequence[str], jets: JetSpace, excluded: Sequence[str] = ()) -> list[str]:
    """Find the fields of static equations: whatever is differentiated in space (u_xx, lap(u), div(k*grad(u))).

    With fewer of them than equations, names that mean nothing else are fields too.

    >>> unknowns_in(["lap(u) = v", "v_xx + v_yy = k*u*w"], JetSpace(["x", "y"]), ["k", "w"])
    ['u', 'v']
    """
    found: dict[str, None] = {}
    plain: dict[str, None] = {}
    operators = {*OPERATORS, *derivative_names(jets)} - {"dot"}
    for text in texts:
        for name, jet, inside in _names(text, jets, excluded, operators):
            if name not in excluded:
                (found if inside or jet is not None else plain)[name] = None
    more = [name for name in plain if name not in found] if found else []
    return [*found, *more[: max(0, len(texts) - len(found))]]


def _names(
    text: str, jets: JetSpace, excluded: Sequence[str], operators: Container[str]
) -> Iterator[tuple[str, Jet | None, bool]]:
    """Yield the names without a meaning of their own, with the derivative that they carry, if any.

    The last entry tells whether they stand inside the parentheses of an operator.
    """
    known = {*excluded, *jets.coordinates, TIME}
    tokens = tokenize(text)
    level, inside = 0, 0  # depth of parentheses, and the depth at which the outermost operator was opened
    for i, token in enumerate(tokens):
        opens = i + 1 < len(tokens) and tokens[i + 1].text == "("
        level += (token.text == "(") - (token.text == ")")
        if level < inside:
            inside = 0
        if token.kind != "name" or token.text in known:
            continue
        split = jets.split_name(token.text)
        if token.text in operators and opens:
            inside = inside or level + 1
        elif split is not None:
            yield split[0], split[1], bool(inside)
        elif not is_builtin(token.text, jets):
            yield token.text, None, bool(inside)
