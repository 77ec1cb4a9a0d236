"""What docs/architecture.md says: files and functions exist, and registry lines make additions known by name."""

import re
from importlib import import_module, util
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.assembly.strategies import STRATEGIES
from frozenpinn.basis.samplers import SAMPLERS
from frozenpinn.enrichments.offers import ENRICHMENTS
from frozenpinn.errors import ResolutionWarning
from frozenpinn.geometry.documents import KINDS, Kind, _attributes, domain_from_dict
from frozenpinn.integrators import INTEGRATORS, Observer
from frozenpinn.runtime.decisions import OPTIONAL
from frozenpinn.transforms import TRANSFORMS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "frozenpinn"
BENT = fp.Box([-1, -1], [1, 1]) - fp.Box([0, -1], [1, 0])
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def example(name):
    """Load an example of examples/extending."""
    spec = util.spec_from_file_location(f"extending_{name}", ROOT / "examples" / "extending" / f"{name}.py")
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def front():
    return fp.Problem("u_t + u*u_x = 0.1*u_xx", fp.Interval(-1, 1), (0, 0.5), "-sin(pi*x)", "u = 0")


# ---- the page -------------------------------------------------------------------------------------


def test_files_and_functions_of_the_page_exist():
    named = re.findall(r"`([\w/]+)\.py` `([\w.]+)`", PAGE)
    assert len(named) > 15
    for file, name in named:
        assert callable(attrgetter(name)(import_module("frozenpinn." + file.replace("/", ".")))), (file, name)
    for file in re.findall(r"`([\w/]+\.py)`", PAGE):
        inside = "/" not in file and any(SOURCE.rglob(file))  # rows of a room name its files without the room
        assert inside or any((folder / file).exists() for folder in (SOURCE, ROOT)), file


def test_the_page_tells_all_rooms():
    rooms = {f"{path.name}/" for path in SOURCE.iterdir() if path.is_dir() and not path.name.startswith("__")}
    assert rooms == set(re.findall(r"^\| `(\w+/)`", PAGE, flags=re.MULTILINE))


def test_rooms_stand_in_the_order_of_their_imports():
    contract = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), flags=re.DOTALL)[1]
    layers = [set(re.split(" [|:] ", line)) for line in re.findall(r'"(.*?)"', contract)]
    told = [re.findall(r"`(\w+)(?:/|\.py)`", row.split("|")[1]) for row in PAGE.splitlines() if row.startswith("| `")]
    rank = {room: i for i, layer in enumerate(layers) for room in layer}
    order = [rank[room] for row in told for room in row if room in rank]
    assert order == sorted(order)
    assert len(order) == len(rank) - 1  # all but __main__


# ---- additions by name ------------------------------------------------------------------------------


def test_integrator_by_name(monkeypatch, front, tmp_path):
    monkeypatch.setitem(INTEGRATORS, "midpoint", lambda rtol: example("integrator").Midpoint())
    solution = fp.solve(front, settings=fp.Settings(width=60, integrator="midpoint"))
    assert solution.integrator == "midpoint"
    assert abs(solution(0.3, 0.5) - fp.solve(front, settings=fp.Settings(width=60))(0.3, 0.5)) < 1e-4
    solution.save(tmp_path / "s.npz")
    assert fp.load(tmp_path / "s.npz")(0.3, 0.5) == pytest.approx(solution(0.3, 0.5), rel=1e-12)


def test_integrator_stops_when_asked_to(front):
    system = fp.solve(front, settings=fp.Settings(width=40)).system
    trajectory = example("integrator").Midpoint().integrate(system, Observer(stop=lambda t, y: t > 0.2))
    assert 0.2 < trajectory.end < 0.21


def test_domain_by_name(monkeypatch, tmp_path):
    quarter = example("domain").Quarter
    kind = Kind(quarter, ("radius",), cls=quarter, write=_attributes("radius"))
    monkeypatch.setitem(KINDS, "quarter", kind)
    domain = domain_from_dict({"kind": "quarter", "radius": 2.0})
    assert domain.measure == pytest.approx(np.pi)
    for side, length in (("bottom", 2), ("left", 2), ("arc", np.pi)):
        for method in ("gauss", "sobol", "random"):
            points = domain.sample_side(side, 8, method, 0)
            assert points.weights.sum() == pytest.approx(length)
            assert not np.any(domain.contains(points.x + 1e-6 * points.normals))
    problem = fp.Problem("u_t = lap(u)", domain, (0, 0.1), "x*y*(4 - x**2 - y**2)", "u = 0")
    solution = fp.solve(problem, settings=fp.Settings(width=100))
    solution.save(tmp_path / "s.npz")
    assert fp.load(tmp_path / "s.npz")(0.5, 0.5, 0.05) == solution(0.5, 0.5, 0.05)


