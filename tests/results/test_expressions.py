"""Expressions in the fields of solutions of every kind, against closed forms: values, pictures, tables, files."""

import numpy as np
import pytest

import frozenpinn as fp
import zoo

X = np.linspace(0, 1, 7)


@pytest.fixture(scope="module")
def rod():
    problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1})
    return fp.solve(problem, tol=1e-8)


@pytest.fixture(scope="module")
def flow():
    """Stokes flow whose velocity is (y², 0), in a disk."""
    return fp.solve(
        fp.Problem(
            ["lap(u) = p_x", "lap(v) = p_y", "u_x + v_y = 0"],
            fp.Disk(),
            boundary=["u = y^2", "v = 0", fp.Free("p")],
            constraint="mean(p) = 0",
        ),
        tol=1e-7,
    )


def test_a_flux_in_time_at_points_and_on_grids(rod):
    t = np.linspace(0, 1, 5)
    exact = -0.1 * np.pi * np.cos(np.pi * X[:, None]) * np.exp(-0.1 * np.pi**2 * t)
    np.testing.assert_allclose(rod("-k*u_x", X[:, None], t), exact, atol=1e-7)
    np.testing.assert_allclose(rod("-k*u_x", X[:5], t), np.diag(exact[:5]), atol=1e-7)
    np.testing.assert_allclose(rod("u_t - k*u_xx", X, 0.5), 0, atol=1e-6)
    assert rod("-k*u_x", x=0.0, t=0.0) == pytest.approx(-0.1 * np.pi, rel=1e-6)


def test_an_expression_without_fields_and_one_with_an_integral(rod):
    np.testing.assert_allclose(rod("x*t", X, 0.5), X / 2)
    np.testing.assert_allclose(rod("u*integral(u)", X, [0] * 7), np.sin(np.pi * X) * 2 / np.pi, atol=1e-7)
    assert rod("u", np.empty(0), 0.0).shape == (0,)


def test_a_vorticity_and_a_vector_on_a_shape(flow):
    x, y = np.array([0.1, -0.3]), np.array([0.5, 0.2])
    np.testing.assert_allclose(flow("v_x - u_y", x, y), -2 * y, atol=1e-5)
    np.testing.assert_allclose(flow("[u, v]", x, y), [y**2, 0 * y], atol=1e-6)
    assert flow("grad([u, v])", x, y).shape == (2, 2, 2)


def test_polar_coordinates():
    solution = fp.solve(
        fp.Problem("u_rr + u_r/r = -4", fp.Interval(0, 1), boundary="u = 0", coordinates="polar"), tol=1e-8
    )
    np.testing.assert_allclose(solution("u_r", X), -2 * X, atol=1e-7)
    np.testing.assert_allclose(solution("r*u", X), X * (1 - X**2), atol=1e-7)


def test_a_complex_field():
    well = fp.Problem("I*psi_t = -psi_xx", fp.Interval(0, 1), (0, 0.1), "sin(pi*x)", "psi = 0")
    solution = fp.solve(well, tol=1e-7)
    phase = np.exp(-1j * np.pi**2 * 0.1)
    np.testing.assert_allclose(solution("abs2(psi)", X, 0.1), np.sin(np.pi * X) ** 2, atol=1e-6)
    np.testing.assert_allclose(solution("I*psi_x", X, 0.1), 1j * np.pi * np.cos(np.pi * X) * phase, atol=1e-5)
    assert solution.integral("psi", t=0.1) == pytest.approx(2 / np.pi * phase, abs=1e-6)


def test_python_functions_that_take_one_time():
    def rate(t):
        return 1.0 if t < 2 else 0.0

    problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": rate})
    solution = fp.solve(problem)
    np.testing.assert_allclose(solution("k*u", X[:, None], [0.0, 1.0]), solution(X[:, None], [0.0, 1.0]))


def test_modes():
    lam = {"lam": fp.Eigenvalue()}
    mode = fp.modes(fp.Problem("-u_xx = lam*u", fp.Interval(0, 1), boundary="u = 0", parameters=lam), 1)[0]
    np.testing.assert_allclose(np.abs(mode("u_x**2 + pi**2*u**2", X)), 2 * np.pi**2, rtol=1e-7)
    assert mode.plot(field="u_x").axes
    with pytest.raises(fp.EvaluationError, match=r"'lam' in 'lam\*u' is the eigenvalue; leave it out, and multiply"):
        mode("lam*u", X)


