"""Hyper-parameters of gradient-trained networks: those of the paper (Datar et al., Frozen-PINN) by case and method.

All in double precision, with tanh, mean squared errors and the initialization of Glorot and Bengio, as in the paper.
Where it leaves something open, we have chosen:

* Optimizers. Its L-BFGS is that of PyTorch with learning rate 0.1 and mini-batches; ours has a line search, which needs
  no rate, and sees all points. An epoch of L-BFGS is one iteration here. An epoch of Adam has as many steps as there
  are mini-batches. The rate of Adam is printed for nonlinear diffusion (0.01), reaction and diffusion (0.001) and the
  deep networks (0.001) only; the 0.1 beside "LBFGS (ADAM)" is read as that of L-BFGS, and 0.001 is used. It decays.
* Loss. λ₁ belongs to the equation, λ₂ to initial and boundary conditions alike, each a mean over its points.
* Points. A third of "initial and boundary points" is initial; the others are shared equally by the sides. Inputs are
  scaled to [−1, 1].
* In solids, "batch size 888" is left out, as L-BFGS sees all points; the network of u₂ has four times the epochs.
* Causal weights. The number of time levels is not given: 100 here. Mini-batches have 2000 points.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from frozenpinn_lab.cases.peers import Baseline, Published
from frozenpinn_lab.peers.pinn.settings import PinnSettings

UNPUBLISHED = Published()


class Training(NamedTuple):
    """How a network is trained for a case, what the paper reports, and what is ours and not that of these figures."""

    settings: PinnSettings
    published: Published = UNPUBLISHED
    own: str = ""

    @property
    def baseline(self) -> Baseline:
        """The same, as all other methods have it."""
        notes = (self.own, "published seconds are those of a GPU" if self.published.gpu else "")
        recipe = "paper" if self.published.rel_l2 is not None and not self.own else None
        return Baseline(vars(self.settings), self.published, recipe, "; ".join(filter(None, notes)))


def _epochs(base: PinnSettings, epochs: int) -> PinnSettings:
    """Return settings with the steps of Adam that make some epochs."""
    batches = 1 if base.batch is None else max(1, -(-base.interior // base.batch))
    return replace(base, adam_steps=epochs * batches)


def _adam(base: PinnSettings, epochs: int, published: Published = UNPUBLISHED) -> Training:
    """Return a training by Adam for a number of epochs."""
    return Training(replace(_epochs(base, epochs), optimizer="adam", lbfgs_steps=0), published)


def _lbfgs(base: PinnSettings, epochs: int, published: Published = UNPUBLISHED, own: str = "") -> Training:
    """Return a training by L-BFGS for a number of epochs."""
    return Training(replace(base, optimizer="lbfgs", lbfgs_steps=epochs, batch=None), published, own)


def _causal(
    base: PinnSettings,
    epochs: int,
    lbfgs_epochs: int,
    epsilon: float,
    published: Published,
    conditions: int,
    own: str = "",
) -> Training:
    """Return a causal training: 40000 points, Adam and then L-BFGS."""
    many = _epochs(replace(base, interior=40_000, conditions=conditions, batch=2000), epochs)
    return Training(replace(many, optimizer="causal", lbfgs_steps=lbfgs_epochs, epsilons=(epsilon,)), published, own)


_ADVECTION = PinnSettings(layers=4, width=30, interior=2000, conditions=600)
_DEEP = replace(_ADVECTION, layers=10)
_BEAM = PinnSettings(layers=4, width=20, interior=10_000, conditions=6000, weights=(0.1, 1.0), batch=2000)
_WINKLER = PinnSettings(layers=4, width=200, interior=10_000, conditions=1500, batch=500)
_BURGERS = PinnSettings(layers=9, width=20, interior=10_000, conditions=600)
_DIFFUSION = PinnSettings(layers=4, width=30, interior=880, conditions=320, weights=(0.01, 1.0), learning_rate=1e-2)
_REACTION = PinnSettings(layers=4, width=20, interior=1000, conditions=1000, weights=(0.01, 1.0))
_HEAT = PinnSettings(layers=4, width=20, interior=16_000, conditions=4000, batch=4000)
# The paper quotes PINNacle (Hao et al. 2024) for the wave; its defaults are 5 layers of 100 neurons, Adam with rate
# 0.001 for 20000 iterations, or 5000 of them before L-BFGS: hours without a GPU. The smaller network is our choice,
# and so is λ₁: derivatives of second order are some hundred times larger here than the solution.
_PINNACLE = PinnSettings(layers=5, width=100, interior=8192, conditions=4096, adam_steps=5000)
_WAVE = PinnSettings(layers=4, width=40, interior=4000, conditions=900, weights=(1e-3, 1.0))
_SOLID = PinnSettings(layers=4, width=20, interior=6000, conditions=888, weights=(0.1, 1.0))
# The paper refers to He et al. (2023) for 100 dimensions; the network is that of the heat equation in 10.
_BALL = PinnSettings(layers=4, width=20, interior=1000, conditions=1000)

#: Settings by case and method. "-deep" are the networks of ten layers in the paper's appendix, "-pinnacle" its source.
SETTINGS: dict[str, dict[str, Training]] = {
    "advection": {
        "pinn-adam": _adam(_ADVECTION, 20_000),  # "fails"; epochs as for the deep network
        "pinn-lbfgs": _lbfgs(_ADVECTION, 5000, Published(6.92e-1, 30.5)),
        "causal-pinn": _causal(_ADVECTION, 2000, 5000, 10.0, Published(2.90, 357.63), 6000),
        "pinn-adam-deep": _adam(_DEEP, 20_000, Published(5.18e-1, 168.14)),
        "pinn-lbfgs-deep": _lbfgs(_DEEP, 20_000, Published(4.37e-3, 207.25)),
    },
    "euler-bernoulli": {
        "pinn-adam": _adam(_BEAM, 30_000, Published(3.95e-2, 4209.82)),
        "pinn-lbfgs": _lbfgs(_BEAM, 15_000, Published(4.21e-3, 2303.71)),
    },
    "euler-bernoulli-winkler": {
        "pinn-lbfgs": _lbfgs(_WINKLER, 10_000, Published(5.33, 1858.0, gpu=True)),
        # the paper quotes Kapoor et al. (2024) without settings; network and epochs as for the PINN, ε as for advection
        "causal-pinn": _causal(
            _WINKLER,
            1000,
            9000,
            10.0,
            Published(3.00e-2, 1873.0, gpu=True),
            1500,
            "published without settings; these are ours",
        ),
    },
    "wave": {
        "pinn-adam": _adam(replace(_WAVE, batch=1000), 5000),
        "pinn-lbfgs": _lbfgs(
            _WAVE, 15_000, Published(5.88e-1, 350.0, gpu=True), "a smaller network than the published one"
        ),
        "pinn-lbfgs-pinnacle": _lbfgs(_PINNACLE, 15_000, Published(5.88e-1, 350.0, gpu=True)),
    },
    "burgers": {
        "pinn-adam": _adam(replace(_BURGERS, batch=2000), 5000),  # not in the paper; epochs as for its causal PINN
        "pinn-lbfgs": _lbfgs(_BURGERS, 10_000, Published(3.88e-3, 275.2)),
        "causal-pinn": _causal(_BURGERS, 5000, 10_000, 5.0, Published(1.60e-2, 1531.79), 600),
    },
    "nonlinear-diffusion": {
        "pinn-adam": _adam(_DIFFUSION, 10_000, Published(2.09e-2, 81.36)),
        "pinn-lbfgs": _lbfgs(_DIFFUSION, 10_000, Published(1.22e-2, 255.9)),
    },
    "reaction-diffusion-5d": {
        "pinn-adam": _adam(_REACTION, 10_000, Published(3.40e-1, 171.43)),
        "pinn-lbfgs": _lbfgs(_REACTION, 10_000, Published(3.33e-2, 183.38)),
    },
    "heat-3d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Published(4.54e-4, 102.32))},
    "heat-5d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Published(4.52e-4, 133.95))},
    "heat-7d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Published(4.69e-4, 163.89))},
    "heat-10d": {
        "pinn-adam": _adam(_HEAT, 5000, Published(1.68e-1, 1002.49)),
        "pinn-lbfgs": _lbfgs(_HEAT, 1000, Published(6.06e-4, 189.6)),
    },
    "helmholtz-solid": {"pinn-lbfgs": _lbfgs(_SOLID, 2500, Published(3.18e-4, 57.12))},
    "heat-100d": {
        "pinn-adam": _adam(_BALL, 5000, Published(6.00e-3, 141.0, gpu=True)),
        "pinn-lbfgs": _lbfgs(replace(_BALL, adam_steps=1000), 1000, Published(4.98e-3, 26.25, gpu=True)),
    },
}
