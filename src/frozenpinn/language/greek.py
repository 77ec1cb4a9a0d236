"""Greek letters and their spelled names are the same: ν and nu, ψ_t and psi_t."""

from __future__ import annotations

from collections.abc import Iterable

_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lam mu nu xi omicron pi rho sigma tau upsilon phi chi "
    "psi omega"
)
_LETTERS = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _NAMES.split(), strict=True))
_LETTERS |= {letter.upper(): name.capitalize() for letter, name in _LETTERS.items()}
_LETTERS |= {"ς": "sigma", "ϑ": "theta", "ϕ": "phi", "ϵ": "epsilon", "ϱ": "rho", "ϖ": "pi", "µ": "mu"}
_TABLE = str.maketrans(_LETTERS)


def spelled_out(name: str) -> str:
    """Return a name with its Greek letters spelled.

    >>> spelled_out("ψ_t"), spelled_out("Δt")
    ('psi_t', 'Deltat')
    """
    plain = name.translate(_TABLE)
    head, underscore, tail = plain.partition("_")
    return f"lam{underscore}{tail}" if head == "lambda" else plain


def same_name(word: str, names: Iterable[str]) -> str | None:
    """Return the name that a word stands for: itself, or one that is spelled alike; None if there is none."""
    names = list(names)
    if word in names:
        return word
    wanted = spelled_out(word)
    return next((name for name in names if spelled_out(name) == wanted), None)
