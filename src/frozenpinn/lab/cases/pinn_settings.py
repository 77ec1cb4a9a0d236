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
* Causal weights. The number of time levels is not given: 100 here. Mini-batches have 2000 points.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from frozenpinn.errors import SettingsError


class Figures(NamedTuple):
    """What the paper reports: relative L² error, seconds, and whether these are those of a GPU."""

    rel_l2: float | None = None
    seconds: float | None = None
    gpu: bool = False


UNPUBLISHED = Figures()


@dataclass(frozen=True)
class PinnSettings:
    """How a network is trained, and what the paper reports.

    Attributes
    ----------
    optimizer
        ``"adam"``, ``"lbfgs"`` or ``"causal"``.
    layers, width
        Hidden layers and neurons in each.
    interior, conditions
        Number of collocation points inside, and of initial and boundary points together.
    weights
        λ₁ of the equation and λ₂ of the conditions.
    adam_steps, learning_rate, batch
        Steps of Adam, their initial rate, and interior points of each step (None: all).
    lbfgs_steps
        Iterations of L-BFGS, after Adam.
    levels, epsilons
        Time levels and ε of causal weights; several ε are taken one after the other.
    periodic_embedding
        Build periodicity into the network instead of the loss.
    published
        The paper's figures; empty if there are none.
    own
        What is ours and not that of the published figures; empty if nothing is.
    """

    optimizer: str = "lbfgs"
    layers: int = 4
    width: int = 30
    interior: int = 2000
    conditions: int = 600
    weights: tuple[float, float] = (1.0, 1.0)
    adam_steps: int = 0
    learning_rate: float = 1e-3
    batch: int | None = None
    lbfgs_steps: int = 0
    levels: int = 100
    epsilons: tuple[float, ...] = (10.0,)
    periodic_embedding: bool = False
    published: Figures = UNPUBLISHED
    own: str = ""

    def check(self) -> None:
        """Refuse numbers that make no sense."""
        counts = {name: getattr(self, name) for name in ("layers", "width", "interior", "conditions", "levels")}
        for name, value in counts.items():
            if value < 1 or value != int(value):
                raise SettingsError(f"{name} must be a positive whole number, got {value!r}.")
        if self.adam_steps < 0 or self.lbfgs_steps < 0 or self.adam_steps + self.lbfgs_steps == 0:
            raise SettingsError("adam_steps or lbfgs_steps must be positive.")
        if self.learning_rate <= 0 or min(self.weights) < 0 or not self.epsilons or min(self.epsilons) < 0:
            raise SettingsError("learning_rate, weights and epsilons must be positive.")

    @property
    def hyper_parameters(self) -> dict[str, object]:
        """Keyword arguments of :func:`solve_pinn`."""
        return {name: value for name, value in vars(self).items() if name not in ("published", "own")}


DEFAULTS = {
    "adam": PinnSettings("adam", adam_steps=20_000),
    "lbfgs": PinnSettings("lbfgs", lbfgs_steps=5000),
    "causal": PinnSettings("causal", interior=20_000, adam_steps=10_000, lbfgs_steps=5000, batch=2000),
}


