"""Polynomials on cells against the functions themselves: smooth, steep, broken, rough, noisy and misleading ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from frozenpinn.basis.cells import evaluate

RNG = np.random.default_rng(0)


@dataclass
class Plain:
    """A function of several variables, counted."""

    function: Any
    columns: int = 1
    calls: int = 0

    def __call__(self, places):
        self.calls += len(places)
        return self.function(*places.T).reshape(len(places), self.columns)


SMOOTH = {
    1: lambda x: np.sin(20 * x) * np.exp(x),
    2: lambda x, y: np.sin(9 * x + 4 * y) / (1.2 + np.cos(5 * y)),
    3: lambda x, y, z: np.sin(4 * x * y) * np.cos(3 * z + x),
    4: lambda t, x, y, z: np.exp(-t * x) * np.cos(y * z + t),
}


@pytest.mark.parametrize("dimension", SMOOTH)
def test_smooth_functions_are_exact_to_round_off(dimension):
    function = Plain(SMOOTH[dimension])
    places = RNG.random((200_000, dimension))
    found = evaluate(function, places)
    assert function.calls < len(places)
    np.testing.assert_allclose(found[:, 0], SMOOTH[dimension](*places.T), rtol=0, atol=1e-13)


def test_several_columns_are_judged_by_their_own_size():
    def both(x):
        return np.stack([np.sin(5 * x), 1e-9 * np.cos(30 * x)], axis=-1)

    places = RNG.random((20_000, 1))
    found = evaluate(Plain(both, columns=2), places)
    np.testing.assert_allclose(found / [1, 1e-9], both(places[:, 0]) / [1, 1e-9], rtol=0, atol=1e-13)


def test_thin_layers_get_small_cells():
    def layer(x, y):
        return np.tanh((x - 0.3) / 1e-3) * np.cos(y)

    function, places = Plain(layer), RNG.random((500_000, 2))
    found = evaluate(function, places)
    np.testing.assert_allclose(found[:, 0], layer(*places.T), rtol=0, atol=1e-13)
    assert function.calls < 100_000


def test_kinks_elsewhere_are_evaluated_directly():
    def kink(x):
        return np.abs(x - 1 / np.pi)

    function, places = Plain(kink), RNG.random((20_000, 1))
    np.testing.assert_allclose(evaluate(function, places)[:, 0], kink(places[:, 0]), rtol=0, atol=1e-13)
    assert function.calls < 2_000


def test_a_table_that_misses_something_is_not_used():
    """What lies between all nodes is seen by the check at some of the points."""

    def hidden(x):
        return np.cos(x) + np.exp(-(((x - 0.5) / 1e-3) ** 2))

    places = np.full((20_000, 1), 0.5) + 1e-4 * RNG.random((20_000, 1))
    found = evaluate(Plain(hidden), places)
    np.testing.assert_allclose(found[:, 0], hidden(places[:, 0]), rtol=0, atol=1e-13)


def test_round_off_of_the_function_is_not_chased():
    def noisy(x):
        return np.sin(5 * x) + 1e-9 * np.sin(1e12 * x**2)

    function, places = Plain(noisy), RNG.random((50_000, 1))
    found = evaluate(function, places)
    np.testing.assert_allclose(found[:, 0], noisy(places[:, 0]), rtol=0, atol=1e-8)
    assert function.calls < 1000


def test_places_may_coincide():
    function = Plain(SMOOTH[2])
    places = np.stack([RNG.random(5000), np.full(5000, 0.5)], axis=1)
    np.testing.assert_allclose(evaluate(function, places)[:, 0], SMOOTH[2](*places.T), rtol=0, atol=1e-13)


def test_values_that_are_not_finite_come_from_the_function():
    def singular(x):
        return 1.0 / np.maximum(x - 0.5, 0.0)

    places = RNG.random((5000, 1))
    with np.errstate(divide="ignore", invalid="ignore"):
        np.testing.assert_array_equal(evaluate(Plain(singular), places)[:, 0], singular(places[:, 0]))


def test_the_same_call_gives_the_same_bits():
    places = RNG.random((20_000, 2))
    first, second = (evaluate(Plain(SMOOTH[2]), places) for _ in range(2))
    assert first.tobytes() == second.tobytes()
