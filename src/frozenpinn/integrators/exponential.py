"""Exponential collocation for semi-linear systems y' = A y + b(t) + n(t, y) whose A has good eigenvectors.

On a window, β(t) = b + n(t, y(t)) is a polynomial through Chebyshev nodes; the linear part is solved exactly against
it, mode by mode (see modal.py), which gives y at the nodes and so a new β. This fixed point is iterated: it converges
as fast as n is smooth, whatever the stiffness of A. Windows are halved where the iteration stalls or the polynomial
does not decay, and doubled where both are easy. The order is that of the polynomial, seventeen values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev

from frozenpinn.errors import IntegrationError, SettingsError
from frozenpinn.integrators.decomposition import Decomposition, decompose
from frozenpinn.integrators.interpolation import DEGREE, chebyshev_nodes
from frozenpinn.integrators.modal import ModalTrajectory, Modes
from frozenpinn.integrators.protocol import (
    NOBODY,
    Guard,
    Integrator,
    Observer,
    OdeSystem,
    Trajectory,
    Work,
    longest_step,
)
from frozenpinn.runtime.arguments import spelled
from frozenpinn.runtime.round_off import TINY

Array = np.ndarray


@spelled(SettingsError)
@dataclass(frozen=True)
class ExponentialCollocation:
    """Exact in the linear part, a convergent iteration in the rest.

    Parameters
    ----------
    rtol
        Relative accuracy of each window.
    fallback
        Integrator to use if the iteration stalls; None raises the error instead.
    iterations, easy
        How many a window may take, and after how many a longer one is tried.

    Examples
    --------
    >>> import frozenpinn as fp
    >>> wave = fp.Problem("u_tt = u_xx - sin(u)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", initial_velocity=0)
    >>> fp.solve(wave, settings=fp.Settings(integrator=fp.integrators.ExponentialCollocation())).integrator
    'exponential'
    """

    rtol: float = 1e-10
    fallback: Integrator | None = None
    iterations: int = 25
    easy: int = 9
    name: str = "exponential"

    def integrate(self, system: OdeSystem, observer: Observer = NOBODY) -> Trajectory:
        """March over dyadic windows of adaptive length."""
        try:
            return self._march(system, observer)
        except IntegrationError:
            if self.fallback is None:
                raise
            return self.fallback.integrate(system, observer)  # whose name the report shows, or whose error is clearer

    def _march(self, system: OdeSystem, observer: Observer) -> Trajectory:
        parts = decompose(system, complete=False)
        if parts is None:
            raise SettingsError(
                "exponential collocation needs a linear part with well-conditioned eigenvectors; "
                "use integrator='cvode'."
            )
        return _March(system, parts, self, Guard(system, self.name, observer)).run()


class _Maps:
    """What a window of one length does to node values of β: values, velocities and coefficients of y."""

    def __init__(self, modes: Modes, length: float) -> None:
        nodes, to_coefficients = chebyshev_nodes()
        fast_map, slow_map = modes.particular(length)
        fast = modes.is_fast(length)
        degree = slow_map.shape[1] - 1
        dtype = np.result_type(fast_map, slow_map)
        full = np.zeros((len(fast), degree + 1, DEGREE + 1), dtype=dtype)
        full[fast, : DEGREE + 1] = fast_map
        full[~fast] = slow_map
        self.to_polynomial = full @ to_coefficients  # (modes, degree + 1, nodes)
        derivatives = [self.to_polynomial]
        if modes.order == 2:
            scale = 2.0 / length
            derivatives.append(chebyshev.chebder(self.to_polynomial, axis=1) * scale)
        signs = (-1.0) ** np.arange(degree + 1)
        at_start = np.stack([np.einsum("k,mkj->mj", signs[: d.shape[1]], d) for d in derivatives])  # (order, m, j)
        tau = length * (np.append(nodes, 1.0) + 1) / 2
        places = np.append(nodes, 1.0)
        at_nodes = np.stack([chebyshev.chebvander(places, d.shape[1] - 1) @ d for d in derivatives])  # (o, m, i, j)
        homogeneous = np.stack([modes.propagate(at_start[:, :, j], tau) for j in range(DEGREE + 1)], axis=-1)
        self.response = at_nodes - np.moveaxis(homogeneous, (0, 1, 2), (2, 0, 1))  # (order, modes, nodes + end, nodes)
        self.at_start = at_start
        self.tau = tau


class _March:
    """The state of an integration: current time, modal state, accepted windows."""

    def __init__(self, system: OdeSystem, parts: Decomposition, settings: ExponentialCollocation, guard: Guard) -> None:
        self.system, self.settings, self.rtol, self.guard = system, settings, settings.rtol, guard
        self.modes, self.vectors, self.left, self.rest = parts.modes, parts.vectors, parts.left, parts.rest
        self.start, self.end = system.time
        self.state = (self.left @ system.initial_state.reshape(self.modes.order, -1).T).T
        self.maps: dict[int, _Maps] = {}
        self.windows: list[tuple[float, float, Array, Array]] = []
        self.evaluations = 0
        self.stopped = False

    def run(self) -> Trajectory:
        """March to the end; a failure keeps what was computed."""
        shortest = 2.0**-14
        # windows are [index, index + 1]·T/2^level; their nodes must be no farther apart than pulses of the forcing last
        longest = 8.0 * longest_step(self.system)
        lowest = max(2, int(np.ceil(np.log2((self.end - self.start) / longest))) if np.isfinite(longest) else 2)
        level, index = max(3, lowest), 0
        try:
            while index < 2**level:
                easy = self._attempt(level, index)
                if easy is None:
                    level, index = level + 1, 2 * index
                    if 2.0**-level < shortest:
                        raise self.guard.failure(self._time(level, index), 0.0, "the windows have shrunk to nothing")
                    continue
                if self.stopped:
                    break
                index += 1
                if easy and level > lowest and index % 2 == 0:
                    level, index = level - 1, index // 2
        except IntegrationError as error:
            error.trajectory = self._trajectory() if self.windows else None
            raise
        return self._trajectory()

    def _time(self, level: int, index: int) -> float:
        return self.start + (self.end - self.start) * index / 2**level

    def _attempt(self, level: int, index: int) -> bool | None:
        """Try one window: None if it must be halved, else whether a longer one would have done."""
        length = (self.end - self.start) / 2**level
        if level not in self.maps:
            self.maps[level] = _Maps(self.modes, length)
        maps, a = self.maps[level], self._time(level, index)
        times = a + maps.tau[:-1]
        free = self.modes.propagate(self.state, maps.tau)  # (nodes + end, order, modes)
        z, previous = free, np.inf
        for iteration in range(self.settings.iterations):
            beta = self._beta(times, z[:-1])
            if not np.all(np.isfinite(beta)):
                return None
            new = free + np.einsum("omij,jm->iom", maps.response, beta)
            change = float(np.max(np.linalg.norm(new[:, 0] - z[:, 0], axis=1))) / self._scale(new)
            z = new
            if change <= self.rtol:
                return self._accept(maps, a, length, beta, z, iteration)
            if not change < 1e3 or (iteration >= 3 and change > 0.5 * previous):
                return None
            previous = change
        return None

    def _scale(self, z: Array) -> float:
        return max(float(np.max(np.linalg.norm(z[:, 0], axis=1))), 1e-3 * self.guard.scale, TINY)

    def _beta(self, times: Array, z: Array) -> Array:
        """Return b + n at the nodes in modal coordinates, shape (nodes, modes)."""
        states = self._states(z)
        self.evaluations += len(times)
        load = self.system.semilinear(times, states).T
        if self.rest is not None:
            load = load + self.rest @ states[:, : len(load)].T
        return (self.left @ load).T

    def _states(self, z: Array) -> Array:
        """Return the states of modal coordinates (m, order, modes), shape (m, size)."""
        return np.concatenate([np.real(self.vectors @ z[:, k].T).T for k in range(self.modes.order)], axis=1)

    def _accept(self, maps: _Maps, a: float, length: float, beta: Array, z: Array, iteration: int) -> bool | None:
        """Check that the polynomial of β has decayed; store the window and move on."""
        coefficients = chebyshev_nodes()[1] @ beta
        reach = 1.0 / np.maximum(self.modes.rates**self.modes.order, (1.0 / length) ** self.modes.order)
        tail = float(np.max(np.linalg.norm(coefficients[-2:] * reach, axis=1))) / self._scale(z)
        if tail > 3 * self.rtol:
            return None
        polynomial = np.einsum("mkj,jm->km", maps.to_polynomial, beta)
        homogeneous = self.state - np.einsum("omj,jm->om", maps.at_start, beta)
        self.windows.append((a, a + length, homogeneous, polynomial))
        self.state = z[-1]
        self.stopped = self.guard.accept(a + length, self._states(z[-1:])[0])
        return iteration <= self.settings.easy and tail < 1e-2 * self.rtol

    def _trajectory(self) -> ModalTrajectory:
        starts, ends, states, polynomials = zip(*self.windows, strict=True)
        rows = max(len(p) for p in polynomials)
        padded = [np.pad(p, ((0, rows - len(p)), (0, 0))) for p in polynomials]
        arrays = (np.array(starts), np.array(ends), np.array(states), np.array(padded))
        return ModalTrajectory(self.modes, self.vectors, *arrays, steps=len(starts), work=Work(self.evaluations))
