"""Error bars checked by Markov chains."""

import pickle

import numpy as np
import pytest

import frozenpinn as fp
from frozenpinn.errors import MissingExtraError
from frozenpinn.inverse import chain as inferred_chain

X = np.linspace(0.1, 0.9, 30)
NOISE = np.random.default_rng(0).standard_normal(30)


@pytest.fixture(scope="module")
def linear():
    """Return a source and a boundary value, on which what is measured depends linearly."""
    problem = fp.Problem(
        "u_xx = -s",
        fp.Interval(0, 1),
        boundary={"left": "u = 0", "right": "u = b"},
        parameters={"s": fp.Unknown(1.0), "b": fp.Unknown(0.0)},
    )
    return fp.infer(problem, fp.Measurements(X, X * (1 - X) + 0.3 * X + 0.01 * NOISE, noise=0.01))


@pytest.fixture(scope="module")
def curved():
    """Return a conductivity that is known so badly that its posterior is skew: u = x(1 − x)/2k."""
    problem = fp.Problem(
        "k*u_xx = -1", fp.Interval(0, 1), boundary="u = 0", parameters={"k": fp.Unknown(1.0, lower=0.01)}
    )
    return fp.infer(problem, fp.Measurements(X, X * (1 - X) / 2 + 0.05 * NOISE, noise=0.05))


def test_a_linear_model_has_the_gaussian_posterior(linear):
    chain = linear.mcmc(500)
    assert chain.agrees == {"s": True, "b": True}
    assert chain.model_error < 1e-8
    drawn = np.cov(np.stack([chain.samples[name] for name in linear.names]))
    assert np.allclose(drawn, linear.covariance, rtol=0.25)
    assert chain.report.count("as inferred") == 2
    assert "not as inferred" not in chain.report


def test_the_same_seed_gives_the_same_draws(linear):
    one, two, other = (linear.mcmc(50, seed=seed).samples["s"] for seed in (3, 3, 4))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_new_data_can_be_checked(linear):
    again = linear.again(fp.Measurements(X[:20], 2 * X[:20] * (1 - X[:20]) + 0.01 * NOISE[:20], noise=0.01))
    chain = again.mcmc(300)
    assert chain.agrees == {"s": True, "b": True}
    assert abs(float(chain.parameters["s"]) - 4.0) < 5 * chain.parameters["s"].std


def test_a_skew_posterior_is_told_and_drawn_by_solves(curved):
    with pytest.warns(fp.FrozenPinnWarning, match=r"the quadratic model .* write mcmc\(exact=True\)"):
        curved.mcmc(100)
    chain = curved.mcmc(60, exact=True)
    assert chain.model_error is None
    k = np.linspace(0.2, 8.0, 20_000)  # the posterior of one number can be summed up
    left = (curved.values - X * (1 - X) / (2 * k[:, None])) / 0.05
    weights = np.cumsum(np.exp(-0.5 * np.sum(left**2, axis=1)))
    middle = k[np.searchsorted(weights / weights[-1], 0.5)]
    assert float(chain.parameters["k"]) == pytest.approx(middle, rel=0.05)
    assert chain.parameters["k"].high - middle > 1.2 * (middle - chain.parameters["k"].low)


def test_what_is_refused(linear, monkeypatch):
    with pytest.raises(fp.EvaluationError, match=r"steps must be a whole number from 50 on, got 3\.5"):
        linear.mcmc(3.5)
    with pytest.raises(fp.EvaluationError, match="gone after pickling"):
        pickle.loads(pickle.dumps(linear)).mcmc()

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(inferred_chain, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"needs the package emcee; .* write: pip install '\.\[mcmc\]'"):
        linear.mcmc()
