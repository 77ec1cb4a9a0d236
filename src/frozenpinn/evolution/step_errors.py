"""Errors of time steps, and what the problem makes of them: multiplied, kept or forgotten.

Two solves with the same integrator may share the errors of their steps, so their distance does not show them. Here the
trajectory is put into its system, whatever the method: what it leaves, d = y' − f(t, y), makes an error e' = J e + d.
Over a step that is ∫ exp(J (b − t)) d(t) dt, in which errors of the interpolation between steps cancel. One step of
each of some groups is evaluated. Errors are followed on the smoothest functions of the basis, and on those that the
solution itself is made of; errors in rough functions show in residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from frozenpinn.assembly.discretisation import Discretisation
from frozenpinn.basis.protocol import Basis
from frozenpinn.evolution.narrow_features import is_abrupt
from frozenpinn.geometry.points import gauss
from frozenpinn.integrators.protocol import Trajectory, states_and_rates
from frozenpinn.results.expansion import Piece
from frozenpinn.results.solution import Solution
from frozenpinn.runtime.memo import remembered
from frozenpinn.runtime.seeds import Seed
from frozenpinn.search.rules import Effort, StepErrorRules
from frozenpinn.transforms import Logarithm

Array = np.ndarray
_RULES = StepErrorRules()
_SMALL = 1e-3  # part of the largest state that nudges refer to at least
_LARGEST = 1e200  # beyond which errors and growth are not followed


class StepErrors(NamedTuple):
    """What steps have added up to.

    Attributes
    ----------
    times
        Some times, ascending.
    sizes
        Root mean square of the error over space at these times, for each field that was solved for.
    factor
        By how much the problem multiplies errors, at most: of the start until any time, or of any time until the end.
    relative
        The largest of these errors, each relative to how large its field gets.
    """

    times: Array
    sizes: dict[str, Array]
    factor: float
    relative: Array

    def of(self, name: str, size: float = 0.0) -> Array:
        """Return the error of a field at the times; one of that size that was not solved for follows from others."""
        return self.sizes[name] if name in self.sizes else size * self.relative

    def whole(self, name: str, size: float = 0.0) -> float:
        """Return the root mean square over space and time for a field."""
        span = self.times[-1] - self.times[0]
        return float(np.sqrt(np.trapezoid(self.of(name, size) ** 2, self.times) / span))


@remembered
def step_errors(solution: Solution, closely: bool = False, rules: StepErrorRules = _RULES) -> StepErrors | None:
    """Return what the steps of a solution have added up to; None if there are none, or it can't be estimated.

    Few directions see growth that others would damp. So their estimate is doubted where it exceeds the distance of two
    solutions, and ``closely`` follows errors in many directions, at several times the cost.
    """
    many = 400  # coefficients of a product, above which evaluating many states costs as much as steps
    per_group = 8  # steps
    fewest = 4  # groups of a window, if there are many
    pieces, problem = solution.pieces, solution.problem
    if problem.is_static or not any(piece.trajectory.steps for piece in pieces):
        return None
    if not all(_can_be_judged(piece) for piece in pieces):
        return None
    total = sum(max(1, piece.trajectory.steps) for piece in pieces)
    large = max(piece.layout.size for piece in pieces) > many and pieces[0].expansions[0].basis.is_product
    effort = rules.brief if large else rules.closer if closely else rules.usual
    groups = min(max(effort.groups[0], total // per_group), effort.groups[1])
    system = pieces[0].system
    assert system is not None
    solved_for = system.problem.evolving  # others follow from these
    times, sizes = [np.array([problem.time[0]])], {name: [np.zeros(1)] for name in solved_for}
    largest = dict.fromkeys(solved_for, 1e-300)
    until, since = [1.0], [1.0]  # growth from the start on, and until the end
    for piece in pieces:
        count = max(fewest, round(groups * max(1, piece.trajectory.steps) / total))
        part = _of_piece(piece, count, effort, rules, is_abrupt(problem))
        if part is None:
            return None
        times.append(part.times)
        for name in solved_for:
            own = part.sizes[name]
            largest[name] = max(largest[name], part.largest[name])
            before = sizes[name][-1][-1]
            sizes[name].append(np.hypot(before * part.growth, own))
        until.extend(until[-1] * part.growth)
        since = [*(since_one * part.rest[0] for since_one in since), *part.rest]
    factor = float(max(*until, *since))
    found = {name: np.concatenate(own) for name, own in sizes.items()}
    relative = np.max([own / largest[name] for name, own in found.items()], axis=0)
    return StepErrors(np.concatenate(times), found | _of_determined(solution, found), factor, relative)


def _of_determined(solution: Solution, found: dict[str, Array]) -> dict[str, Array]:
    """Return errors of fields without a time derivative: how these answer to some smooth errors of the others."""
    smooth, tried = 10, 3  # functions that errors consist of, and how many errors are tried
    piece = solution.pieces[-1]
    if piece.system is None or piece.system.elimination is None or piece.determined is None:
        return {}
    z, t, rng = (
        piece.system.elimination.determined,
        0.5 * (piece.start + piece.end),
        np.random.default_rng(Seed.STEP_ERRORS),
    )
    y = piece.trajectory(np.array([t]))[0]
    value = np.concatenate(
        [piece.coefficients(np.array([t]), len(piece.expansions) + k)[0] for k in range(len(z.spaces))]
    )
    slopes, answers = z.slopes(t, z.joined(y, value)), np.zeros(len(z.spaces))
    z.last.z, z.last.factor = value, None
    ends = np.cumsum([0, *(space.network.size for space in z.spaces)])
    for _ in range(tried):
        nudge = np.zeros(len(y))
        for block, space in zip(piece.layout.blocks, piece.system.spaces, strict=True):
            places = _smoothest(space.network.sizes, smooth)
            nudge[block.start + np.asarray(places)] = rng.normal(size=len(places))
        moved = z.response(t, y, value, slopes, nudge / np.linalg.norm(nudge))
        own = [np.linalg.norm(moved[a:b]) for a, b in pairwise(ends)]
        answers = np.maximum(answers, own)
    whole = np.sqrt(np.sum([own**2 for own in found.values()], axis=0))
    return {name: answer * whole for space, answer in zip(z.spaces, answers, strict=True) for name in space.fields}


def _can_be_judged(piece: Piece) -> bool:
    """Whether a window is known with its system, and coefficients are a norm of functions.

    On a subspace, means are those over its own domain.
    """
    if piece.system is None or piece.view(Logarithm) is not None:
        return False
    return all(s.network.is_orthonormal for s in piece.system.spaces)


class _Part(NamedTuple):
    """Errors of one window at the ends of groups of steps, sizes of fields, growth from its start and to its end."""

    times: Array
    sizes: dict[str, Array]
    largest: dict[str, float]
    growth: Array
    rest: Array


def _of_piece(piece: Piece, count: int, effort: Effort, rules: StepErrorRules, abrupt: bool) -> _Part | None:
    system, trajectory = piece.system, piece.trajectory
    assert system is not None
    breaks = np.unique(np.clip(trajectory.breaks, piece.start, piece.end))
    if len(breaks) < 2:
        return None
    if trajectory.kind == "modal":  # polynomials of high degree on long steps
        long = rules.long_closer if effort is rules.closer else rules.long
        effort = replace(long, groups=effort.groups)
    breaks, chosen = _grouped(breaks, count, count // 2)
    turning = False
    if not system.is_linear and effort.states > rules.brief.states:
        fine, cuts = _turns(trajectory, breaks, rules)
        turning = len(cuts) > len(chosen)
        if turning:
            chosen = np.union1d(np.searchsorted(fine, breaks[chosen]), cuts)
            breaks, effort = fine, rules.turning
    edges = breaks[chosen]
    if abrupt and effort.states > rules.brief.states:
        choice = _worst_steps(piece, breaks, chosen, rules)
    else:
        choice = _sampled(breaks, edges)
    with np.errstate(all="ignore"):
        return _looked_at(piece, breaks, edges, choice, effort, abrupt, turning)


class _Choice(NamedTuple):
    """One step of each group, the group's mean residual relative to the step's, and the step's share of its time."""

    steps: Array
    weights: Array
    shares: Array


