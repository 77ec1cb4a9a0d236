"""The Fourier reference against exact solutions, and against itself with shorter steps and more modes."""

import numpy as np
import pytest

from frozenpinn_lab.references import FourierReference
from frozenpinn_lab.references.fourier import coefficients, fourier_coefficients

PI = np.pi


def soliton(x, t, speed=4.0):
    """KdV uₜ + 6uuₓ + uₓₓₓ = 0; below 1e-16 at the ends of [−20, 20] while it is near the middle."""
    return speed / 2 / np.cosh(np.sqrt(speed) / 2 * (x - speed * t)) ** 2


def soliton_reference(modes, step):
    start = lambda x: soliton(x, 0.0)  # noqa: E731
    return FourierReference(-20, 20, lambda d: -(d**3), start, modes=modes, step=step, flux=lambda u: -3 * u**2)


def cole_hopf(x, t, nu=0.3):
    decay = np.exp(-nu * t)
    return 2 * nu * decay * np.sin(x) / (2 + decay * np.cos(x))


def logistic(x, t):
    start = 1 / (2 + np.cos(x))
    return start * np.exp(t) / (1 + start * (np.exp(t) - 1))


def sup(reference, exact, lower, upper, times):
    x = np.linspace(lower, upper, 173)
    return max(float(np.max(np.abs(reference(x, t) - exact(x, t)))) for t in times)


def test_soliton():
    assert sup(soliton_reference(512, 5e-4), soliton, -20, 20, (0.0, 0.00037, 0.5, 0.61803)) < 1e-9


def test_order_four():
    errors = [sup(soliton_reference(512, step), soliton, -20, 20, (0.4,)) for step in (4e-3, 2e-3, 1e-3)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((orders > 3.9) & (orders < 4.2)), errors


def test_burgers_by_cole_hopf():
    reference = FourierReference(
        0, 2 * PI, lambda d: 0.3 * d**2, lambda x: cole_hopf(x, 0.0), modes=128, step=2e-3, flux=lambda u: -(u**2) / 2
    )
    assert sup(reference, cole_hopf, 0, 2 * PI, (0.1234, 1.0)) < 1e-12


def test_reaction_alone():
    start = lambda x: logistic(x, 0.0)  # noqa: E731
    reference = FourierReference(
        0, 2 * PI, lambda d: 1 + 0 * d, start, modes=128, step=2e-3, reaction=lambda u: -(u**2), keep=1
    )
    assert sup(reference, logistic, 0, 2 * PI, (0.1234, 1.0)) < 1e-11


def test_times_may_come_in_any_order():
    x = np.linspace(-20, 20, 31)
    forward, backward = soliton_reference(256, 1e-2), soliton_reference(256, 1e-2)
    times = (0.0, 0.05, 0.123, 0.2)
    there = [forward(x, t) for t in times]
    back = [backward(x, t) for t in reversed(times)][::-1]
    assert np.array_equal(there, back)


def test_nothing_is_computed_before_it_is_needed():
    def refuse(u):
        raise AssertionError("stepped")

    reference = FourierReference(0, 2 * PI, lambda d: d**2, np.sin, modes=32, step=0.1, reaction=refuse)
    assert np.array_equal(reference(np.array([0.5]), 0.0), np.sin([0.5]))
    with pytest.raises(AssertionError, match="stepped"):
        reference(np.array([0.5]), 0.1)


def test_corner_is_not_aliased():
    # |x| on [−1, 1]: coefficients −2/(πk)² for odd k, none for even ones, here of a function given on [0, 2]
    corner = fourier_coefficients(lambda x: np.abs(x - 1), 0, 2, 64)
    k = np.arange(1, 33)
    assert abs(corner[0] - 0.5) < 1e-14
    assert np.max(np.abs(corner[1:] - np.where(k % 2, 2 / (PI * k) ** 2, 0.0))) < 1e-14
    # where the interval closes instead of in a panel: x on [0, 1]
    ramp = fourier_coefficients(lambda x: x, 0, 1, 64)
    assert np.max(np.abs(ramp[1:] - 1j / (2 * PI * k))) < 1e-14


def test_coefficients_near_zero_do_not_cancel():
    c = coefficients(np.array([0.0, 1e-9, -1e-9j]), 0.5)
    for weight, limit in zip(c[2:], (0.25, 1 / 12, 1 / 6, 1 / 12), strict=True):  # classical Runge–Kutta
        assert np.max(np.abs(weight - limit)) < 1e-8
        assert abs(weight[0] - limit) < 1e-15


@pytest.mark.parametrize("change", [{"modes": 63}, {"step": 0.0}, {"keep": 0.0}, {"upper": 0.0}])
def test_nonsense_is_refused(change):
    settings = {"lower": 0.0, "upper": 1.0, "modes": 64, "step": 0.1, "keep": 1.0} | change
    with pytest.raises(ValueError, match="needs"):
        FourierReference(linear=lambda d: d**2, initial=np.sin, **settings)


def test_times_before_the_start_are_refused():
    reference = FourierReference(0, 2 * PI, lambda d: d**2, np.sin, modes=32, step=0.1)
    with pytest.raises(ValueError, match="before the start"):
        reference(np.array([0.5]), -0.1)
