"""Files of solutions: other programs read the values that the solution has."""

import subprocess
import sys

import meshio
import numpy as np
import pytest
import pyvista
import xarray as xr

import frozenpinn as fp
import zoo
from frozenpinn.geometry.cells import cells_of

FEW = fp.Settings(width=20)


@pytest.fixture(scope="module")
def heat():
    problem = fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 0.2), "sin(pi*x)", "u = 0")
    return fp.solve(problem, tol=1e-6)


@pytest.fixture(scope="module")
def plate():
    """Two fields on a box with a hole."""
    domain = fp.Box([0, 0], [2, 1]) - fp.Disk([0.5, 0.5], 0.25).named("hole")
    problem = fp.Problem(
        ["u_t = lap(u)", "v_t = lap(v) - v"],
        domain,
        (0, 0.1),
        {"u": "1 + x", "v": "x*y"},
        ["u = 1 + x", "v = x*y*(1 + t)"],
    )
    return fp.solve(problem, settings=fp.Settings(width=60))


@pytest.fixture
def ball():
    return zoo.solved("ball")


@pytest.fixture(scope="module")
def square():
    problem = fp.Problem("u_tt = lap(u)", fp.Box([0, 0], [1, 2]), (0, 1), "sin(pi*x)*sin(pi*y)", "u = 0", 0)
    return fp.solve(problem, settings=fp.Settings(width=12))


# ---- xarray ------------------------------------------------------------------------------------------


def test_a_grid_at_given_times(heat):
    grid = heat.grid(points=5, times=[0, 0.05])
    assert dict(grid.sizes) == {"x": 5, "t": 2}
    np.testing.assert_array_equal(grid.u, heat(np.linspace(0, 1, 5)[:, None], np.array([0, 0.05])))


def test_a_dataset_of_own_coordinates(heat):
    found = heat.to_xarray([0.1, 0.5, 0.7], [0.0, 0.2])
    np.testing.assert_allclose(found.u.sel(x=0.5), heat(0.5, np.array([0.0, 0.2])), rtol=1e-13)
    assert found.attrs["status"] == "converged"
    assert found.u.attrs["relative_error_estimate"] == heat.error_estimate["u"]
    np.testing.assert_array_equal(heat.to_xarray(x=[0.1, 0.5, 0.7], t=[0.0, 0.2]).u, found.u)


def test_what_is_left_out_is_uniform(square):
    found = square.to_xarray(t=[0.5])
    assert dict(found.sizes) == {"x": 101, "y": 101, "t": 1}
    assert dict(square.to_xarray([0.5], t=[0.5]).sizes) == {"x": 1, "y": 101, "t": 1}
    assert dict(square.to_xarray(y=[0.5], t=0.5).sizes) == {"x": 101, "y": 1, "t": 1}


def test_a_dataset_of_points(square):
    x = np.array([[0.1, 0.2], [0.5, 1.5], [0.9, 1.9]])
    found = square.to_xarray(x, [0.0, 1.0], derivative="x")
    assert dict(found.sizes) == {"point": 3, "t": 2}
    np.testing.assert_allclose(
        found.u[1], square(0.5, 1.5, np.array([0.0, 1.0]), derivative="x"), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_array_equal(found.y, x[:, 1])


def test_places_outside_are_not_numbers(plate):
    found = plate.to_xarray([0.5, 1.5], [0.5], [0.1])
    assert np.isnan(found.u[0, 0, 0])
    assert found.v[1, 0, 0] == plate(1.5, 0.5, 0.1, field="v")


def test_static_solutions_have_no_time(ball):
    found = ball.to_xarray([0.0, 0.5], [0.0], [0.0])
    assert found.u.dims == ("x", "y", "z")
    np.testing.assert_allclose(found.u[:, 0, 0], [0, 0.25], atol=1e-5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s: s.to_xarray([0.5], [0.1], [3.0]), r"expected to_xarray\(x, t\) with a list of numbers for each"),
        (lambda s: s.to_xarray(z=[1]), r"to_xarray\(\) has no argument 'z'.*It takes 'derivative', 't', 'x'"),
        (lambda s: s.to_xarray([0.5], x=[0.1]), "'x' is given twice, by its place and by its name"),
        (lambda s: s.to_xarray(np.zeros((3, 2)), [0.1]), r"points have the shape \(n, 1\), and times follow"),
        (lambda s: s.to_xarray([0.5], [0.7]), r"t = 0\.7 lies outside the solved interval \[0, 0\.2\]"),
        (lambda s: s.grid(times=[]), r"times is how many, or a list of them; got \[\]"),
        (lambda s: s.grid(times="all"), "times is how many, or a list of them; got 'all'"),
        (lambda s: s.grid(points=[3, 4]), "points is one number, or one for each of 1 axes"),
    ],
)
def test_coordinates_that_make_no_sense(heat, call, text):
    with pytest.raises(fp.EvaluationError, match=text):
        call(heat)


