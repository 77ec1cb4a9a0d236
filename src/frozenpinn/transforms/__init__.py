"""Other forms of a problem that are easier to solve: units, subspaces."""
