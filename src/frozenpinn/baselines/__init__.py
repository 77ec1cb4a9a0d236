"""Classical solvers that the frozen networks are compared with; loaded only when asked for."""