# ---- tables ------------------------------------------------------------------------------------------


def test_netcdf_opens_in_xarray(heat, tmp_path):
    heat.to_netcdf(tmp_path / "u.nc", [0.1, 0.5], [0.0, 0.1])
    with xr.open_dataset(tmp_path / "u.nc") as found:
        np.testing.assert_array_equal(found.u, heat(np.array([[0.1], [0.5]]), np.array([0.0, 0.1])))
        assert found.attrs["status"] == "converged"


def test_csv_has_all_digits_and_nothing_outside(plate, tmp_path):
    plate.to_csv(tmp_path / "u.csv", np.linspace(0, 2, 5), [0.5], t=[0.0, 0.1])
    text = (tmp_path / "u.csv").read_text().splitlines()
    assert text[0] == "x,y,t,u,v"
    table = np.loadtxt(tmp_path / "u.csv", delimiter=",", skiprows=1)
    assert sorted(set(table[:, 0])) == [0.0, 1.0, 1.5, 2.0]
    values = plate.to_xarray([0.0, 1.0, 1.5, 2.0], [0.5], [0.0, 0.1]).v
    np.testing.assert_allclose(table[:, 4], np.ravel(values), rtol=1e-12, atol=1e-12)


def test_npz_opens_in_numpy(ball, tmp_path):
    ball.to_npz(tmp_path / "u.npz", [0.0, 0.5], [0.0], [0.1])
    with np.load(tmp_path / "u.npz") as found:
        assert set(found) == {"x", "y", "z", "u"}
        np.testing.assert_array_equal(found["u"], ball.to_xarray([0.0, 0.5], [0.0], [0.1]).u)
    with pytest.raises(fp.StorageError, match=r"end in \.npz, got '.*u\.dat'"):
        ball.to_npz(tmp_path / "u.dat")


@pytest.mark.parametrize("name", ["u.nc", "u.csv", "u.npz", "u.pvd", "u.fpinn", "u.gif"])
def test_files_are_not_overwritten_by_accident(heat, tmp_path, name):
    target = tmp_path / name
    target.write_text("precious")
    methods = {"nc": "to_netcdf", "csv": "to_csv", "npz": "to_npz", "pvd": "to_vtk", "fpinn": "save", "gif": "animate"}
    method, more = getattr(heat, methods[name[2:]]), {"frames": 2} if name == "u.gif" else {}
    with pytest.raises(fp.StorageError, match=r"there is a file '.*' already; .* write overwrite=True to replace it"):
        method(target, **more)
    assert target.read_text() == "precious"
    method(target, **more, overwrite=True)
    assert target.read_bytes() != b"precious"


def test_a_full_disk_leaves_what_was_there(heat, tmp_path, monkeypatch):
    (tmp_path / "u.nc").write_text("before")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", full)
    with pytest.raises(fp.StorageError, match=r"can't write '.*u\.nc': No space left on device"):
        heat.to_netcdf(tmp_path / "u.nc", overwrite=True)
    assert [p.name for p in tmp_path.iterdir()] == ["u.nc"]
    assert (tmp_path / "u.nc").read_text() == "before"


_ALL_ON_A_FULL_DISK = """
import os, resource, sys
import frozenpinn as fp
solution = fp.solve(fp.Problem("u_t = u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0"), tol=1e-3)
os.chdir(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))  # bytes of a file: all are larger
targets = {
    "u.png": solution.plot, "u.pdf": solution.plot, "u.html": solution.page, "u.fpinn": solution.save,
    "u.nc": solution.to_netcdf, "u.csv": solution.to_csv, "u.npz": solution.to_npz, "u.pvd": solution.to_vtk,
    "u.gif": solution.animate,
}
for name, write in targets.items():
    try:
        write(name, **({"frames": 2} if name == "u.gif" else {}))
        print(name, "was written")
    except fp.StorageError as error:
        print(error)
print(sorted(os.listdir()))
"""


def test_nothing_is_left_of_files_that_did_not_fit(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", _ALL_ON_A_FULL_DISK, tmp_path], check=True, capture_output=True, text=True
    )
    *said, left = run.stdout.splitlines()
    assert len(said) == 9
    assert all(line.startswith("can't write 'u.") for line in said)
    assert left == "[]", run.stderr


