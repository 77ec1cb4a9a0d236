"""The tuned numbers of results, each a field that users may replace: ``found.mcmc(rules=ChainRules(…))``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChainRules:
    """How Markov chains are drawn and judged. Study: ``tests/inverse/test_inferred_chain.py`` on known posteriors."""

    reach: float = 2.0  #: deviations at which the problem is solved for the quadratic model
    walkers: int = 32  #: chains for up to eight unknowns; four for each if there are more
    burnt: int = 5  #: the first steps are left out, one in so many
    least: int = 50  #: steps
    rough: float = 0.1  #: error of the quadratic model, in units of the noise, from which on there is a warning
    share: float = 0.1  #: part of an interval by which ends may differ, …
    luck: float = 8.0  #: … and deviations/√(independent draws) beyond that
