"""What varies in a sweep: grids, draws, random functions, and what makes no sense."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.sweeps import GaussianField, LogUniform, Normal, Uniform
from frozenpinn.sweeps.definition import applied, make_table

HEAT = fp.Problem("u_t = k*u_xx + f", fp.Interval(-1, 1), (0, 1), "sin(pi*x)", "u = 0", parameters={"k": 0.1, "f": "0"})


def test_lists_make_a_grid():
    table = make_table(HEAT, {"k": [1, 2], "f": ["0", "x"]}, None, "random", 0)
    assert table.rows == ((1.0, "0"), (1.0, "x"), (2.0, "0"), (2.0, "x"))
    assert str(applied(HEAT, table.names, table.rows[-1]).equations[0]) == "u_t = 2*u_xx + x"


def test_draws_are_combined_with_lists():
    table = make_table(HEAT, {"k": Uniform(1, 2), "f": ["0", "1"]}, 3, "random", 0)
    assert len(table) == 6
    assert [row[0] for row in table.rows[:3]] == [row[0] for row in table.rows[3:]]


@pytest.mark.parametrize("design", ["random", "sobol"])
def test_draws_follow_their_distributions(design):
    drawn = {"k": Normal(3, 0.5), "f": LogUniform(0.01, 100)}
    table = make_table(HEAT, drawn, 1024, design, 1)
    k, f = (np.array(table.column(name), dtype=float) for name in ("k", "f"))
    assert np.mean(k) == pytest.approx(3, abs=0.06)
    assert np.std(k) == pytest.approx(0.5, rel=0.1)
    assert np.mean(f < 1) == pytest.approx(0.5, abs=0.06)
    assert make_table(HEAT, drawn, 1024, design, 1) == table


def test_more_samples_keep_the_first_ones():
    few, many = (make_table(HEAT, {"k": Normal(3, 0.5)}, n, "random", 0).rows for n in (4, 9))
    assert many[:4] == few


def test_a_random_start_has_its_size_and_obeys_the_condition():
    table = make_table(HEAT, {"initial": GaussianField(0.3, std=2.0)}, 200, "random", 0)
    x = np.linspace(-1, 1, 101)[:, None]
    values = np.array([applied(HEAT, table.names, row).initial["u"](x, 0.0) for row in table.rows[:30]])
    np.testing.assert_allclose(values[:, [0, -1]], 0.0, atol=1e-12)
    assert np.sqrt(np.mean(values**2)) == pytest.approx(2.0, rel=0.2)
    assert len(set(table.rows)) == 200


def test_periodic_and_free_fields_on_boxes():
    box = fp.Box([0, 0], [1, 2], periodic=[True, True])
    problem = fp.Problem("u_t = lap(u)", box, (0, 1), "0")
    rng = np.random.default_rng(0)
    text = GaussianField(0.5, boundary="periodic", modes=4).draw(problem, rng)
    start = applied(problem, ("initial",), (text,)).initial["u"]
    ends = np.array([[0.0, 0.3], [1.0, 0.3], [0.4, 0.0], [0.4, 2.0]])
    values = start(ends, 0.0)
    np.testing.assert_allclose(values[[0, 2]], values[[1, 3]], atol=1e-12)
    assert "cos(" in GaussianField(0.5, boundary="free", mean=3.0).draw(problem, rng)


def test_saltelli_exchanges_one_column_at_a_time():
    table = make_table(HEAT, {"k": Uniform(1, 2), "f": Uniform(0, 1)}, 4, "saltelli", 0)
    assert len(table) == 4 * 4
    a, with_k, with_f, b = table.rows[:4]
    assert with_k == (b[0], a[1])
    assert with_f == (a[0], b[1])


@pytest.mark.parametrize(
    ("varied", "samples", "text"),
    [
        ({"kk": [1]}, None, "'kk' is not a parameter of this problem; what can vary is 'f', 'initial', 'k'.*'k'?"),
        ({}, None, "what varies is a table such as"),
        ({"k": 3}, None, "'k' takes a list of values, or a distribution such as"),
        ({"k": []}, None, "the list of 'k' is empty"),
        ({"k": [1, float("nan")]}, None, "'k' takes finite numbers or texts, got nan"),
        ({"k": [1, 2, 1]}, None, "the list of 'k' has 1.0 twice"),
        ({"k": Uniform(1, 2)}, None, "say how many samples to draw: samples=100"),
        ({"k": [1]}, 5, "samples is for distributions; leave it out"),
        ({"k": Uniform(1, 2)}, 0, "samples is a positive whole number, got 0"),
    ],
)
def test_tables_that_make_no_sense(varied, samples, text):
    with pytest.raises(fp.SettingsError, match=text):
        make_table(HEAT, varied, samples, "random", 0)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Normal(0, -1), "std of Normal is positive, got -1"),
        (lambda: Normal("a", 1), "mean of Normal is a number, got 'a'"),
        (lambda: Uniform(2, 1), r"Uniform\(low, high\) runs upwards, got \(2, 1\)"),
        (lambda: LogUniform(0, 1), r"LogUniform\(low, high\) runs upwards from above 0"),
        (lambda: GaussianField(0), "length and std of GaussianField are positive"),
        (lambda: GaussianField(1, boundary="open"), "boundary is 'zero', 'free' or 'periodic', got 'open'"),
        (lambda: make_table(HEAT, {"k": Uniform(1, 2)}, 2, "lhs", 0), "design is 'random', 'sobol' or 'saltelli'"),
        (lambda: make_table(HEAT, {"k": [1]}, None, "saltelli", 0), "design='saltelli' is for numbers"),
    ],
)
def test_distributions_that_make_no_sense(make, text):
    with pytest.raises(fp.SettingsError, match=text):
        make()
