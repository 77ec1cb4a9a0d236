"""Positive fields that are solved for by their logarithm."""

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.language.jets import Jet
from frozenpinn.transforms.logarithm import in_logarithms, partitions, products

RATES = {"D": 0.1, "b": 2.0, "g": 0.1}
EPIDEMIC = ["s_t = D*s_xx - b*s*i", "i_t = D*i_xx + b*s*i - g*i"]
START = {"s": "1 - exp(-x^2/2)", "i": "exp(-x^2/2)"}


def epidemic(equations=EPIDEMIC, start=START, boundary=("s_n = 0", "i_n = 0"), length=32):
    return fp.Problem(equations, fp.Interval(0, length), (0, 50), start, list(boundary), parameters=RATES)


def test_partitions_are_counted_by_the_bell_numbers():
    assert [len(list(partitions(range(n)))) for n in range(5)] == [1, 1, 2, 5, 15]


def test_second_derivatives():
    found = [tuple(sorted(j.alpha for j in product)) for product in products(Jet("u", (1, 1)))]
    assert sorted(found) == [((0, 1), (1, 0)), ((1, 1),)]
    assert len(list(products(Jet("u", (0, 0), laps=1)))) == 4


def test_the_equations_of_a_logarithm():
    found = in_logarithms(epidemic(), "i")
    right = {e.field: str(e.right_side) for e in found.equations}
    assert "exp(i)" in right["s"]
    assert "exp" not in right["i"]
    assert "i_x**2" in right["i"]
    x = np.linspace(0, 10, 50)[:, None]
    assert np.allclose(found.initial["i"](x, 0.0), -(x[:, 0] ** 2) / 2, atol=1e-6)


def test_the_floor_of_a_logarithm():
    found = in_logarithms(epidemic(), "i")
    values = found.initial["i"](np.array([[0.0], [10.0], [25.0], [32.0]]), 0.0)
    assert np.allclose(values, [0.0, -50.0, -135.0, -135.0], atol=1e-4)  # it grows by exp((2 - 0.1)*50) at most
    deeper = in_logarithms(epidemic(), "i", margin=100.0)
    assert np.isclose(deeper.initial["i"](np.array([[32.0]]), 0.0)[0], -195.0)


def test_a_seed_that_vanishes_in_places_has_a_floor():
    start = {"s": "1", "i": "max(1 - x^2, 0)"}
    found = in_logarithms(epidemic(start=start), "i")
    assert np.allclose(found.initial["i"](np.array([[0.0], [5.0]]), 0.0), [0.0, -135.0], atol=1e-4)


@pytest.mark.filterwarnings("ignore:the initial data contradict")
@pytest.mark.parametrize(
    "changed",
    [
        {"equations": ["s_t = s_xx", "i_t = i_xx + 1"]},  # a source would be divided by what may be tiny
        {"equations": ["s_t = s_xx", "i_t = -i_xxxx"], "boundary": ("s_n = 0", "i_n = 0", "i_xxx = 0")},
        {"boundary": ("s_n = 0", "i_n = 1")},
        {"start": {"s": "1", "i": "x"}, "boundary": ("s_n = 0", "i = 0")},
        {"start": {"s": "1", "i": "x - 1"}},
        {"start": {"s": "1", "i": lambda x: np.exp(-(x**2))}},
    ],
)
def test_what_has_no_logarithm(changed):
    assert in_logarithms(epidemic(**changed), "i") is None


@pytest.mark.filterwarnings("ignore:the initial data contradict")
def test_other_conditions():
    robin = in_logarithms(epidemic(boundary=("s_n = 0", "i_n + 3*i = 0")), "i")
    condition = next(c for c in robin.conditions if c.fields == ("i",))
    assert (float(condition.value.expression), [jet.order for jet in condition.jets]) == (-3.0, [1])
    value = in_logarithms(epidemic(boundary=("s_n = 0", "i = exp(-t)")), "i")
    assert str(next(c for c in value.conditions if c.fields == ("i",)).value.expression) == "-t"


def differences(cells, times):
    """Second-order differences on cells, with Runge–Kutta steps: nothing becomes negative."""
    h = 32 / cells
    x = (np.arange(cells) + 0.5) * h
    y = np.stack([1 - np.exp(-(x**2) / 2), np.exp(-(x**2) / 2)])

    def rate(y):
        bent = np.diff(np.pad(y, ((0, 0), (1, 1)), "edge"), n=2) / h**2
        new = 2.0 * y[0] * y[1]
        return 0.1 * bent + np.stack([-new, new - 0.1 * y[1]])

    steps = int(np.ceil(50 * 0.1 * 5 / h**2 / 2)) // 50 * 50 + 50
    dt, found = 50 / steps, []
    for k in range(steps):
        a = rate(y)
        b = rate(y + dt / 2 * a)
        c = rate(y + dt / 2 * b)
        y = y + dt / 6 * (a + 2 * b + 2 * c + rate(y + dt * c))
        if (k + 1) * dt in times or any(abs((k + 1) * dt - t) < dt / 2 for t in times):
            found.append(y[1])
    return x, np.array(found)


def test_an_epidemic_reaches_everyone(tmp_path):
    solution = fp.solve(epidemic(), tol=1e-3)
    assert solution.status == "converged"
    assert "solved for its logarithm" in str(solution.report)
    assert "logarithm" in {name for name, _ in solution.decisions}
    times = (10.0, 20.0, 30.0, 50.0)
    x, coarse = differences(160, times)
    _, fine = differences(320, times)
    fine = (fine[:, ::2] + fine[:, 1::2]) / 2
    for t, a, b in zip(times, coarse, fine, strict=True):
        wanted, found = b + (b - a) / 3, solution(x, t, field="i")
        assert np.linalg.norm(found - wanted) < 2e-2 * np.linalg.norm(wanted)  # of the differences
    h, t = 1e-3, np.full_like(x, 18.0)
    slope = (solution(x + h, t, field="i") - solution(x - h, t, field="i")) / (2 * h)
    assert solution(x, t, field="i", derivative="x") == pytest.approx(slope, abs=1e-5)
    solution.save(tmp_path / "epidemic.fpinn")
    assert fp.load(str(tmp_path / "epidemic.fpinn"))(x, t, field="i") == pytest.approx(
        solution(x, t, field="i"), rel=1e-9
    )
