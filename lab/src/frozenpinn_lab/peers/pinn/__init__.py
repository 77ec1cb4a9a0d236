"""Physics-informed networks trained by gradients: the peers that frozen networks are compared with.

One call, :func:`solve_pinn`, with Adam, L-BFGS or causal weights. JAX and optax are needed
(``pip install './lab[peers]'``) and loaded by the first solve.
"""

from frozenpinn_lab.peers.pinn.settings import PinnSettings
from frozenpinn_lab.peers.pinn.solve import solve_pinn
from frozenpinn_lab.peers.pinn.trained import TrainedNetwork

__all__ = ["PinnSettings", "TrainedNetwork", "solve_pinn"]