def test_pictures_and_pages_replace_what_is_there(heat, tmp_path):
    for name, write in {"u.png": heat.plot, "u.html": heat.page}.items():
        (tmp_path / name).write_text("before")
        write(tmp_path / name)
        assert (tmp_path / name).read_bytes() != b"before"
    assert len(list(tmp_path.iterdir())) == 2


# ---- VTK ---------------------------------------------------------------------------------------------


def test_a_series_of_a_shape_opens_in_meshio_and_pyvista(plate, tmp_path):
    plate.to_vtk(tmp_path / "plate.pvd", points=21, times=[0.0, 0.1], vectors={"flow": ["u", "v"]})
    reader = pyvista.get_reader(tmp_path / "plate.pvd")
    assert reader.time_values == [0.0, 0.1]
    reader.set_active_time_value(0.1)
    seen = reader.read()[0]
    read = meshio.read(tmp_path / "plate" / "plate_0001.vtu")
    for points, values in ((seen.points, seen.point_data["v"]), (read.points, read.point_data["v"])):
        wanted = plate.to_xarray(np.asarray(points[:, :2], dtype=float), [0.0, 0.1]).v[:, 1]
        np.testing.assert_allclose(values, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(seen.point_data["flow"][:, 0], seen.point_data["u"])
    assert seen.point_data["flow"].shape == (seen.n_points, 3)
    assert seen.area == pytest.approx(plate.problem.domain.measure, rel=0.01)


def test_one_time_of_a_box(square, tmp_path):
    square.to_vtk(tmp_path / "u.vtu", points=9, times=[0.5])
    read = meshio.read(tmp_path / "u.vtu")
    assert read.cells[0].type == "quad"
    assert len(read.points) == 5 * 9
    np.testing.assert_allclose(read.point_data["u"], square(read.points[:, :2], 0.5), atol=1e-14)
    assert pyvista.read(tmp_path / "u.vtu").area == pytest.approx(2.0)


def test_lines_and_solids(heat, ball, tmp_path):
    heat.to_vtk(tmp_path / "line.vtu", times=[0.1])
    read = meshio.read(tmp_path / "line.vtu")
    np.testing.assert_allclose(read.point_data["u"], heat(read.points[:, 0], 0.1), atol=1e-14)
    ball.to_vtk(tmp_path / "ball.vtu", points=12)
    seen = pyvista.read(tmp_path / "ball.vtu")
    assert seen.volume == pytest.approx(4 / 3 * np.pi, rel=0.05)
    np.testing.assert_allclose(seen.point_data["u"], np.sum(seen.points**2, axis=1), atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("u.vtk", {}), fp.StorageError, r"ends in '\.vtk'; write \.pvd for a series in time, \.vtu for one file"),
        (("u.vtu", {}), fp.StorageError, r"holds one time, got 21; write times=\[1\.0\], or a series as \.pvd"),
        (("u.pvd", {"points": 1}), fp.EvaluationError, "points is a whole number from 2 on, got 1"),
        (("u.pvd", {"vectors": {"w": ["u", "w"]}}), fp.EvaluationError, r"vectors is a table such as .* of the fields"),
        (("u.pvd", {"times": [9.0]}), fp.EvaluationError, "t = 9 lies outside the solved interval"),
    ],
)
def test_series_that_make_no_sense(plate, tmp_path, arguments, error, text):
    with pytest.raises(error, match=text):
        plate.to_vtk(tmp_path / arguments[0], **arguments[1])
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_way_of_a_series_is_kept(heat, tmp_path):
    (tmp_path / "u").mkdir()
    (tmp_path / "u" / "thesis.tex").write_text("precious")
    with pytest.raises(fp.StorageError, match=r"where the files of the series .* belong"):
        heat.to_vtk(tmp_path / "u.pvd", times=2)
    assert (tmp_path / "u" / "thesis.tex").exists()
    assert not (tmp_path / "u.pvd").exists()


def test_cells_fill_a_domain_and_stay_inside():
    for domain in (fp.Disk(), fp.Polygon([[0, 0], [1, 0], [1, 0.5], [0.5, 0.5], [0.5, 1], [0, 1]])):
        points, cells, kind = cells_of(domain, 31)
        corners = points[cells]
        areas = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 2
        assert kind == "triangle"
        assert np.all(areas > 0)
        assert np.sum(areas) == pytest.approx(domain.measure, rel=2e-3)
        assert np.all(domain.contains(points))
    with pytest.raises(fp.EvaluationError, match="cells have at most three dimensions, the domain has 4"):
        cells_of(fp.Box([0] * 4, [1] * 4), 5)
