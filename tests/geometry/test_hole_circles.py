"""Which holes a domain has."""

import pytest

import frozenpinn as fp
from frozenpinn.domains import Annulus, Shell

BOX = fp.Box([-1, -1], [1, 1])


@pytest.mark.parametrize(
    ("domain", "centres", "radius"),
    [
        (BOX, [], None),
        (fp.Disk(), [], None),
        (BOX - fp.Disk([0.5, 0.5], 0.2) - fp.Disk([-0.5, 0.5], 0.2).named("hole"), [(0.5, 0.5), (-0.5, 0.5)], 0.2),
        (BOX - (fp.Disk([0.5, 0.5], 0.2) | fp.Disk([-0.5, 0.5], 0.2)), [(0.5, 0.5), (-0.5, 0.5)], 0.2),
        (BOX - fp.Disk([1, -1], 0.3), [], None),  # cuts a corner
        (BOX - fp.Box([0, 0], [0.5, 0.5]), [(0.25, 0.25)], 0.25),
        (Annulus(0.5, 1), [(0, 0)], 0.5),
        (Annulus(0.5, 1) | fp.Disk(0, 0.6), [], None),  # filled
        (Shell(0.1, 1).named("core"), [(0, 0, 0)], 0.1),
        (fp.Box([-1] * 3, [1] * 3) - fp.Ball(0, 0.3), [(0, 0, 0)], 0.3),
    ],
)
def test_holes(domain, centres, radius):
    assert [hole.center for hole in domain.hole_circles] == [pytest.approx(c) for c in centres]
    assert all(hole.radius == pytest.approx(radius) for hole in domain.hole_circles)