def _looked_at(
    piece: Piece, breaks: Array, edges: Array, choice: _Choice, effort: Effort, abrupt: bool, turning: bool
) -> _Part | None:
    """Put chosen steps into the system, and follow what they leave."""
    system, trajectory = piece.system, piece.trajectory
    assert system is not None
    a, b = breaks[choice.steps], breaks[choice.steps + 1]
    nodes, weights = gauss(effort.nodes)
    moments = a[:, None] + (b - a)[:, None] * nodes
    middle = effort.nodes // 2
    states, rates = states_and_rates(trajectory, np.concatenate([moments.ravel(), a, b]))
    states, first, last = np.split(states, [moments.size, moments.size + len(a)])
    shape = (len(a), effort.nodes, states.shape[1])
    wanted = system.rates(moments.ravel(), states).reshape(shape)
    found = rates[: moments.size].reshape(shape)
    states = states.reshape(shape)[:, middle]
    jumps = (last - first) / (b - a)[:, None] - np.einsum("k,gkn->gn", weights, found)
    left = found - wanted
    if not all(np.all(np.isfinite(values)) for values in (left, jumps, states)):
        return None
    worst = np.einsum("k,gkn->gn", weights, left)
    worst = worst[int(np.argmax(np.linalg.norm(worst, axis=1)))]
    seen = [worst, states[-1], states[0], states[len(states) // 2]]
    vectors = directions(system, seen[: effort.states], effort)
    jacobians = _jacobians(system, moments[:, middle], states, wanted[:, middle], vectors, abrupt)
    if not np.all(np.isfinite(jacobians)):
        return None
    inner, ends = _within(jacobians, b - a, left @ vectors)
    added = choice.weights[:, None] * (jumps @ vectors + ends / (b - a)[:, None])
    if not np.all(np.isfinite(added)):
        return None
    if turning:
        jacobians = _averaged(piece, edges, vectors, abrupt)
    return _followed(piece, edges, vectors, jacobians, added, np.sqrt(choice.shares)[:, None, None] * inner)


def _within(jacobians: Array, lengths: Array, left: Array) -> tuple[Array, Array]:
    """Solve e' = J e + d on steps from e = 0 on, by collocation; return e at the nodes and at the ends.

    In between, a trajectory may be wrong though its steps are right. Only a few steps are solved for at once, as a
    large factorisation can't be interrupted.
    """
    together = 8  # steps on which errors are solved for at once
    cuts = range(together, len(lengths), together)
    groups = zip(*(np.split(values, cuts) for values in (jacobians, lengths, left)), strict=True)
    inner, ends = zip(*(_collocated(*own) for own in groups), strict=True)
    return np.concatenate(inner), np.concatenate(ends)


def _collocated(jacobians: Array, lengths: Array, left: Array) -> tuple[Array, Array]:
    groups, count, r = left.shape
    integrals, weights = _collocation(count)
    load = lengths[:, None, None] * np.einsum("kj,gjr->gkr", integrals, left)
    coupled = np.einsum("kj,gab->gkajb", integrals, lengths[:, None, None] * jacobians)
    matrix = np.eye(count * r) - coupled.reshape(groups, count * r, count * r)
    inner = np.linalg.solve(matrix, load.reshape(groups, count * r, 1)).reshape(groups, count, r)
    rates = left + np.einsum("gab,gkb->gka", jacobians, inner)
    return inner, lengths[:, None] * np.einsum("k,gkr->gr", weights, rates)


@cache
def _collocation(count: int) -> tuple[Array, Array]:
    """Return the integrals from 0 to each Gauss node, and to 1, of the polynomial through values at the nodes."""
    nodes, weights = gauss(count)
    powers = np.linalg.inv(np.polynomial.legendre.legvander(2.0 * nodes - 1.0, count - 1))  # values to coefficients
    return np.stack([_legendre_integral(k, nodes) for k in range(count)], axis=1) @ powers, weights


def _legendre_integral(degree: int, places: Array) -> Array:
    """Return the integral of a Legendre polynomial on [0, 1] from 0 on."""
    series = np.polynomial.legendre.legint(np.eye(1, degree + 1, degree)[0], lbnd=-1.0)
    return np.asarray(np.polynomial.legendre.legval(2.0 * places - 1.0, series)) / 2.0


def _grouped(breaks: Array, count: int, least: int) -> tuple[Array, Array]:
    """Return where a trajectory may be cut, and the indices of about so many of them: by steps, and by time.

    If there are fewer than ``least``, steps are divided.
    """
    steps = len(breaks) - 1
    if steps < least:
        fine = _divided(breaks, -(-least // steps))
        return fine, np.arange(len(fine))
    half = max(1, count // 2)
    by_steps = np.round(np.linspace(0, steps, half + 1)).astype(int)
    by_time = np.searchsorted(breaks, np.linspace(breaks[0], breaks[-1], half + 1)[1:-1])
    return breaks, np.unique(np.concatenate([by_steps, np.clip(by_time, 0, steps)]))


def _divided(breaks: Array, parts: int) -> Array:
    """Return the ends of equal parts of all steps."""
    inner = [np.linspace(a, b, parts, endpoint=False) for a, b in pairwise(breaks.tolist())]
    return np.append(np.concatenate(inner), breaks[-1])


def _turns(trajectory: Trajectory, breaks: Array, rules: StepErrorRules) -> tuple[Array, Array]:
    """Return where a trajectory that goes round and round may be cut, and where to: the linearisation turns with it.

    Long steps, on which states turn far, are divided.
    """
    most = 1600  # groups; "cubic rotation" of the study "nasty" needs 310
    turn = 0.3  # largest change of a state, relative to its size, during a group of steps
    stride, path = _path(trajectory, breaks, rules)
    if (parts := int(min(path[-1] / turn, most) / (len(breaks) - 1))) > 0:
        breaks = _divided(breaks, 1 + parts)
        stride, path = _path(trajectory, breaks, rules)
    count = int(min(path[-1] / turn, most))
    cuts = stride * np.searchsorted(path, np.linspace(0.0, path[-1], count + 1))
    return breaks, np.unique(np.clip(cuts, 0, len(breaks) - 1))


def _path(trajectory: Trajectory, breaks: Array, rules: StepErrorRules) -> tuple[int, Array]:
    """Return a stride, and how far states have moved, relative to their size, at every such break."""
    stride = -(-len(breaks) // rules.scanned)
    states, _ = states_and_rates(trajectory, breaks[::stride])
    sizes = np.linalg.norm(states, axis=1)
    least = max(1e-3 * float(np.max(sizes)), 1e-300)  # nothing may have happened yet
    steps = np.linalg.norm(np.diff(states, axis=0), axis=1) / np.maximum(sizes[1:], least)
    return stride, np.concatenate([[0.0], np.cumsum(np.nan_to_num(steps))])


def _averaged(piece: Piece, edges: Array, vectors: Array, abrupt: bool) -> Array:
    """Return for each group the matrix whose exponential carries errors through it, by Magnus' formula of fourth order.

    A linearisation that is frozen, or averaged, makes errors oscillate that in truth add up: those of a phase, which
    grow with the error of an amplitude.
    """
    system = piece.system
    assert system is not None
    lengths, found = np.diff(edges), []
    for node in (0.5 - np.sqrt(3.0) / 6.0, 0.5 + np.sqrt(3.0) / 6.0):
        times = edges[:-1] + node * lengths
        states, _ = states_and_rates(piece.trajectory, times)
        found.append(_jacobians(system, times, states, system.rates(times, states), vectors, abrupt))
    first, second = found
    commutator = second @ first - first @ second
    return np.asarray((first + second) / 2.0 + np.sqrt(3.0) / 12.0 * lengths[:, None, None] * commutator)


def _sampled(breaks: Array, edges: Array) -> _Choice:
    """Return a step of each group, by a time in it that is drawn: long steps count for more."""
    rng = np.random.default_rng(Seed.STEP_ERRORS)
    moments = edges[:-1] + np.diff(edges) * rng.uniform(0.05, 0.95, len(edges) - 1)
    steps = np.clip(np.searchsorted(breaks, moments, side="right") - 1, 0, len(breaks) - 2)
    return _Choice(steps, np.ones(len(steps)), np.ones(len(steps)))


def _worst_steps(piece: Piece, breaks: Array, chosen: Array, rules: StepErrorRules) -> _Choice:
    """Return the step of each group that leaves most.

    Where right-hand sides have corners, one step of many may have all of the error.
    """
    corners = 3.0  # factor by which errors at corners are underestimated: no quadrature is exact there
    assert piece.system is not None
    found = []
    for moments in np.split(
        breaks[:-1] + 0.4 * np.diff(breaks), np.arange(rules.scanned, len(breaks) - 1, rules.scanned)
    ):
        with np.errstate(all="ignore"):
            states, rates = states_and_rates(piece.trajectory, moments)
            found.append(np.linalg.norm(rates - piece.system.rates(moments, states), axis=1))
    sizes = np.nan_to_num(np.concatenate(found) * np.diff(breaks))
    steps, weights, shares = [], [], []
    for a, b in pairwise(chosen.tolist()):
        k = a + int(np.argmax(sizes[a:b]))
        whole, length = float(np.sum(sizes[a:b])), float(breaks[b] - breaks[a])
        steps.append(k)
        share = float(breaks[k + 1] - breaks[k]) / length
        shares.append(share)
        weights.append(corners * whole / sizes[k] * share if sizes[k] > 0 else 1.0)
    return _Choice(np.array(steps), np.array(weights), np.array(shares))


def _jacobians(
    system: Discretisation, times: Array, states: Array, rates: Array, vectors: Array, abrupt: bool
) -> Array:
    """Return the linearisation in some directions at several times and states, (groups, r, r).

    Differences are cheapest, of all states at once; corners of a right-hand side need the derivatives themselves.
    """
    nudge = 1e-6  # of states, to differentiate the right-hand side
    if abrupt:
        operators = [system.jacobian_operator(float(t), y) for t, y in zip(times, states, strict=True)]
        return np.stack([vectors.T @ np.stack([j @ v for v in vectors.T], axis=1) for j in operators])
    norms = np.linalg.norm(states, axis=1)
    nudges = nudge * np.maximum(norms, max(_SMALL * float(np.max(norms)), 1e-300))
    moved = states[:, None, :] + nudges[:, None, None] * vectors.T[None]
    r = vectors.shape[1]
    found = system.rates(np.repeat(times, r), moved.reshape(-1, states.shape[1])).reshape(moved.shape)
    changes = (found - rates[:, None, :]) / nudges[:, None, None]
    return np.asarray(np.einsum("ni,gjn->gij", vectors, changes))


def _followed(piece: Piece, edges: Array, vectors: Array, jacobians: Array, added: Array, inner: Array) -> _Part | None:
    """Solve e' = J e + d from group to group; errors within steps do not go on."""
    from scipy.linalg import expm

    system, count = piece.system, vectors.shape[1]
    assert system is not None
    n = system.layout.coefficients
    second = len(system.layout.moving) > 0
    seen = slice(0, count // 2 if second else count)  # positions, not velocities
    error, steps, maps = np.zeros(count), [], []
    for length, jacobian, rate in zip(np.diff(edges), jacobians, added, strict=True):
        whole = np.zeros((count + 1, count + 1))
        whole[:count, :count], whole[:count, count] = jacobian, rate
        with np.errstate(all="ignore"):
            map_ = expm(whole * length)
            error = map_[:count, :count] @ error + map_[:count, count]
        if not np.all(np.isfinite(map_)) or np.max(np.abs(error)) > _LARGEST:
            return None
        steps.append(error)
        maps.append(map_[:count, :count])
    values, between = np.stack(steps) @ vectors.T[:, :n], inner @ vectors.T[:, :n]
    measure = float(np.sum(system.points.weights))
    sizes, largest = {}, {}
    states, _ = states_and_rates(piece.trajectory, edges)
    for block, space in zip(system.layout.blocks, system.spaces, strict=True):
        local = np.sqrt(np.mean(np.sum(between[:, :, block] ** 2, axis=2), axis=1))
        own = np.hypot(np.linalg.norm(values[:, block], axis=1), local) / np.sqrt(measure)
        for name in space.fields:
            sizes[name] = own * piece.unit(name)
            norms = np.linalg.norm(states[:, :n][:, block], axis=1)
            largest[name] = float(np.max(norms)) / np.sqrt(measure) * piece.unit(name)
    growth, rest = _growths(maps, seen), _growths([m.T for m in reversed(maps)], seen)[::-1]
    return _Part(edges[1:], sizes, largest, growth, rest)


def _growths(maps: list[Array], seen: slice) -> Array:
    """Return the norms of the products of maps, up to each of them."""
    product, found = np.eye(len(maps[0])), []
    with np.errstate(all="ignore"):
        for map_ in maps:
            product = map_ @ product
            found.append(min(float(np.linalg.norm(product[seen, seen])), _LARGEST))
    return np.nan_to_num(np.array(found), nan=_LARGEST) / np.sqrt(max(1, len(product[seen])))


# ---- directions in which errors are followed -----------------------------------------------------------------------


def directions(system: Discretisation, states: Sequence[Array], effort: Effort) -> Array:
    """Return orthonormal directions in which errors are followed, as columns; velocities have the same ones."""
    layout, n = system.layout, system.layout.coefficients
    columns = []
    for block, space in zip(layout.blocks, system.spaces, strict=True):
        for k in _smoothest(space.network.sizes, max(effort.each, effort.smooth // len(system.spaces))):
            columns.append(np.eye(1, n, block.start + k)[0])
        smooth = [_bubble(system, space.network)] if space.network.is_product else []
        for part in (*smooth, *(state[:n][block] for state in states)):
            own = np.zeros(n)
            own[block] = part
            size = float(np.linalg.norm(own))
            if size > 0:
                columns.append(own / size)
    left, values, _ = np.linalg.svd(np.stack(columns, axis=1), full_matrices=False)
    kept = left[:, values > 1e-6 * values[0]]
    if not len(layout.moving):
        return kept
    zero = np.zeros((len(layout.moving), kept.shape[1]))
    return np.block([[kept, np.zeros_like(kept)], [zero, kept[layout.moving]]])


def _smoothest(sizes: tuple[int, ...], count: int) -> Array:
    """Return the indices of the smoothest functions of a basis, which go from smooth to rough along each axis."""
    if len(sizes) == 1:
        return np.arange(min(count, sizes[0]))
    few = [min(n, count) for n in sizes]
    index = np.indices(few).reshape(len(few), -1)
    first = np.argsort(index.sum(axis=0), kind="stable")[:count]
    return np.asarray(np.ravel_multi_index(tuple(index[:, first]), sizes))


def _bubble(system: Discretisation, network: Basis) -> Array:
    """Return the coefficients of a function with one hump in a box: what grows most is smooth.

    The first functions of a product need not be, as sines are sorted by how well they can be distinguished.
    """
    domain = system.problem.domain
    s = (system.points.x - domain.lower) / domain.lengths
    return np.asarray(network.projector() @ np.prod(4.0 * s * (1.0 - s), axis=1))
