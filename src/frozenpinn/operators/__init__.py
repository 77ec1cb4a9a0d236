"""Linear maps between coefficients and values."""
