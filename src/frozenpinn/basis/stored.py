"""Bases as arrays: what evaluation needs of them, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from frozenpinn.basis.hidden import HiddenLayer
from frozenpinn.basis.local.basis import PatchBasis
from frozenpinn.basis.network import Network
from frozenpinn.basis.product import ProductNetwork
from frozenpinn.basis.protocol import Basis, NoPoints
from frozenpinn.basis.special import SPECIAL, joined, parts_of
from frozenpinn.errors import FrozenPinnError

Array = np.ndarray


def basis_arrays(basis: Basis) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what there is to know of a basis, as JSON and as arrays."""
    about: dict[str, Any] = {"fields": list(basis.fields)}
    if isinstance(basis, Network):
        arrays: dict[str, Array] = {}
        return {**about, "kind": "network", "activations": [_put(basis, "0/", arrays)]}, arrays
    if isinstance(basis, PatchBasis):
        return {**about, "kind": "patches", "degree": basis.features.degree}, basis.arrays()
    if not isinstance(basis, ProductNetwork):
        raise FrozenPinnError(f"a basis of class {type(basis).__name__} can't be stored yet.")
    arrays = {}
    activations = [_put(factor, f"{k}/", arrays) for k, factor in enumerate(basis.factors)]
    return {**about, "kind": "product", "activations": activations, "lifts": basis.lifts}, arrays


def _put(network: Network, prefix: str, arrays: dict[str, Array]) -> str:
    hidden = network.hidden
    for name in ("weights", "origins", "offsets"):
        arrays[prefix + name] = getattr(hidden, name)
    for special in parts_of(hidden.singular):
        arrays[prefix + "special " + special.kind] = special.table
    arrays[prefix + "mixing"] = network.mixing.reshape(network.raw_size, network.size)
    arrays[prefix + "lifting"] = network.lifting.reshape(network.raw_size, network.lift_size)
    arrays[prefix + "singular"] = network.singular_values
    return hidden.activation


def basis_from_arrays(about: Mapping[str, Any], arrays: Mapping[str, Array]) -> Basis:
    """Rebuild a basis that can be evaluated."""
    fields, factors = tuple(about["fields"]), []
    if about["kind"] == "patches":
        return PatchBasis.from_arrays(fields, int(about["degree"]), dict(arrays))
    for k, activation in enumerate(about["activations"]):
        own = {name.removeprefix(f"{k}/"): a for name, a in arrays.items() if name.startswith(f"{k}/")}
        special = joined([make(own[f"special {kind}"]) for kind, make in SPECIAL.items() if f"special {kind}" in own])
        hidden = HiddenLayer(own["weights"], own["origins"], own["offsets"], activation, special)
        points = NoPoints(hidden.dimension)
        sigma = own["singular"]
        factors.append(
            Network(
                hidden, points, fields, outer=own["mixing"], singular=sigma, all_singular=sigma, lifted=own["lifting"]
            )
        )
    if about["kind"] == "network":
        return factors[0]
    points = NoPoints(len(factors))
    return ProductNetwork(tuple(factors), points, bool(about["lifts"]), fields)
