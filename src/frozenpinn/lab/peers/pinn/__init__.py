"""Physics-informed networks trained by gradients: the peers that frozen networks are compared with.

One call, :func:`solve_pinn`, with Adam, L-BFGS or causal weights; ``SETTINGS`` holds the hyper-parameters of the paper
by case and method. JAX and optax are needed (``pip install 'frozenpinn[baselines]'``) and loaded by the first solve.
"""

from frozenpinn.lab.cases.pinn_settings import SETTINGS, PinnSettings
from frozenpinn.lab.peers.pinn.solve import solve_pinn
from frozenpinn.lab.peers.pinn.trained import TrainedNetwork

__all__ = ["SETTINGS", "PinnSettings", "TrainedNetwork", "solve_pinn"]
