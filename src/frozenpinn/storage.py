"""Stored solutions: one ``.npz`` file of arrays and a JSON text. Nothing in it is ever executed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frozenpinn.errors import EvaluationError, FrozenPinnError
from frozenpinn.evolution.integrators.hermite import HermiteTrajectory
from frozenpinn.evolution.integrators.propagator import REBUILD
from frozenpinn.evolution.integrators.protocol import Trajectory
from frozenpinn.evolution.semidiscrete import System
from frozenpinn.network.hidden import HiddenLayer
from frozenpinn.network.network import Network
from frozenpinn.network.product import ProductNetwork
from frozenpinn.problem.document import domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.problem.jet import JetSpace
from frozenpinn.problem.problem import Problem
from frozenpinn.solution import Solution

if TYPE_CHECKING:
    from frozenpinn.evolution.spaces import Space

Array = np.ndarray
FORMAT = 1


def save_solution(solution: Solution, file: str) -> None:
    """Write everything that evaluation needs: network, coefficients in time, boundary data in time."""
    arrays: dict[str, Array] = {}
    kind, trajectory = _trajectory_arrays(solution.trajectory)
    arrays |= {f"trajectory/{name}": array for name, array in trajectory.items()}
    spaces = []
    for i, space in enumerate(solution.system.spaces):
        spaces.append({"fields": list(space.fields), "order": space.order, **_put_network(space, i, arrays)})
        if space.network.lift_size:
            for order in range(space.order + 1):
                arrays[f"lift/{i}/{order}"] = _chebyshev(
                    lambda t, s=space, k=order: s.data(t, k), solution.problem.time
                )
    meta = {
        "format": FORMAT,
        "problem": problem_to_dict(solution.problem),
        "domain": domain_to_dict(solution.problem.domain),
        "time": list(solution.problem.time),
        "fields": list(solution.problem.fields),
        "trajectory": kind,
        "integrator": solution.integrator,
        "sampler": solution.sampler,
        "seconds": solution.seconds,
        "error_estimate": solution.error_estimate,
        "spaces": spaces,
    }
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with open(file, "wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def load_solution(file: str) -> Solution:
    """Read a stored solution; it can be evaluated and differentiated like the original."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop("meta").tobytes().decode())
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, OSError, UnicodeDecodeError, EOFError) as error:
        raise FrozenPinnError(f"'{file}' is not a stored frozenpinn solution ({error}).") from None
    if meta.get("format") != FORMAT:
        raise FrozenPinnError(f"'{file}' has format {meta.get('format')!r}; this version reads format {FORMAT}.")
    problem = _problem(meta)
    trajectory = _trajectory(meta["trajectory"], _under(arrays, "trajectory/"))
    spaces = [_space(meta, i, arrays) for i in range(len(meta["spaces"]))]
    system = cast(System, StoredSystem(spaces, trajectory))
    solution = Solution(
        cast(Problem, problem), system, trajectory, meta["integrator"], meta["sampler"], meta["seconds"]
    )
    solution.error_estimate = meta["error_estimate"]
    return solution


