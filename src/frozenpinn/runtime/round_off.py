"""Round-off guards: the largest relative difference of two numbers that counts as zero."""

LAST_DIGITS = 1e-14  #: of numbers that a few operations have made
ROUND_OFF = 1e-12  #: of numbers that a longer computation has made
