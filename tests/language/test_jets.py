"""Jets: names, symbols and derivatives of explicit functions."""

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from frozenpinn.errors import ExpressionError
from frozenpinn.language.jets import Jet, JetSpace, coordinate_names, maximal_time_order


def test_coordinate_names():
    assert coordinate_names(1) == ("x",)
    assert coordinate_names(3) == ("x", "y", "z")
    assert coordinate_names(4) == ("x1", "x2", "x3", "x4")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("u_x", ("u", (1, 0), 0)),
        ("u_xyxt", ("u", (2, 1), 1)),
        ("u_tt", ("u", (0, 0), 2)),
        ("a_b_yy", ("a_b", (0, 2), 0)),
        ("u", None),
        ("u_", None),
        ("_x", None),
        ("u_z", None),
        ("u_n", None),
        ("u_xn", None),
    ],
)
def test_split_name(name, expected):
    split = JetSpace(["x", "y"]).split_name(name)
    assert (split and (split[0], split[1].alpha, split[1].time)) == expected


def test_split_name_with_normals():
    name, jet = JetSpace(["x", "y"]).split_name("u_nny", normal=True)
    assert (name, jet) == ("u", Jet("u", (0, 1), 0, 0, 2))
    assert jet.order == 3


@given(st.integers(1, 5), st.data())
def test_name_and_split_name_are_inverse(dimension, data):
    jets = JetSpace(coordinate_names(dimension))
    alpha = tuple(data.draw(st.lists(st.integers(0, 2), min_size=dimension, max_size=dimension)))
    jet = Jet("u", alpha, 0, data.draw(st.integers(0, 2)))
    name = jets.name(jet)
    assert jets.split_name(name) == (("u", jet) if "_" in name else None)
    assert jets.jet_of(jets.symbol(jet)) == jet


def test_derivatives_of_absurd_order_are_refused():
    jets = JetSpace(["x"])
    assert jets.symbol(Jet("u", (12,))).name == "u_" + "x" * 12
    for jet in (Jet("u", (13,)), Jet("u", (12,), 0, 1), Jet("u", (9000,))):
        with pytest.raises(ExpressionError, match=r"derivatives beyond order 12 are refused, got \d+ of 'u'"):
            jets.symbol(jet)


def test_orders():
    jet = Jet("u", (1, 2), 1, 1)
    assert jet.order == 5
    assert jet.spatial == Jet("u", (1, 2), 1, 0)
    assert maximal_time_order([jet, Jet("u", (0, 0), 0, 2), Jet("v", (0, 0))], "u") == 2
    assert maximal_time_order([jet], "v") == -1


def test_names_are_readable():
    jets = JetSpace(["x", "y"])
    assert jets.name(Jet("u", (2, 1), 0, 1)) == "u_xxyt"
    assert jets.name(Jet("u", (1, 0), 2)) == "lap(lap(u_x))"
    assert jets.name(Jet("u", (0, 0))) == "u"


def test_differentiate_and_substitute():
    jets = JetSpace(["x", "y"])
    (x, y), t = jets.x, jets.t
    u = x**4 * y**2 * t**3
    assert jets.differentiate(u, Jet("u", (1, 1), 0, 1)) == 24 * x**3 * y * t**2
    assert sp.expand(jets.differentiate(u, Jet("u", (0, 0), 1))) == 12 * x**2 * y**2 * t**3 + 2 * x**4 * t**3
    product = jets.symbol(Jet("u", (1, 0))) * jets.symbol(jets.field("v")) + x
    assert (
        jets.substitute(product, {"u": x**2, "v": jets.symbol(jets.field("u"))})
        == 2 * x * jets.symbol(jets.field("u")) + x
    )


def test_jets_come_in_a_reproducible_order():
    jets = JetSpace(["x"])
    symbols = [jets.symbol(Jet(f, (n,))) for f in "vu" for n in (2, 0, 1)]
    assert [str(s) for s in jets.jets_in(sum(symbols) + jets.t)] == ["u", "u_x", "u_xx", "v", "v_x", "v_xx"]
