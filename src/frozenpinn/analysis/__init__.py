"""From a problem to what is known about it before any solve: pure functions."""