def test_complex_modes_take_linear_expressions_only():
    problem = fp.Problem(
        ["-u_xx + v = lam*u", "-v_xx - u = lam*v"],
        fp.Interval(0, 1),
        boundary=["u = 0", "v = 0"],
        parameters={"lam": fp.Eigenvalue()},
    )
    mode = fp.modes(problem, 2)[0]
    np.testing.assert_allclose(mode("u_x - v", X), mode(X, field="u", derivative="x") - mode(X, field="v"))
    with pytest.raises(fp.EvaluationError, match=r"'u\*v' is not linear in the fields, and this mode is complex"):
        mode("u*v", X)


def test_a_stored_solution_knows_its_expressions(rod, tmp_path):
    rod.save(tmp_path / "rod.fpinn")
    np.testing.assert_array_equal(fp.load(tmp_path / "rod.fpinn")("-k*u_x", X, 0.3), rod("-k*u_x", X, 0.3))


def test_pictures(rod, flow, tmp_path):
    titles = [axis.get_title() for axis in rod.plot("-k*u_x").axes]
    assert titles[0] == "-k*u_x(x, t)"
    flow.plot("v_x - u_y", tmp_path / "vorticity.png")
    flow.plot(tmp_path / "same.png", "v_x - u_y")
    assert (tmp_path / "vorticity.png").stat().st_size == (tmp_path / "same.png").stat().st_size
    assert [a.get_title() for a in flow.plot("grad(u)").axes][:2] == ["(grad(u))[0]", "(grad(u))[1]"]
    rod.animate(tmp_path / "flux.gif", "-k*u_x", frames=2)
    assert (tmp_path / "flux.gif").read_bytes().startswith(b"GIF")


def test_tables_and_files(rod, flow, tmp_path):
    grid = rod.grid(points=7, times=[0.0, 0.5], expressions={"flux": "-k*u_x"})
    np.testing.assert_array_equal(grid.flux.values, rod("-k*u_x", X[:, None], [0.0, 0.5]))
    disk = flow.grid(points=5, expressions={"w": "v_x - u_y", "g": "grad(p)"})
    assert list(disk.data_vars) == ["u", "p", "v", "w", "g_0", "g_1"]
    assert np.isnan(disk.w.values[0, 0])
    rod.to_csv(tmp_path / "a.csv", t=[0.5], expressions={"flux": "-k*u_x"})
    assert (tmp_path / "a.csv").read_text().startswith("x,t,u,flux\n")
    flow.to_vtk(tmp_path / "a.vtu", points=8, expressions={"w": "v_x - u_y", "velocity": "[u, v]"})
    assert b'Name="velocity"' in (tmp_path / "a.vtu").read_bytes()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda s: s("v_x", 0.5, 0),
            r"^unknown name 'v_x'\. Names that can be used here: fields 'u'; .*; parameters 'k'\. Did you mean 'u_x'\?",
        ),
        (lambda s: s("u_tt", 0.5, 0), "'u_tt' has more time derivatives than the equation of 'u', which is of order 1"),
        (lambda s: s("u_x", 0.5, 0, derivative="x"), "'u_x' names its fields and derivatives itself"),
        (lambda s: s("u_x", 2.0, 0), r"the point \(2\) lies outside the domain"),
        (lambda s: s("u +", 2.0, 0), "the expression ends too early"),
        (lambda s: s("__import__('os')", 0.5, 0), "names with '__' are refused"),
        (lambda s: s.plot("w"), "unknown field 'w'"),
        (lambda s: s.plot("u_x", derivative="x"), "'u_x' is an expression: leave one of the two out"),
        (lambda s: s.grid(expressions="u_x"), "expressions is a table such as {'flux': '-k\\*u_x'}; got 'u_x'"),
        (lambda s: s.grid(expressions={"u": "u_x"}), "needs plain names that are not taken already.*got 'u'"),
        (lambda s: s.integral("grad(u)", t=0), "'grad\\(u\\)' is a vector; integrate one component"),
    ],
)
def test_expressions_that_make_no_sense(rod, call, text):
    with pytest.raises(fp.FrozenPinnError, match=text):
        call(rod)


@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_kind_evaluates_expressions(name):
    solution = zoo.solved(name)
    names, domain = solution.problem.composites.tabulated, solution.problem.stated
    x = domain.sample(5, "random", 0).x
    when = () if solution.problem.is_static else (solution.problem.time[1],)
    found = solution(f"2*{names[0]}", *x.T, *when)
    np.testing.assert_allclose(found, 2 * solution(*x.T, *when, field=names[0]))
