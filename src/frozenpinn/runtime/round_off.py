"""Round-off guards: what part of two numbers their difference may be and still count as nothing."""

LAST_DIGITS = 1e-14  #: of numbers that a few operations have made
ROUND_OFF = 1e-12  #: of numbers that a longer computation has made
