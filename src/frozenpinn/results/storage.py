"""Stored solutions: one ``.npz`` file of arrays and a JSON text. Nothing in it is ever executed."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from frozenpinn.adaptivity.estimate import ErrorEstimate
from frozenpinn.analysis.subspace import Subspace
from frozenpinn.assembly.discretisation import System
from frozenpinn.basis.corners import SingularFunctions
from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.errors import EvaluationError, FrozenPinnError
from frozenpinn.geometry import Domain
from frozenpinn.language.jets import JetSpace
from frozenpinn.results.report import Report, finite
from frozenpinn.results.residuals import Residuals
from frozenpinn.results.solution import Piece, Solution, Verdict
from frozenpinn.solvers.exact import REBUILD
from frozenpinn.solvers.hermite import HermiteTrajectory
from frozenpinn.solvers.interpolation import TooManyWindowsError, interpolate, one_by_one
from frozenpinn.solvers.protocol import Trajectory
from frozenpinn.statement.document import domain_from_dict, domain_to_dict, problem_from_dict, problem_to_dict
from frozenpinn.statement.problem import Problem
from frozenpinn.transforms.embedding import embed

if TYPE_CHECKING:
    from frozenpinn.assembly.spaces import Space

Array = np.ndarray
FORMAT = 4
_ON_SUBSPACE = 5  # the same, and directions of which the stored function is one


def save_solution(solution: Solution, file: str) -> None:
    """Write everything that evaluation needs: network, coefficients in time, boundary data in time."""
    arrays: dict[str, Array] = {}
    estimate = solution.error_estimate
    found = solution if solution.reduced is None else solution.reduced
    pieces = [_put_piece(piece, f"{k}/", arrays) for k, piece in enumerate(found.pieces)]
    meta: dict[str, Any] = {
        "format": FORMAT if solution.subspace is None else _ON_SUBSPACE,
        "problem": problem_to_dict(solution.problem) if isinstance(solution.problem, Problem) else None,
        "domain": _domain(solution.problem.domain),
        "time": list(solution.problem.time),
        "fields": list(solution.problem.fields),
        "sampler": solution.sampler,
        "seconds": solution.seconds,
        "error_estimate": None if estimate is None else finite(estimate.as_dict()),
        "verdict": None if solution.verdict is None else finite(solution.verdict._asdict()),
        "report": solution.report.as_dict(),
        "pieces": pieces,
        "witness": None,
    }
    witness = solution.witness
    if witness is not None and (witness.reduced is None) == (solution.reduced is None):
        seen = witness if witness.reduced is None else witness.reduced
        meta["witness"] = [_put_piece(piece, f"witness/{k}/", arrays) for k, piece in enumerate(seen.pieces)]
    if solution.subspace is not None:
        meta["reduced_domain"] = domain_to_dict(found.problem.domain)
        meta["axes"] = solution.subspace.axes
        arrays |= {f"subspace/{name}": getattr(solution.subspace, name) for name in ("rows", "section", "origin")}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with open(file, "wb") as handle:
        np.savez_compressed(handle, **arrays)  # type: ignore[arg-type]


def _domain(domain: Domain) -> dict[str, Any]:
    try:
        return domain_to_dict(domain)
    except TypeError:
        raise FrozenPinnError(
            f"the solution can't be stored, because its domain {domain!r} is made of a Python function; write that "
            "function as text, such as Implicit('x**2 + y**2 - 1', …) or with_sides(inlet='x < 0')."
        ) from None


def _put_piece(piece: Piece, prefix: str, arrays: dict[str, Array]) -> dict[str, Any]:
    """Add the arrays of one window; return what else there is to know."""
    kind, trajectory = _trajectory_arrays(piece.trajectory)
    arrays |= {f"{prefix}trajectory/{name}": array for name, array in trajectory.items()}
    spaces = []
    for i, space in enumerate(piece.system.spaces):
        spaces.append({"fields": list(space.fields), "order": space.order, **_put_network(space, i, prefix, arrays)})
        if space.network.lift_size:
            for order in range(space.order + 1):
                tolerance = 1e-9 if order else 1e-12  # time derivatives of Python functions are differences
                windows = _windows(lambda t, s=space, k=order: s.data(t, k), (piece.start, piece.end), tolerance)  # type: ignore[misc]
                arrays |= {f"{prefix}lift/{i}/{order}/{name}": array for name, array in windows.items()}
    about = {"start": piece.start, "end": piece.end, "loss": piece.loss, "integrator": piece.integrator}
    return {**about, "trajectory": kind, "spaces": spaces}


def load_solution(file: str) -> Solution:
    """Read a stored solution; it can be evaluated and differentiated like the original."""
    with open(file, "rb") as handle:  # a missing or unreadable file tells so itself
        stored_here = zipfile.is_zipfile(handle)
    try:
        if not stored_here:
            raise ValueError("not an archive of arrays")
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        meta = json.loads(arrays.pop("meta").tobytes().decode())
        if meta["format"] in (FORMAT, _ON_SUBSPACE):
            return _rebuild(meta, arrays)
    except (ValueError, TypeError, LookupError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise FrozenPinnError(f"'{file}' is not a stored frozenpinn solution, or it is damaged ({error}).") from None
    raise FrozenPinnError(f"'{file}' has format {meta['format']!r}; this version reads format {FORMAT}.")


def _rebuild(meta: Mapping[str, Any], arrays: Mapping[str, Array]) -> Solution:
    problem = cast(Problem, _problem(meta))
    solution = _of_pieces(meta, arrays, problem, meta["pieces"], "")
    if meta["witness"] is not None:
        solution.witness = _of_pieces(meta, arrays, problem, meta["witness"], "witness/")
    if meta["error_estimate"] is not None:
        solution.error_estimate = ErrorEstimate.from_dict(meta["error_estimate"])
    if meta["verdict"] is not None:
        verdict = meta["verdict"]
        attempts = tuple((w, float("inf") if error is None else error, s) for w, error, s in verdict["attempts"])
        solution.verdict = Verdict(**{**verdict, "attempts": attempts})
    solution.stored_report = Report(**{**meta["report"], "residuals": Residuals(**meta["report"]["residuals"])})
    return solution


def _of_pieces(
    meta: Mapping[str, Any], arrays: Mapping[str, Array], problem: Problem, entries: list[Any], prefix: str
) -> Solution:
    """Return the solution that is made of stored windows, on the subspace if there is one."""
    pieces = [_piece(entry, _under(arrays, f"{prefix}{k}/")) for k, entry in enumerate(entries)]
    if meta["format"] == FORMAT:
        return Solution(problem, pieces, meta["sampler"], meta["seconds"])
    axes = meta["axes"]
    subspace = Subspace(**_under(arrays, "subspace/"), axes=None if axes is None else tuple(axes))
    fewer = _without_equations(meta, domain_from_dict(meta["reduced_domain"]))
    reduced = Solution(cast(Problem, fewer), pieces, meta["sampler"], meta["seconds"])
    return embed(reduced, problem, subspace)


def _piece(entry: Mapping[str, Any], arrays: Mapping[str, Array]) -> Piece:
    trajectory = _trajectory(entry["trajectory"], _under(arrays, "trajectory/"))
    spaces = [_space(entry["spaces"][i], i, arrays) for i in range(len(entry["spaces"]))]
    system = cast(System, StoredSystem(spaces, trajectory))
    return Piece(system, trajectory, entry["start"], entry["end"], entry["loss"], entry["integrator"])


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
    return _without_equations(meta, domain_from_dict(meta["domain"]))


def _without_equations(meta: Mapping[str, Any], domain: Any) -> StoredProblem:
    orders = {name: space["order"] for space in meta["pieces"][0]["spaces"] for name in space["fields"]}
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

    def rates(self, times: Array, states: Array) -> Array:
        """Return y' by differentiating the trajectory."""
        return self._trajectory.rates(times)


