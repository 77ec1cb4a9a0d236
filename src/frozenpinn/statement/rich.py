"""A problem as notebooks show it: equations as mathematics, what is given, a picture of the domain."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from frozenpinn.geometry.box import Box
from frozenpinn.geometry.cells import loops
from frozenpinn.runtime.html import card, table
from frozenpinn.statement.problem import stated_equations

if TYPE_CHECKING:
    from frozenpinn.geometry.domain import Domain
    from frozenpinn.statement.equation import Equation
    from frozenpinn.statement.findings import Findings
    from frozenpinn.statement.problem import Problem

_MARKS = {"error": "✖", "warning": "▲", "note": "●"}


def problem_html(problem: Problem) -> str:
    """Return a problem as HTML."""
    texts = stated_equations(problem)
    own = texts == tuple(map(str, problem.equations))
    shown = [_formula(problem, e) for e in problem.equations] if own else [f"<code>{escape(t)}</code>" for t in texts]
    equations = "".join(f"<div style='margin:.25em 0'>{formula}</div>" for formula in shown)
    rows = [("domain", repr(problem.stated))]
    if not problem.is_static:
        rows.append(("time", f"{problem.time[0]:g} … {problem.time[1]:g}"))
    for name, datum in getattr(problem, "initial", {}).items():
        rows.append((f"{name} at the start", _shown(datum)))
    sides: dict[str, list[str]] = {}
    for condition in problem.conditions:
        sides.setdefault(condition.text, []).append(condition.side.name)
    rows += [(f"on {', '.join(names)}", text) for text, names in sides.items()]
    rows += [("periodic in", c) for c, p in zip(problem.domain.coordinates, problem.domain.periodic, strict=True) if p]
    picture = domain_svg(problem.domain)
    body = (
        f"<div style='display:flex;gap:1.5em;align-items:center;flex-wrap:wrap'><div>{table(rows)}</div>{picture}</div>"
    )
    return card("Problem", equations, body)


def _formula(problem: Problem, equation: Equation) -> str:
    """Return an equation as MathML, which browsers typeset, or as text if it is long."""
    long = 500  # letters of an equation that is shown as text
    text = str(equation)
    if len(text) > long:
        return f"<code>{escape(text[:long])} …</code>"
    try:
        from sympy.printing.mathml import mathml

        found = problem.jets.jets_in(equation.right_side).values()
        names = {
            problem.jets.symbol(jet): sp.Symbol(f"Δ{jet.field}") for jet in found if jet.laps == 1 and jet.order == 2
        }
        right = mathml(equation.right_side.xreplace(names), printer="presentation")
    except (TypeError, ValueError, AttributeError, NotImplementedError):
        return f"<code>{escape(text)}</code>"
    if equation.mass:
        return f"<code>{escape(text)}</code>"
    suffix = f"<msub><mi>{escape(equation.field)}</mi><mi>{'t' * equation.order}</mi></msub>"
    left = suffix if equation.order else "<mn>0</mn>"
    return (
        f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><mrow>{left}<mo>=</mo>{right}</mrow></math>'
    )


def _shown(datum: Any) -> str:
    text = str(getattr(datum, "text", None) or getattr(datum, "expression", None) or "given by a function or a table")
    return text if len(text) <= 120 else text[:120] + " …"


def domain_svg(domain: Domain) -> str:
    """Return a picture of a domain in one or two dimensions; nothing of others."""
    width, height = 170, 120  # of the picture, at most
    if domain.dimension > 2:
        return ""
    style = 'fill="rgba(0,114,178,.18)" stroke="currentColor" stroke-width="1.3" fill-rule="evenodd"'
    if domain.dimension == 1:
        first, last = f"{domain.lower[0]:g}", f"{domain.upper[0]:g}"
        end = width + 10
        return (
            f'<svg width="{end + 10}" height="40" role="img" aria-label="domain">'
            f'<path d="M10 14H{end}M10 8v12M{end} 8v12" {style}/><g font-size="11" fill="currentColor">'
            f'<text x="4" y="34">{first}</text><text x="{end + 6}" y="34" text-anchor="end">{last}</text></g></svg>'
        )
    scale = min(width / domain.lengths[0], height / domain.lengths[1])
    size = domain.lengths * scale
    path = "".join(_path(np.array(loop), domain, scale) for loop in loops(domain, 1 if isinstance(domain, Box) else 60))
    return (
        f'<svg width="{size[0] + 4:.0f}" height="{size[1] + 4:.0f}" role="img" aria-label="domain">'
        f'<path d="{path}" {style}/></svg>'
    )


def _path(loop: np.ndarray, domain: Domain, scale: float) -> str:
    x = 2 + (loop[:, 0] - domain.lower[0]) * scale
    y = 2 + (domain.upper[1] - loop[:, 1]) * scale
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True)) + "Z"


def findings_html(findings: Findings) -> str:
    """Return findings as HTML, the worst first."""
    entries = [entry for severity in _MARKS for entry in findings.of(severity)]  # type: ignore[arg-type]
    if not entries:
        return card("Findings", "no objections")
    return card("Findings", table([(_MARKS[e.severity], f"{e.severity} ({e.kind})", e.text) for e in entries]))