def _adam(base: PinnSettings, epochs: int, published: Figures = UNPUBLISHED, **changes: object) -> PinnSettings:
    """Return settings of Adam for a number of epochs."""
    changed = replace(base, optimizer="adam", lbfgs_steps=0, published=published, **changes)  # type: ignore[arg-type]
    batches = 1 if changed.batch is None else max(1, -(-changed.interior // changed.batch))
    return replace(changed, adam_steps=epochs * batches)


def _lbfgs(base: PinnSettings, epochs: int, published: Figures = UNPUBLISHED) -> PinnSettings:
    """Return settings of L-BFGS for a number of epochs."""
    return replace(base, optimizer="lbfgs", lbfgs_steps=epochs, batch=None, published=published)


def _causal(
    base: PinnSettings, epochs: int, lbfgs_epochs: int, epsilon: float, published: Figures, conditions: int
) -> PinnSettings:
    """Return settings of a causal PINN: 40000 points, Adam and then L-BFGS."""
    changed = replace(base, interior=40_000, conditions=conditions, batch=2000)
    changed = replace(_adam(changed, epochs, published), optimizer="causal", lbfgs_steps=lbfgs_epochs)
    return replace(changed, epsilons=(epsilon,))


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
_PINNACLE = PinnSettings(layers=5, width=100, interior=8192, conditions=4096)
_WAVE = PinnSettings(layers=4, width=40, interior=4000, conditions=900, weights=(1e-3, 1.0))
# The paper refers to He et al. (2023) for 100 dimensions; the network is that of the heat equation in 10.
_BALL = PinnSettings(layers=4, width=20, interior=1000, conditions=1000)

#: Settings by case and method. "-deep" are the networks of ten layers in the paper's appendix, "-pinnacle" its source.
SETTINGS: dict[str, dict[str, PinnSettings]] = {
    "advection": {
        "pinn-adam": _adam(_ADVECTION, 20_000),  # "fails"; epochs as for the deep network
        "pinn-lbfgs": _lbfgs(_ADVECTION, 5000, Figures(6.92e-1, 30.5)),
        "causal-pinn": _causal(_ADVECTION, 2000, 5000, 10.0, Figures(2.90, 357.63), 6000),
        "pinn-adam-deep": _adam(_DEEP, 20_000, Figures(5.18e-1, 168.14)),
        "pinn-lbfgs-deep": _lbfgs(_DEEP, 20_000, Figures(4.37e-3, 207.25)),
    },
    "euler-bernoulli": {
        "pinn-adam": _adam(_BEAM, 30_000, Figures(3.95e-2, 4209.82)),
        "pinn-lbfgs": _lbfgs(_BEAM, 15_000, Figures(4.21e-3, 2303.71)),
    },
    "euler-bernoulli-winkler": {
        "pinn-lbfgs": _lbfgs(_WINKLER, 10_000, Figures(5.33, 1858.0, gpu=True)),
        # the paper quotes Kapoor et al. (2024) without settings; network and epochs as for the PINN, ε as for advection
        "causal-pinn": replace(
            _causal(_WINKLER, 1000, 9000, 10.0, Figures(3.00e-2, 1873.0, gpu=True), 1500),
            own="published without settings; these are ours",
        ),
    },
    "wave": {
        "pinn-adam": _adam(_WAVE, 5000, batch=1000),
        "pinn-lbfgs": replace(
            _lbfgs(_WAVE, 15_000, Figures(5.88e-1, 350.0, gpu=True)), own="a smaller network than the published one"
        ),
        "pinn-lbfgs-pinnacle": replace(_lbfgs(_PINNACLE, 15_000, Figures(5.88e-1, 350.0, gpu=True)), adam_steps=5000),
    },
    "burgers": {
        "pinn-adam": _adam(_BURGERS, 5000, batch=2000),  # not in the paper; epochs as for its causal PINN
        "pinn-lbfgs": _lbfgs(_BURGERS, 10_000, Figures(3.88e-3, 275.2)),
        "causal-pinn": _causal(_BURGERS, 5000, 10_000, 5.0, Figures(1.60e-2, 1531.79), 600),
    },
    "nonlinear-diffusion": {
        "pinn-adam": _adam(_DIFFUSION, 10_000, Figures(2.09e-2, 81.36)),
        "pinn-lbfgs": _lbfgs(_DIFFUSION, 10_000, Figures(1.22e-2, 255.9)),
    },
    "reaction-diffusion-5d": {
        "pinn-adam": _adam(_REACTION, 10_000, Figures(3.40e-1, 171.43)),
        "pinn-lbfgs": _lbfgs(_REACTION, 10_000, Figures(3.33e-2, 183.38)),
    },
    "heat-3d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Figures(4.54e-4, 102.32))},
    "heat-5d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Figures(4.52e-4, 133.95))},
    "heat-7d": {"pinn-lbfgs": _lbfgs(_HEAT, 1000, Figures(4.69e-4, 163.89))},
    "heat-10d": {
        "pinn-adam": _adam(_HEAT, 5000, Figures(1.68e-1, 1002.49)),
        "pinn-lbfgs": _lbfgs(_HEAT, 1000, Figures(6.06e-4, 189.6)),
    },
    "heat-100d": {
        "pinn-adam": _adam(_BALL, 5000, Figures(6.00e-3, 141.0, gpu=True)),
        "pinn-lbfgs": replace(_lbfgs(_BALL, 1000, Figures(4.98e-3, 26.25, gpu=True)), adam_steps=1000),
    },
}
