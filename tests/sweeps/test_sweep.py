"""Sweeps: every row is that of a solve; stores resume, refuse strangers, and survive what is killed."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
import xarray as xr

import frozenpinn as fp
from frozenpinn.sweeps import executors, open_sweep, runs, sensitivity, store, summary, surrogate
from frozenpinn.sweeps.definition import make_table

HEAT = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
WIDTH = fp.Settings(width=12)
KS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
FEW = {"points": 5, "times": [0.0, 0.5], "settings": WIDTH}


def same(a, b):
    """Whether two tables agree bit for bit, in all but the seconds."""
    for name in set(a.variables) - {"seconds"}:
        np.testing.assert_array_equal(a[name].values, b[name].values, err_msg=str(name))
    return True


@pytest.fixture(scope="module")
def heat():
    return fp.sweep(HEAT, {"k": KS}, **FEW)


def test_rows_are_those_of_solves(heat):
    assert heat.u.dims == ("run", "x", "t")
    assert heat.k.values.tolist() == KS
    one = fp.solve(HEAT.at(k=0.3), settings=WIDTH).grid(5, [0.0, 0.5])
    np.testing.assert_array_equal(heat.u[2], one.u)
    assert set(heat.status.values) == {"unchecked"}


def test_a_tolerance_gives_estimates():
    found = fp.sweep(HEAT, {"k": [0.1, 1.0]}, tol=1e-5, points=11, times=[0.5])
    assert found.status.values.tolist() == ["converged", "converged"]
    assert np.all(found.u_error_estimate < 1e-5)
    exact = np.exp(-(np.pi**2) * found.k * 0.5) * np.sin(np.pi * found.x)
    np.testing.assert_allclose(found.u[..., 0], exact, atol=1e-5)


def test_static_problems_and_points_of_ones_own():
    problem = fp.Problem("lap(u) = f", fp.Disk(), boundary="u = 0", parameters={"f": 4.0})
    x = np.array([[0.0, 0.0], [0.5, 0.0]])
    found = fp.sweep(problem, {"f": [4.0, 8.0]}, points=x, settings=fp.Settings(width=60))
    assert found.u.dims == ("run", "point")
    np.testing.assert_allclose(found.u, np.outer([1, 2], [-1.0, -0.75]), atol=1e-4)
    np.testing.assert_array_equal(found.x, x[:, 0])
    assert {"f", "x", "y"} <= set(found.coords)


def test_systems_and_random_starts():
    problem = fp.Problem(
        ["u_t = u_xx - v", "v_t = v_xx"], fp.Interval(0, 1), (0, 0.5), {"u": "0", "v": "sin(pi*x)"}, ["u = 0", "v = 0"]
    )
    found = fp.sweep(problem, {"initial.u": fp.sweeps.GaussianField(0.3)}, samples=2, **FEW)
    assert set(found.data_vars) >= {"u", "v", "u_error_estimate", "v_error_estimate"}
    assert "sin(" in str(found["initial.u"].values[0])
    assert not np.allclose(found.u[0], found.u[1])
    np.testing.assert_allclose(found.v[0, :, 0], np.sin(np.pi * found.x), atol=1e-6)


def test_failures_are_rows_with_their_reason():
    found = fp.sweep(HEAT, {"k": [0.1, -0.1, 0.2]}, **FEW)
    assert found.status.values.tolist() == ["unchecked", "failed", "unchecked"]
    assert "the problem is ill posed" in found.reason.values[1]
    assert np.all(np.isnan(found.u[1]))
    assert not np.any(np.isnan(found.u[2]))


# ---- stores ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["runs.zarr", "runs.nc"])
def test_stores_hold_the_same_table(heat, tmp_path, name):
    found = fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / name, chunk=4)
    assert same(found, heat)
    assert same(open_sweep(tmp_path / name), heat)
    assert sorted(p.name for p in tmp_path.iterdir()) == [name]
    plain = xr.open_zarr(tmp_path / name, chunks=None, consolidated=False) if "zarr" in name else None
    with plain if plain is not None else xr.open_dataset(tmp_path / name) as opened:
        np.testing.assert_array_equal(opened.u, heat.u)


def test_a_finished_store_is_read_and_nothing_is_run(heat, tmp_path, monkeypatch):
    fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr")
    monkeypatch.setattr(executors, "run", None)
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr"), heat)


@pytest.mark.parametrize("name", ["r.zarr", "r.nc"])
def test_an_interrupted_sweep_goes_on_and_runs_nothing_twice(heat, tmp_path, monkeypatch, name):
    made = []

    def interrupted(definition, plan, index):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(index)
        return runs.run(definition, plan, index)

    monkeypatch.setattr(executors, "run", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"3 of 6 runs are finished and stay with '.*'; the same call goes on"):
        fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / name, chunk=2)
    if name == "r.zarr":
        assert open_sweep(tmp_path / name).status.values.tolist() == ["unchecked"] * 2 + ["pending"] * 4
    again = []
    monkeypatch.setattr(executors, "run", lambda d, p, k: again.append(k) or runs.run(d, p, k))
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / name, chunk=2), heat)
    assert (made, again) == ([0, 1, 2], [3, 4, 5])


def test_an_interrupted_sweep_in_memory_keeps_what_there_is(monkeypatch):
    def interrupted(definition, plan, index):
        if index == 2:
            raise KeyboardInterrupt
        return runs.run(definition, plan, index)

    monkeypatch.setattr(executors, "run", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"give out='runs\.zarr' to keep them") as caught:
        fp.sweep(HEAT, {"k": KS}, **FEW)
    assert caught.value.solution.status.values.tolist() == ["unchecked"] * 2 + ["pending"] * 4


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"tol": 1e-3}, r"it differs in tol \(null there, 0.001 here\)"),
        ({"times": 3}, r'it differs in times \("2 '),
        ({"varied": {"k": [0.1]}}, r"it differs in runs \(6 there, 1 here\); values"),
        ({"problem": HEAT.during((0, 0.6))}, "it differs in .*time"),
    ],
)
def test_a_store_of_another_sweep_is_refused(tmp_path, change, text):
    fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr")
    given = {"problem": HEAT, "varied": {"k": KS}, **FEW} | change
    with pytest.raises(fp.StorageError, match=rf"'.*r\.zarr' belongs to another sweep; {text}.*overwrite=True"):
        fp.sweep(**given, out=tmp_path / "r.zarr")
    assert fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr").sizes["run"] == 6


def test_a_store_of_another_python_function_is_refused(tmp_path):
    def problem(f):
        parameters = {"k": 0.1, "f": f}
        return fp.Problem("u_t = k*u_xx + f", fp.Interval(0, 1), (0, 0.5), "0", "u = 0", parameters=parameters)

    given = {"varied": {"k": [0.1, 0.2]}, **FEW, "out": tmp_path / "r.zarr"}
    found = fp.sweep(problem(lambda x: x**2), **given)
    assert same(fp.sweep(problem(lambda x: x**2), **given), found)
    with pytest.raises(fp.StorageError, match="belongs to another sweep; it differs in functions"):
        fp.sweep(problem(lambda x: x**3), **given)


def test_files_that_are_no_stores_are_kept(tmp_path):
    (tmp_path / "r.nc").write_text("precious")
    with pytest.raises(fp.StorageError, match="is there and is no store of a sweep"):
        fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.nc")
    assert (tmp_path / "r.nc").read_text() == "precious"
    with pytest.raises(fp.StorageError, match=r"is no store that is known; .* ends in \.zarr or \.nc"):
        fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.h5")
    with pytest.raises(fp.StorageError, match="there is no folder"):
        fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "nowhere" / "r.zarr")
    with pytest.raises(fp.StorageError, match="there is no store"):
        open_sweep(tmp_path / "other.zarr")


def test_a_full_disk_is_told_and_nothing_is_lost(heat, tmp_path, monkeypatch):
    put, count = store.Rows.put, []

    def full(self, index, raw):
        count.append(index)
        if len(count) == 4:
            raise OSError(28, "No space left on device")
        put(self, index, raw)

    monkeypatch.setattr(store.Rows, "put", full)
    with pytest.raises(fp.StorageError, match=r"No space left on device.* 3 of 6 runs are finished and stay with"):
        fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.nc")
    monkeypatch.setattr(store.Rows, "put", put)
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.nc"), heat)


def test_a_damaged_row_is_made_again(heat, tmp_path, monkeypatch):
    monkeypatch.setattr(store.Store, "finish", lambda self: None)
    fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.nc")
    file = tmp_path / "r.nc.rows" / "00000002.run.npz"
    file.write_bytes(file.read_bytes()[:100])
    monkeypatch.undo()
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.nc"), heat)


def test_two_sweeps_do_not_write_to_one_store(tmp_path):
    code = f"""
        import fcntl, time
        handle = open({str(tmp_path / "r.zarr.lock")!r}, "a")
        fcntl.lockf(handle, fcntl.LOCK_EX)
        print("held", flush=True)
        time.sleep(60)
    """
    other = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        with pytest.raises(fp.StorageError, match="another sweep is writing to"):
            fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr")
    finally:
        other.kill()
        other.communicate()


# ---- processes ---------------------------------------------------------------------------------------


def test_processes_give_the_same_bits(heat, tmp_path):
    told = []
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, workers=2, progress=told.append), heat)
    assert told[-1] == "6 of 6 runs"
    assert "left" in told[0]
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, workers=2, out=tmp_path / "r.zarr", chunk=2), heat)


def test_a_worker_that_is_killed_is_replaced(heat, tmp_path, monkeypatch):
    """Two workers kill themselves once each, in the middle of a run."""

    def deadly(definition, plan, index):
        mark = tmp_path / f"died-{index}"
        if index in (1, 4) and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return runs.run(definition, plan, index)

    monkeypatch.setattr(executors, "run", deadly)
    assert same(fp.sweep(HEAT, {"k": KS}, **FEW, workers=2, out=tmp_path / "r.zarr"), heat)
    assert (tmp_path / "died-4").exists()


def test_a_run_that_always_kills_its_worker_is_a_failure(tmp_path, monkeypatch):
    def deadly(definition, plan, index):
        if index == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return runs.run(definition, plan, index)

    monkeypatch.setattr(executors, "run", deadly)
    found = fp.sweep(HEAT, {"k": KS[:3]}, **FEW, workers=2)
    assert found.status.values.tolist() == ["unchecked", "failed", "unchecked"]
    assert "its process died 5 times (exit code -9: killed, or out of memory)" in found.reason.values[1]


def test_a_pilot_that_always_dies_ends_the_sweep(monkeypatch):
    """Without it there would be another plan, and other bits than those of an undisturbed sweep."""
    monkeypatch.setattr("frozenpinn.sweeps.runs.RUNS_PER_PILOT", 2)
    monkeypatch.setattr("frozenpinn.sweeps.run.needed", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(fp.sweeps.SweepError, match=r"its process died 5 times .*share=False asks none.* 0 of 6 runs"):
        fp.sweep(HEAT, {"k": KS}, tol=1e-3, points=5, times=2, workers=2)


def test_a_client_that_is_killed_goes_on(heat, tmp_path):
    """Kill -9 the whole sweep in the middle; the next call finishes it, with the bits of an undisturbed one."""
    code = f"""
        import frozenpinn as fp
        problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0", parameters={{"k": 0.1}})
        print("ready", flush=True)
        fp.sweep(problem, {{"k": {KS}}}, points=5, times=[0.0, 0.5], settings=fp.Settings(width=12), workers=2,
                 out={str(tmp_path / "r.zarr")!r}, chunk=2, progress=lambda text: print(text, flush=True))
    """
    client = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    for _ in range(3):
        client.stdout.readline()
    client.kill()
    client.wait()
    client.stdout.close()
    time.sleep(1.0)  # orphans finish their run and go
    made = []
    found = fp.sweep(HEAT, {"k": KS}, **FEW, out=tmp_path / "r.zarr", chunk=2, progress=made.append)
    assert len(made) <= 4
    assert same(found, heat)


# ---- shared work -------------------------------------------------------------------------------------


def test_runs_share_sizes_and_not_history(monkeypatch):
    """Pilots find narrower networks; a run has the same bits alone as after the others."""
    problem = fp.Problem(
        "u_t + u*u_x = nu*u_xx", fp.Interval(-1, 1), (0, 0.5), "-sin(pi*x)", "u = 0", parameters={"nu": 0.1}
    )
    monkeypatch.setattr("frozenpinn.sweeps.runs.RUNS_PER_PILOT", 2)
    given = {"tol": 1e-3, "points": 9, "times": [0.5]}
    nus = np.linspace(0.1, 0.4, 4)
    shared = fp.sweep(problem, {"nu": nus}, **given)
    alone = fp.sweep(problem, {"nu": nus}, **given, share=False)
    plan = json.loads(shared.attrs["plan"])
    assert len(plan["pilots"]) == 2
    assert np.all(shared.status == "converged")
    assert np.sum(shared.neurons) < np.sum(alone.neurons)
    np.testing.assert_allclose(shared.u, alone.u, atol=2e-3)
    made = []

    def backwards(work, pending, put):
        for index in reversed(pending):
            made.append(index)
            put(index, work(index))

    monkeypatch.setattr("frozenpinn.sweeps.run.serially", backwards)
    assert same(fp.sweep(problem, {"nu": nus}, **given), shared)
    assert made[-4:] == [3, 2, 1, 0]


def test_solving_again_starts_from_what_was_needed():
    problem = fp.Problem(
        "u_t + u*u_x = nu*u_xx", fp.Interval(-1, 1), (0, 0.5), "-sin(pi*x)", "u = 0", parameters={"nu": 0.1}
    )
    first = fp.solve(problem, tol=1e-3, seed=3)
    again = first.again(nu=0.12)
    assert again.status == "converged"
    assert again.problem.parameters.constants == {"nu": 0.12}
    assert again.verdict.attempts[0][0] == first.verdict.attempts[0][0]
    reference = fp.solve(problem.at(nu=0.12), tol=1e-6)
    assert abs(again(0.5, 0.5) - reference(0.5, 0.5)) < 1e-3
    np.testing.assert_array_equal(first.again(nu=0.12)(0.5, 0.5), again(0.5, 0.5))
    with pytest.raises(fp.ProblemError, match="'mu' is not a parameter of this problem"):
        first.again(mu=1)


# ---- statistics --------------------------------------------------------------------------------------


def test_mean_and_quantiles_leave_out_failures():
    found = fp.sweep(HEAT, {"k": [0.1, -1.0, 0.2, 0.3]}, **FEW)
    told = summary(found, quantiles=[0.5])
    assert told.attrs == {"runs": 3, "left_out": 1}
    np.testing.assert_allclose(told.u_mean, found.u[[0, 2, 3]].mean("run"), atol=1e-12)
    np.testing.assert_allclose(told.u_quantile[0], found.u[2], atol=1e-12)
    with pytest.raises(fp.EvaluationError, match="quantiles are numbers from 0 to 1"):
        summary(found, quantiles=[2])


def test_indices_of_sensitivity_of_a_sum_and_a_product():
    """Of a + 2 b, a explains a fifth and b four fifths; of a b with means zero, nothing is explained by one alone."""
    problem = fp.Problem("u_t = 0", fp.Interval(0, 1), (0, 1), "a + b", parameters={"a": 0.0, "b": 0.0})
    varied = {"a": fp.Uniform(-1, 1), "b": fp.Uniform(-1, 1)}
    few = fp.sweep(problem, varied, samples=2, design="saltelli", points=2, times=[0.0], settings=WIDTH)
    assert few.sizes["run"] == 8
    assert sensitivity(few)["first"].dims == ("parameter", "x", "t")
    a, b = np.array(make_table(problem, varied, 1024, "saltelli", 0).rows).T
    values = np.stack([a + 2 * b, a * b], axis=1)[..., None]
    table = {"u": (("run", "x", "t"), values), "u_error_estimate": ("run", a), "status": ("run", np.full(len(a), "ok"))}
    told = sensitivity(xr.Dataset(table, attrs=few.attrs))
    np.testing.assert_allclose(told["first"][..., 0].T, [[0.2, 0.8], [0, 0]], atol=0.03)
    np.testing.assert_allclose(told["total"][..., 0].T, [[0.2, 0.8], [1, 1]], atol=0.03)


def test_a_surrogate_between_runs(heat):
    between = surrogate(heat)
    exact = np.exp(-(np.pi**2) * 0.25 * 0.5) * np.sin(np.pi * heat.x)
    np.testing.assert_allclose(between(k=0.25).u[:, 1], exact, atol=3e-3)
    assert 1e-5 < between.error["u"] < 0.1
    with pytest.raises(fp.EvaluationError, match=r"k = 2 lies outside the sweep, which goes from 0\.1 to 0\.6"):
        between(k=2)
    with pytest.raises(fp.EvaluationError, match="'nu' is not a parameter of the sweep; they are 'k'"):
        between(nu=2)
    with pytest.raises(fp.EvaluationError, match="indices of sensitivity need a sweep with design='saltelli'"):
        sensitivity(heat)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"workers": 0}, "workers is a whole number from 1 on, got 0"),
        ({"chunk": 0}, "chunk is a whole number from 1 on, got 0"),
        ({"seed": -1}, "seed is a whole number from 0 on, got -1"),
        ({"progress": 3}, "progress is a function that takes a text, or False; got 3"),
        ({"client": "cluster"}, r"client is a dask\.distributed\.Client, got str"),
        ({"wokers": 2}, r"sweep\(\) has no argument 'wokers'\. Did you mean 'workers'\?"),
        ({"settings": 3}, "settings is a value such as"),
    ],
)
def test_calls_that_make_no_sense(given, text):
    with pytest.raises(fp.SettingsError, match=text):
        fp.sweep(HEAT, {"k": [0.1]}, **({"settings": WIDTH} | given))
    with pytest.raises(fp.SettingsError, match=r"sweep\(\) takes a Problem, got int"):
        fp.sweep(3, {"k": [0.1]})
    with pytest.raises(fp.EvaluationError, match="points of the domain of shape"):
        fp.sweep(HEAT, {"k": [0.1]}, points=np.array([[7.0]]))


def test_sweeps_in_polar_coordinates_are_over_those_coordinates():
    disk = fp.Problem(
        "u_t = k*lap(u)", fp.Interval(0, 2), (0, 0.1), "4 - r**2", "u = 0", coordinates="polar", parameters={"k": 1.0}
    )
    few = fp.Settings(width=20)
    runs = fp.sweep(disk, {"k": [1.0, 2.0]}, settings=few, points=5, times=[0.1])
    assert runs.u.dims == ("run", "r", "t")
    np.testing.assert_allclose(runs.u[1, :, 0], fp.solve(disk.at(k=2.0), settings=few)(np.linspace(0, 2, 5), 0.1))
    placed = fp.sweep(disk, {"initial": ["4 - r**2", "4 - r**4/4"]}, settings=few, points=[[0.0], [1.9]], times=[0])
    np.testing.assert_allclose(placed.u[1, :, 0], 4 - np.array([0.0, 1.9]) ** 4 / 4, atol=1e-6)
    ring = fp.Problem("u_t = lap(u)", fp.Interval(1, 2), (0, 0.1), 0, "u = 0", coordinates="polar")
    drawn = fp.sweep(ring, {"initial": fp.sweeps.GaussianField(0.5)}, samples=1, settings=few, points=3, times=[0])
    assert list(drawn.status.values) == ["unchecked"]


def test_complex_fields_are_kept_as_two_real_ones():
    well = fp.Problem("psi_t = I*psi_xx/2 - I*x**2/2*psi", fp.Interval(-8, 8), (0, 1), "exp(-x**2/2)", "psi = 0")
    runs = fp.sweep(well, {"initial": ["exp(-x**2/2)", "2*exp(-x**2/2)"]}, tol=1e-4, points=17, times=[0, 1])
    assert set(runs.status.values) == {"converged"}
    expected = np.exp(-(runs.x.values**2) / 2 - 0.5j)
    found = (runs.psi_re + 1j * runs.psi_im).sel(t=1)
    assert np.allclose(found.values, [expected, 2 * expected], atol=2e-4)