def _under(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# ---- problem and system of a stored solution -------------------------------------------------------


@dataclass(frozen=True)
class StoredProblem:
    """What remains of a problem whose data were Python functions: enough to evaluate its solution."""

    domain: Any
    time: tuple[float, float]
    fields: tuple[str, ...]
    orders: dict[str, int]
    jets: JetSpace
    exact: Mapping[str, Any]

    def equation(self, field: str) -> Any:
        """Return the time order of a field, as an equation would tell it."""
        return SimpleNamespace(order=self.orders[field])

    @property
    def equations(self) -> tuple[Any, ...]:
        """Not stored."""
        raise EvaluationError("this solution was stored without its equations, as they contain Python functions.")


def _problem(meta: Mapping[str, Any]) -> Problem | StoredProblem:
    if meta["problem"] is not None:
        import warnings

        with warnings.catch_warnings():  # warned about when the problem was stated
            warnings.simplefilter("ignore")
            return problem_from_dict(meta["problem"])
    domain = domain_from_dict(meta["domain"])
    orders = {name: space["order"] for space in meta["spaces"] for name in space["fields"]}
    return StoredProblem(domain, tuple(meta["time"]), tuple(meta["fields"]), orders, JetSpace(domain.coordinates), {})


class StoredSystem:
    """The spaces of a stored solution; rates come from the trajectory instead of the equation."""

    rhs_evaluations = jacobian_evaluations = 0
    structure, spectral_abscissa = "not stored", float("nan")

    def __init__(self, spaces: list[Any], trajectory: Trajectory) -> None:
        self.spaces = tuple(spaces)
        self._trajectory = trajectory
        starts = np.concatenate([[0], np.cumsum([s.network.size for s in spaces])])
        self.blocks = tuple(slice(int(a), int(b)) for a, b in pairwise(starts))
        self.coefficients = int(starts[-1])
        self.size = self.coefficients + sum(s.network.size for s in spaces if s.order == 2)

    space_of = System.space_of
    split = System.split

    def rhs(self, t: float, y: Array) -> Array:
        """Return y' by differentiating the trajectory."""
        return self._trajectory.rates(np.array([t]))[0]


def _space(meta: Mapping[str, Any], index: int, arrays: Mapping[str, Array]) -> Any:
    entry = meta["spaces"][index]
    network = _network(entry, _under(arrays, f"network/{index}/"))
    lifts = {int(k): v for k, v in _under(arrays, f"lift/{index}/").items()}
    start, end = meta["time"]

    def data(t: float, order: int = 0) -> Array:
        s = 2.0 * (t - start) / (end - start) - 1.0
        return np.asarray(np.polynomial.chebyshev.chebval(s, lifts[order]))

    return SimpleNamespace(fields=tuple(entry["fields"]), order=entry["order"], network=network, data=data)


# ---- trajectories ----------------------------------------------------------------------------------


def _trajectory_arrays(trajectory: Trajectory) -> tuple[str, dict[str, Array]]:
    kind = trajectory.name if trajectory.name in REBUILD else "hermite"
    return kind, trajectory.arrays()


def _trajectory(kind: str, arrays: Mapping[str, Array]) -> Trajectory:
    if kind == "hermite":
        return HermiteTrajectory(arrays["times"], arrays["states"], arrays["rates"])
    if kind not in REBUILD:
        raise FrozenPinnError(f"unknown trajectory '{kind}' in a stored solution.")
    return REBUILD[kind](arrays)


def _chebyshev(function: Any, time: tuple[float, float], largest: int = 1024) -> Array:
    """Return Chebyshev coefficients of a vector function of time, as many as it needs."""
    start, end = time
    degree = 16
    while True:
        nodes = np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        values = np.array([function(start + (end - start) * (s + 1) / 2) for s in nodes])
        coefficients = np.polynomial.chebyshev.chebfit(nodes, values, degree)
        tail = np.max(np.abs(coefficients[-3:])) if coefficients.size else 0.0
        if tail <= 1e-13 * max(np.max(np.abs(coefficients), initial=0.0), 1e-300) or degree >= largest:
            return np.asarray(coefficients)
        degree *= 2


# ---- networks --------------------------------------------------------------------------------------


def _put_network(space: Space, index: int, arrays: dict[str, Array]) -> dict[str, Any]:
    network = space.network
    prefix = f"network/{index}/"
    if isinstance(network, ProductNetwork):
        arrays[prefix + "indices"], arrays[prefix + "lift_indices"] = network.indices, network.lift_indices
        kinds = [_put_ridge(f, f"{prefix}{k}/", arrays) for k, f in enumerate(network.factors)]
        return {"network": "product", "activations": kinds}
    return {"network": "ridge", "activations": [_put_ridge(cast(Network, network), prefix + "0/", arrays)]}


def _put_ridge(network: Network, prefix: str, arrays: dict[str, Array]) -> str:
    hidden = network.hidden
    for name in ("weights", "origins", "offsets"):
        arrays[prefix + name] = getattr(hidden, name)
    raw = len(network.fields) * hidden.size
    arrays[prefix + "mixing"] = network.mixing.reshape(raw, network.size)
    arrays[prefix + "lifting"] = network.lifting.reshape(raw, network.lift_size)
    arrays[prefix + "singular"] = network.singular_values
    return hidden.activation


class _Lifting:
    """A boundary layer of which only the lifting is left."""

    def __init__(self, lifting: Array) -> None:
        self.lifting = lifting


def _network(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> Any:
    fields = tuple(entry["fields"])
    factors = []
    for k, activation in enumerate(entry["activations"]):
        own = _under(arrays, f"{k}/")
        hidden = HiddenLayer(own["weights"], own["origins"], own["offsets"], activation)
        layer = cast(Any, _Lifting(own["lifting"]))
        factors.append(
            Network(hidden, cast(Any, None), fields, layer, None, own["mixing"], None, own["singular"], own["singular"])
        )
    if entry["network"] == "ridge":
        return factors[0]
    return ProductNetwork(tuple(factors), cast(Any, None), arrays["indices"], arrays["lift_indices"], fields)
