"""Decisions: every transform, enrichment, trial, fallback, route and raised estimate that can take part in a solve.

Each has a name here, which ``solution.decisions`` and reports give with a reason, and which
``Settings(without=(…))`` takes, if the program can do without.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Decision(NamedTuple):
    """Something that was done because the problem, or what was found of it, asked for it.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> rod = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "u = 0")
    >>> for name, reason in fp.solve(rod).decisions:
    ...     print(f"{name}: {reason}")
    closed form: the system is linear with constant coefficients, so time takes no steps
    """

    name: str
    reason: str


#: What can be switched off, by name, one line each.
OPTIONAL: Mapping[str, str] = {
    # transforms
    "known fronts": "what spreads from jumps of data is subtracted in closed form",
    "subspace": "a solution that depends on few directions is found in these coordinates",
    "logarithm": "a positive field whose errors run away is solved for by its logarithm",
    "units": "fields of very different sizes are measured in units of their own",
    "potential": "two fields that keep a linear constraint are derivatives of a potential, as of a stream function",
    "moving coordinates": "coordinates move with thin fronts",
    "breaks in time": "steps end where formulas jump or bend in time, and are short around pulses",
    "narrow features": "points and neurons of the first basis lie where formulas are narrow",
    # enrichments
    "corners": "functions r^λ of corners stand among the neurons",
    "wedges": "functions of corners whose powers are found numerically, for other equations than Laplacians",
    "holes": "multipoles of holes stand among the neurons",
    "boundary layers": "exponentials of thin layers stand among the neurons",
    "narrow sources": "sources with detail are resolved on a box around the shape",
    "nonlinear sources": "nonlinear terms join the sources on that box",
    # trials
    "trial basis": "a rough solve on an interval tells whether a basis must follow the solution, and its width",
    "trial of waves": "a rough solve on a periodic interval tells how many waves are needed",
    "trial of products": "a rough solve on a box tells how wide each axis must be",
    "fitted slopes": "in many dimensions the slopes of neurons are fitted to the data",
    "pilots": "narrow solves compare kinds of features",
    "stretched waves": "waves are faster along axes on which the solution varies faster",
    # routes
    "products": "the basis is a product of networks of the axes",
    "patches": "the domain is divided into patches with neurons of their own, joined by traces",
    "stable cut-off": "functions that carry round-off and make the system unstable are left out",
    "following basis": "the basis is renewed as the solution moves on",
    "initial slopes": "the first basis is placed by the slopes of the initial data",
    "resolved axes": "axes that are resolved keep their width as the others grow",
    "fronts along axes": "the basis follows a front along an axis of a box",
    "coarser companion": "a first solve that is known to be good is judged by a coarser one",
    # refusals
    "condition count": "problems with too many or too few conditions on a side are refused",
    "consistent start": "initial data that violate a linear constraint are refused; without, they are projected",
    "seams": "coefficients that jump where a periodic axis closes are refused",
    # raised estimates
    "doubt": "the estimate is raised to what is left of the equations, which does not fall",
    "blind residuals": "residuals do not tell how much better the finer solution is",
    "growing distance": "the distance of two solutions grows, so the finer one has all of it",
    "abrupt formulas": "formulas jump or bend, so the finer solution has a good part of the distance",
    "errors of steps": "errors of time steps are added to the distance",
    "missed data": "the estimate is raised to what prescribed values and residuals imply",
    "missed forcing": "peaks of a forcing lie between the points",
    "imbalance": "the estimate is raised to what is missing in the balance of storage, fluxes and sources",
    "missed initial data": "both solutions miss the same part of the initial data",
    "unresolved features": "narrow features of the formulas are missed",
}

#: What always takes part where it is needed.
FIXED: Mapping[str, str] = {
    "multipliers": "multipliers of linear constraints, as a pressure, are found from what the other equations leave",
    "curved coordinates": "the problem is solved in the coordinates of its frame",
    "interfaces": "each part of the domain has neurons of its own",
    "rejected subspace": "a solution on few directions did not hold in all coordinates",
    "measured units": "the solve is repeated in units that its solution has shown to be needed",
    "closed form": "time takes no steps",
    "integrator fallback": "another integrator has gone on",
    "first basis again": "placing neurons by the initial data has not helped",
    "wider windows": "a renewed basis has more neurons",
    "lower accuracy of windows": "no basis takes over the solution as accurately as asked",
    "homotopy": "Newton's method starts from a homotopy from the linear equation",
    "renewed features": "features are chosen anew along a path",
    "coarser cut-off": "functions of small singular values spoil eigenfunctions",
    "wider retry": "a solve that has failed is repeated with more neurons",
    "coarser retry": "a solve that has exceeded its limits is repeated with fewer neurons",
    "estimate alone": "the error is estimated by the pilot of the same solve",
    "size of the data": "the error of a linear problem is judged by the size that its data imply",
    "chaos": "errors grow exponentially all the time",
    "stall": "residuals do not fall, or an eigenvalue is hit, so the search ends",
    "earlier answer": "an earlier solve has a smaller error than the last",
}


def distinct(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return decisions without repetition, in their order.

    Examples
    --------
    >>> same = Decision("units", "sizes differ")
    >>> distinct([same, same])
    (Decision(name='units', reason='sizes differ'),)
    """
    return tuple(dict.fromkeys(decisions))


def read_decisions(stored: Iterable[Any]) -> tuple[Decision, ...]:
    """Read pairs of name and reason, as files have them."""
    return tuple(Decision(str(name), str(reason)) for name, reason in stored)
