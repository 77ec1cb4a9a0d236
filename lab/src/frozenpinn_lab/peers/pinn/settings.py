"""Hyper-parameters of gradient-trained networks, and their defaults by optimizer."""

from __future__ import annotations

from dataclasses import dataclass

from frozenpinn.errors import SettingsError


@dataclass(frozen=True)
class PinnSettings:
    """How a network is trained.

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


DEFAULTS = {
    "adam": PinnSettings("adam", adam_steps=20_000),
    "lbfgs": PinnSettings("lbfgs", lbfgs_steps=5000),
    "causal": PinnSettings("causal", interior=20_000, adam_steps=10_000, lbfgs_steps=5000, batch=2000),
}
