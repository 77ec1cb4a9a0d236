"""Evolutions beside which other fields follow at each moment, from equations without a time derivative.

vorticity, on [0, 2π]² periodic:             w_t + ψ_y w_x − ψ_x w_y = ν Δw,   Δψ = −w
keller-segel, on [0, 1]² periodic:           u_t = Δu − χ div(u ∇c),   Δc − c = −u
poisson-nernst-planck, on [0, 1]:            n_t = (n_x + n φ_x)_x + f,   c_t = (c_x − c φ_x)_x + g,
                                             ε² φ_xx = c − n + h
cahn-hilliard-split, on [0, 1]:              u_t = μ_xx + f,   μ = u³ − u − ε² u_xx
darcy-transport, on the unit disk:           c_t + U·∇c = D Δc + f,   U = −∇p,   div U = c
biot, on [0, 1]:                             (p + u_x)_t = p_xx,   u_xx = p_x
thermo-elastic-plate, on [0, 1]²:            T_t = κ ΔT,   ΔU + ∇div U = ∇T
porous-electrode, on [0, 1]:                 c_t = c_xx − j + f,   j = c sinh φ,   φ_xx = j + g

References of the first two are spectral methods written out here, in which the second field is found in the modes; the
others have closed forms, with sources that belong to them (the ions keep their condition of no flux but for these).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import fft

from frozenpinn.geometry import Ball, Box, Interval
from frozenpinn.search.settings import Settings
from frozenpinn.statement.problem import Problem
from frozenpinn_lab.cases.box_common import OUTPUTS
from frozenpinn_lab.cases.case import Case, Variant
from frozenpinn_lab.references import BoxReference
from frozenpinn_lab.references.box import Values

Array = np.ndarray
PI = np.pi


def _chosen(high: int | tuple[int, ...], low: int | tuple[int, ...]) -> dict[tuple[str, str], Settings]:
    """Return widths that were chosen with true errors in view."""
    return {("best", "high"): Settings(width=high, rtol=1e-8), ("best", "low"): Settings(width=low, rtol=1e-4)}


# ---- vorticity ----------------------------------------------------------------------------------------------


@cache
def vorticity_reference(nu: float, end: float, modes: int = 96, substeps: int = 10) -> BoxReference:
    """Return vorticity and stream function by Fourier series."""
    waves = fft.fftfreq(modes, 1.0 / modes)
    square = waves[:, None] ** 2 + waves[None, :] ** 2
    inverse = np.divide(1.0, square, out=np.zeros_like(square), where=square > 0)

    def carried(w: Values) -> list[Array]:
        pushed = w.derivative(1, 0) * w.derivative(0, 1) - w.derivative(1, 1) * w.derivative(0, 0)
        change = -pushed  # of w: −(ψ_y w_x − ψ_x w_y)
        return [-change, -np.real(fft.ifft2(inverse * fft.fft2(change)))]

    return BoxReference(
        (0, 0),
        (2 * PI, 2 * PI),
        [lambda x, y: nu * (x**2 + y**2)] * 2,
        [
            lambda x, y: 2 * np.cos(x) * np.cos(y) + 4 * np.sin(2 * x),
            lambda x, y: np.cos(x) * np.cos(y) + np.sin(2 * x),
        ],
        carried,
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
        keep=2 / 3,
    )


def vorticity(nu: float = 0.05, end: float = 1.0) -> Problem:
    """Return plane flow by its vorticity, with the stream function as a field of its own."""
    reference = vorticity_reference(nu, end)
    return Problem(
        ["w_t + psi_y*w_x - psi_x*w_y = nu*lap(w)", "lap(psi) = -w"],
        domain=Box([0, 0], [2 * PI, 2 * PI], periodic=True),
        time=(0, end),
        initial="2*cos(x)*cos(y) + 4*sin(2*x)",
        parameters={"nu": nu},
        exact={"w": reference.field(0), "psi": reference.field(1)},
    )


# ---- chemotaxis ---------------------------------------------------------------------------------------------


@cache
def keller_segel_reference(chi: float, end: float, modes: int = 48, substeps: int = 10) -> BoxReference:
    """Return cells and what they follow by Fourier series."""
    waves = 2 * PI * fft.fftfreq(modes, 1.0 / modes)
    factor = 1.0 / (1.0 + waves[:, None] ** 2 + waves[None, :] ** 2)

    def gathered(w: Values) -> list[Array]:
        u, c = w.fields
        change = -chi * (
            w.derivative(0, 0) * w.derivative(1, 0) + w.derivative(0, 1) * w.derivative(1, 1) + u * (c - u)
        )
        return [change, np.real(fft.ifft2(factor * fft.fft2(change)))]

    return BoxReference(
        (0, 0),
        (1, 1),
        [lambda x, y: x**2 + y**2] * 2,
        [
            lambda x, y: 1 + 0.5 * np.cos(2 * PI * x) * np.cos(2 * PI * y),
            lambda x, y: 1 + 0.5 / (1 + 8 * PI**2) * np.cos(2 * PI * x) * np.cos(2 * PI * y),
        ],
        gathered,
        modes=modes,
        step=end / (OUTPUTS * substeps),
        stride=substeps,
    )


def keller_segel(chi: float = 20.0, end: float = 0.05) -> Problem:
    """Return cells that follow a signal that they make themselves and that spreads at once."""
    reference = keller_segel_reference(chi, end)
    return Problem(
        ["u_t = lap(u) - chi*div(u*grad(c))", "lap(c) - c = -u"],
        domain=Box([0, 0], [1, 1], periodic=True),
        time=(0, end),
        initial="1 + 0.5*cos(2*pi*x)*cos(2*pi*y)",
        parameters={"chi": chi},
        exact={"u": reference.field(0), "c": reference.field(1)},
    )


# ---- closed forms -------------------------------------------------------------------------------------------


def poisson_nernst_planck(eps: float = 0.3, end: float = 0.2) -> Problem:
    """Return two kinds of ions and their potential, without flux but for what the sources ask for."""
    phi = "(x*(1 + t)/2)"
    n = f"(exp(-{phi})*(1 + 4*x^2*(1 - x)^2*cos(3*t)))"  # without flux at both ends
    c = f"(exp({phi})*(1 - 4*x^2*(1 - x)^2*exp(-t)))"
    return Problem(
        [
            "n_t = dx(n_x + n*phi_x) + f",
            "c_t = dx(c_x - c*phi_x) + g",
            "eps^2*phi_xx = c - n + h",
        ],
        domain=Interval(0, 1),
        time=(0, end),
        initial={"n": "exp(-x/2)*(1 + 4*x^2*(1 - x)^2)", "c": "exp(x/2)*(1 - 4*x^2*(1 - x)^2)"},
        boundary={
            "left": ["n_n + n*phi_n = 0", "c_n - c*phi_n = 0", "phi = 0"],
            "right": ["n_n + n*phi_n = 0", "c_n - c*phi_n = 0", "phi = (1 + t)/2"],
        },
        parameters={
            "eps": eps,
            "f": f"dt({n}) - dx(dx({n}) + {n}*dx({phi}))",
            "g": f"dt({c}) - dx(dx({c}) - {c}*dx({phi}))",
            "h": f"eps^2*dxx({phi}) - {c} + {n}",
        },
        exact={"n": n, "c": c, "phi": phi},
    )


def cahn_hilliard_split(eps: float = 0.1, end: float = 0.1) -> Problem:
    """Return a mixture that separates, with its chemical potential as a field."""
    u = "(cos(pi*x)*exp(-t)/2)"
    mu = f"({u}^3 - {u} - eps^2*dxx({u}))"
    return Problem(
        ["u_t = mu_xx + f", "mu = u^3 - u - eps^2*u_xx"],
        domain=Interval(0, 1),
        time=(0, end),
        initial="cos(pi*x)/2",
        boundary=["u_n = 0", "mu_n = 0"],
        parameters={"eps": eps, "f": f"dt({u}) - dxx({mu})"},
        exact={"u": u, "mu": mu},
    )


def darcy_transport(diffusion: float = 0.1, end: float = 0.3) -> Problem:
    """Return a solute that is carried by the flow that it drives."""
    c = "(4*exp(-t)*(1 + x/2))"
    p = "(exp(-t)*(1 - x^2 - y^2)*(1 + x/4))"  # −Δp = c
    return Problem(
        ["c_t + dot(U, grad(c)) = D*lap(c) + f", "U = -grad(p)", "div(U) = c"],
        domain=Ball([0, 0], 1),
        time=(0, end),
        initial={"c": "4*(1 + x/2)"},
        boundary=[f"c = {c}", "p = 0"],
        parameters={"D": diffusion, "f": f"dt({c}) - dot(grad({p}), grad({c})) - D*lap({c})"},
        exact={"c": c, "p": p, "U": [f"-dx({p})", f"-dy({p})"]},
    )


def biot(end: float = 0.1) -> Problem:
    """Return the pressure of water in a layer that is squeezed, and the displacement of the layer."""
    decay = "exp(-2*pi^2*t)"
    return Problem(
        ["dt(p + u_x) = p_xx", "u_xx = p_x"],
        domain=Interval(0, 1),
        time=(0, end),
        initial="sin(2*pi*x)",
        boundary=["p = 0", "u = 0"],
        exact={"p": f"{decay}*sin(2*pi*x)", "u": f"{decay}*(1 - cos(2*pi*x))/(2*pi)"},
    )


def thermo_elastic_plate(kappa: float = 0.1, end: float = 0.5) -> Problem:
    """Return a plate that cools, and its displacement, which follows without inertia."""
    t = f"exp(-2*pi^2*{kappa}*t)*sin(pi*x)*sin(pi*y)"
    u = [f"-dx({t})/(4*pi^2)", f"-dy({t})/(4*pi^2)"]
    return Problem(
        ["T_t = kappa*lap(T)", "lap(U) + grad(div(U)) = grad(T)"],
        domain=Box([0, 0], [1, 1]),
        time=(0, end),
        initial={"T": "sin(pi*x)*sin(pi*y)"},
        boundary=["T = 0", f"Ux = {u[0]}", f"Uy = {u[1]}"],
        parameters={"kappa": kappa},
        vectors=("U",),
        exact={"T": t, "U": u},
    )


def porous_electrode(end: float = 0.5) -> Problem:
    """Return salt and potential in an electrode, with the current of the reaction as a field."""
    c, phi = "(1 + x^2*(3 - 2*x)*exp(-t)/2)", "(x*(1 + sin(2*t)/2))"
    return Problem(
        ["c_t = c_xx - j + f", "j = c*sinh(phi)", "phi_xx = j + g"],
        domain=Interval(0, 1),
        time=(0, end),
        initial={"c": "1 + x^2*(3 - 2*x)/2"},
        boundary={"left": ["c_n = 0", "phi = 0"], "right": ["c_n = 0", "phi = 1 + sin(2*t)/2"]},
        parameters={"f": f"dt({c}) - dxx({c}) + {c}*sinh({phi})", "g": f"-{c}*sinh({phi})"},
        exact={"c": c, "phi": phi, "j": f"{c}*sinh({phi})"},
    )


CASES = (
    Case(
        "vorticity",
        "Vorticity and stream function, 2-d",
        vorticity,
        _chosen(32, 16),
        variants=(Variant("nu=0.05"), Variant("nu=0.02", {"nu": 0.02})),
    ),
    Case(
        "keller-segel",
        "Keller-Segel, parabolic-elliptic, 2-d",
        keller_segel,
        _chosen(20, 12),
        variants=(Variant("chi=20"), Variant("chi=5", {"chi": 5.0})),
    ),
    Case("poisson-nernst-planck", "Poisson-Nernst-Planck without flux", poisson_nernst_planck, _chosen(60, 30)),
    Case("cahn-hilliard-split", "Cahn-Hilliard with its potential", cahn_hilliard_split, _chosen(60, 30)),
    Case("darcy-transport", "Transport by Darcy flow on a disk", darcy_transport, _chosen(200, 100)),
    Case("biot", "Biot's consolidation", biot, _chosen(50, 25)),
    Case("thermo-elastic-plate", "Quasi-static thermo-elasticity", thermo_elastic_plate, _chosen(300, 150)),
    Case("porous-electrode", "Porous electrode", porous_electrode, _chosen(50, 25)),
)