def test_sampler_by_name(monkeypatch):
    monkeypatch.setitem(SAMPLERS, "waves", example("sampler").Waves)
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.01), "sin(40*pi*x)", "u = 0")
    solution = fp.solve(problem, tol=1e-8, settings=fp.Settings(sampler="waves"))
    assert (solution.status, solution.sampler) == ("converged", "waves")
    assert solution.width > 40


def test_boundary_strategy_by_name(monkeypatch):
    strategy = example("boundary_strategy").Levelled
    monkeypatch.setitem(STRATEGIES, "levelled", lambda: strategy(1e-9))
    problem = fp.Problem("u_t = lap(u)", fp.Disk(), (0, 0.1), "x", "u = x*cos(t)")
    own, default = (fp.solve(problem, settings=fp.Settings(width=80, boundary=b)) for b in ("levelled", None))
    points = problem.domain.sample(20, "random", 0).x
    assert np.array_equal(own(points, 0.1), default(points, 0.1))  # 1e-9 is what the default layer has


@pytest.fixture
def decaying():
    own = example("transform").Decaying
    TRANSFORMS.insert(0, own)
    yield own
    TRANSFORMS.remove(own)


def test_transform_in_the_list(decaying, tmp_path):
    problem = fp.Problem("u_t = u_xx - 5*u", fp.Interval(0, 1), (0, 1), "x*(1 - x)", "u = 0")
    solution = fp.solve(problem, tol=1e-8)
    plain = fp.solve(problem, tol=1e-8, settings=fp.Settings(without=("decay",)))
    assert ("decay", decaying.note) in solution.decisions
    assert "decay" not in dict(plain.decisions)
    x, t = np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 5)
    for derivative in ("", "x", "xx", "t", "xt"):
        value = plain(x, t, derivative=derivative)
        np.testing.assert_allclose(solution(x, t, derivative=derivative), value, atol=1e-5 * np.abs(value).max())
    solution.save(tmp_path / "s.fpinn")
    assert fp.load(tmp_path / "s.fpinn")(0.3, 0.5) == pytest.approx(float(solution(0.3, 0.5)), rel=1e-12)


def test_stored_transform_that_is_not_listed(decaying, monkeypatch, tmp_path):
    problem = fp.Problem("u_t = u_xx - 5*u", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")
    fp.solve(problem).save(tmp_path / "s.fpinn")
    monkeypatch.setattr("frozenpinn.transforms.TRANSFORMS", [])
    with pytest.raises(fp.StorageError, match="it can't be put together"):
        fp.load(tmp_path / "s.fpinn")


def test_enrichment_in_the_list(monkeypatch, tmp_path):
    waves = example("enrichment")
    monkeypatch.setattr("frozenpinn.enrichments.offers.ENRICHMENTS", (*ENRICHMENTS, waves.offer))
    exact = "sin(20*x + 15*y) + cos(25*x)"
    problem = fp.Problem("lap(u) + 625*u = 0", BENT, boundary=fp.Dirichlet(exact), exact=exact)
    solution = fp.solve(problem, settings=fp.Settings(width=200))
    assert {"plane waves", "corners"} <= {*dict(solution.decisions)}
    assert solution.error()["rel_l2"] < 1e-5
    solution.save(tmp_path / "s.fpinn")
    assert fp.load(tmp_path / "s.fpinn")(-0.3, 0.5) == solution(-0.3, 0.5)
    monkeypatch.setitem(OPTIONAL, "plane waves", "waves of the equation's own length")
    with pytest.warns(ResolutionWarning, match="residual stalls"):
        plain = fp.solve(problem, settings=fp.Settings(width=200, without=("plane waves",)))
    assert "plane waves" not in dict(plain.decisions)


def test_kind_that_is_chosen(monkeypatch):
    own = example("kind").Periodic(most=3)
    monkeypatch.setattr(import_module("frozenpinn.solve"), "kind_of", lambda problem: own)
    problem = fp.Problem("u_t = u_xx + 1", fp.Interval(0, 1), (0, 1), "0", "u = 0")
    solution = fp.solve(problem, tol=1e-6)
    assert "periods" in dict(solution.decisions)
    assert solution(0.5, 0) == pytest.approx(0.125, rel=1e-6)  # steady
    with pytest.raises(fp.ConvergenceError, match="not come back after 3 periods"):
        fp.solve(problem.during((0, 0.01)))
