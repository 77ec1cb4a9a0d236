"""Round-off guards: the largest relative difference of two numbers that counts as zero."""

LAST_DIGITS = 1e-14  #: of numbers that a few operations have made
SUMMED = 1e-13  #: of sums of some hundred numbers, such as inner products of orthonormal functions
ROUND_OFF = 1e-12  #: of numbers that a longer computation has made
ALIKE = 1e-9  #: of numbers that are the same in mathematics and were computed in different ways
TINY = 1e-300  #: in place of sizes that vanish and are divided by