def _space(entry: Mapping[str, Any], index: int, arrays: Mapping[str, Array]) -> Any:
    network = _network(entry, _under(arrays, f"network/{index}/"))
    lifts = [_under(arrays, f"lift/{index}/{order}/") for order in range(entry["order"] + 1)]

    def data(t: float, order: int = 0) -> Array:
        starts, lengths, coefficients = (lifts[order][name] for name in ("starts", "lengths", "coefficients"))
        k = max(0, int(np.searchsorted(starts, t, "right")) - 1)
        return np.asarray(np.polynomial.chebyshev.chebval(2.0 * (t - starts[k]) / lengths[k] - 1.0, coefficients[k]))

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


def _windows(function: Callable[[float], Array], time: tuple[float, float], tolerance: float) -> dict[str, Array]:
    """Return a vector function of time as Chebyshev polynomials on as many windows as it needs."""
    try:
        windows = interpolate(one_by_one(function), *time, tolerance)
    except TooManyWindowsError:
        raise FrozenPinnError("the boundary data vary too rapidly in time to be stored.") from None
    return {
        "starts": np.array([w.start for w in windows]),
        "lengths": np.array([w.length for w in windows]),
        "coefficients": np.array([w.coefficients for w in windows]),
    }


# ---- networks --------------------------------------------------------------------------------------


def _put_network(space: Space, index: int, prefix: str, arrays: dict[str, Array]) -> dict[str, Any]:
    network = space.network
    prefix = f"{prefix}network/{index}/"
    if isinstance(network, ProductNetwork):
        arrays[prefix + "indices"], arrays[prefix + "lift_indices"] = network.indices, network.lift_indices
        kinds = [_put_ridge(f, f"{prefix}{k}/", arrays) for k, f in enumerate(network.factors)]
        return {"network": "product", "activations": kinds}
    return {"network": "ridge", "activations": [_put_ridge(cast(Network, network), prefix + "0/", arrays)]}


def _put_ridge(network: Network, prefix: str, arrays: dict[str, Array]) -> str:
    hidden = network.hidden
    for name in ("weights", "origins", "offsets"):
        arrays[prefix + name] = getattr(hidden, name)
    if hidden.singular is not None:
        arrays[prefix + "corners"] = hidden.singular.table
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
        corners = SingularFunctions(own["corners"]) if "corners" in own else None
        hidden = HiddenLayer(own["weights"], own["origins"], own["offsets"], activation, corners)
        layer = cast(Any, _Lifting(own["lifting"]))
        factors.append(
            Network(hidden, cast(Any, None), fields, layer, None, own["mixing"], None, own["singular"], own["singular"])
        )
    if entry["network"] == "ridge":
        return factors[0]
    return ProductNetwork(tuple(factors), cast(Any, None), arrays["indices"], arrays["lift_indices"], fields)
