"""Physics-informed networks trained by gradients: the peers that frozen networks are compared with.

One call, :func:`solve_pinn`, with Adam, L-BFGS or causal weights. JAX and optax are needed
(``pip install 'frozenpinn[baselines]'``) and loaded by the first solve.
"""

from frozenpinn.lab.peers.pinn.settings import PinnSettings
from frozenpinn.lab.peers.pinn.solve import solve_pinn
from frozenpinn.lab.peers.pinn.trained import TrainedNetwork

__all__ = ["PinnSettings", "TrainedNetwork", "solve_pinn"]
