"""The problems of the gallery: each is a short script that solves one, asserts what is known of it, and draws it.

``write(folder)`` makes the scripts that sphinx-gallery runs. Run this file to solve all of them without the site.
"""

from __future__ import annotations

import os
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any, NamedTuple

PAGES = Path("_static/results/gallery")  # where the site has the pages that scripts write
THUMBNAIL = "# sphinx_gallery_thumbnail_number = 2"  # the panel that `shown` cuts out
FRAME = """
.. raw:: html

    <iframe class="moving" loading="lazy" src="../../{address}" title="a page that moves"></iframe>
"""


class Entry(NamedTuple):
    """A problem: name of its file, title, what it shows, and the code after the imports."""

    name: str
    title: str
    words: str
    code: str
    panel: int = 1  # shown small, if there are more than three; else the first one is


SOLVE = "solution = fp.solve(problem, tol={tol})\nassert solution.status == 'converged'\n"
EXACT = "assert solution.error()['rel_l2'] < {tol}\n"


def solved(name: str, title: str, words: str, problem: str, tol: str = "1e-4", exact: bool = False) -> Entry:
    """Return an entry that solves one problem to a tolerance and draws it."""
    code = f"problem = fp.Problem(\n    {problem.strip()}\n)\n" + SOLVE.format(tol=tol)
    code += EXACT.format(tol=tol) if exact else ""
    code += f"solution.plot()\nsolution.page('{name}.html')\nprint(solution.status, solution.error_estimate)\n"
    return Entry(name, title, words, code)


DIFFUSION = [
    solved("heat_rod", "Heat equation: a cooling rod",
           "A rod is hot in the middle and held at zero at both ends, so the sine keeps its shape and decays like "
           "exp(-k π² t). The equation is linear with constant coefficients: 50 neurons are advanced in closed "
           "form, without time steps. Look at how evenly the map fades, and at the true error, which is close to "
           "round-off.",
           '"u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0",\n'
           '    parameters={"k": 0.1}, exact="exp(-k*pi**2*t)*sin(pi*x)"', "1e-6", True),
    solved("heat_insulated", "Heat equation: an insulated rod",
           "No heat leaves through the ends, so differences level out and the mean stays 1. Every function of the "
           "basis has slope zero at both ends, and the condition holds exactly at all times. Look at the snapshots: "
           "they meet the ends horizontally.",
           '"u_t = 0.1*u_xx", fp.Interval(0, 1), (0, 1), "1 + cos(2*pi*x)", "u_n = 0",\n'
           '    exact="1 + exp(-0.4*pi**2*t)*cos(2*pi*x)"', "1e-6", True),
    solved("heat_robin", "Heat equation: heat lost to the surroundings",
           "A Robin condition lets the flux through the ends follow their temperature. Its coefficient, tan 1, is "
           "chosen so that cos x decays without changing its shape. Look at the slope at the ends: it shrinks "
           "together with the value there.",
           '"u_t = u_xx", fp.Interval(-1, 1), (0, 1), "cos(x)", f"u*{np.tan(1.0)} + u_n = 0",\n'
           '    exact="exp(-t)*cos(x)"', "1e-6", True),
    solved("heat_moving_end", "Heat equation: an end that is heated and cooled",
           "The left end follows sin 4t, the right end is insulated. Boundary data that depend on time are lifted "
           "by a function of their own, and the rest is again solved in closed form. Look at the waves that enter "
           "the rod: they arrive late and lose more than half of their height in the first quarter.",
           '"u_t = 0.2*u_xx", fp.Interval(0, 1), (0, 3), 0, {"left": "u = sin(4*t)", "right": "u_n = 0"}'),
    solved("heat_layers", "Heat equation: a conductivity that varies",
           "The right half of the rod conducts nine times as well as the left half. The flux k u_x is written as in "
           "a textbook, inside the derivative. Look at the hottest point: it moves to the left, where heat is lost "
           "more slowly.",
           '"u_t = dx(k*u_x)", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0",\n'
           '    parameters={"k": "0.1*(1 + 0.8*tanh(8*(x - 0.5)))"}'),
    solved("heat_plate", "Heat equation: a cooling plate",
           "Two dimensions, with all four sides held at zero. On a box the basis is a product of one small network "
           "for each axis, which takes 44 neurons instead of several hundred. Press play on the page and zoom in: "
           "values are computed, not interpolated.",
           '"u_t = 0.1*lap(u)", fp.Box([0, 0], [2, 1]), (0, 1), "sin(pi*x)*sin(pi*y)", "u = 0",\n'
           '    exact="exp(-0.2*pi**2*t)*sin(pi*x)*sin(pi*y)"', "1e-6", True),
    solved("heat_hole", "Heat equation: a plate with a cold hole",
           "The left side is warmed up, the rim of the hole is kept at zero, and the other sides are insulated. "
           "Domains are sums and differences of simple shapes, and their sides have names. Look at the shadow that "
           "the hole casts on the right half. The tolerance is modest, and a warning says where the conditions hold "
           "less well: at corners where two kinds of them meet.",
           '"u_t = 0.3*lap(u)",\n    fp.Box([0, 0], [2, 1]) - fp.Disk([1, 0.5], 0.25).named("hole"), (0, 1),\n'
           '    "0*x", {"left": "u = 1 - exp(-30*t**2)", "right": "u_n = 0", "bottom": "u_n = 0", "top": "u_n = 0", '
           '"hole": "u = 0"}', "1e-2"),
    solved("heat_disk", "Heat equation: a cooling disk",
           "The initial value is a Bessel function, given as a Python function, and it decays at a rate of its own: "
           "the squared first zero of J₀. The network knows nothing of that symmetry, and boundary values are zero "
           "along the whole circle by construction. Look at the circles: they stay round.",
           '"u_t = lap(u)", fp.Disk(), (0, 0.2), lambda x, y: j0(2.404825557695773*np.hypot(x, y)), "u = 0",\n'
           '    exact=lambda x, y, t: np.exp(-2.404825557695773**2*t)*j0(2.404825557695773*np.hypot(x, y))',
           "1e-5", True),
    solved("porous_medium", "Nonlinear diffusion: a porous medium",
           "The diffusivity grows with the field itself, so the hump spreads fast where it is high and slowly at "
           "its feet. An implicit method with exact Jacobians (CVODE) takes the time steps. Look at the steep "
           "flanks in the first moments.",
           '"u_t = dx((0.1 + u)*u_x)", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)**2", "u = 0"'),
    solved("heat_ten", "Heat equation in ten dimensions: a ball",
           "A grid in ten dimensions is out of question. The data depend on one direction only; the program finds "
           "that out and solves a problem in this direction with 50 neurons. The error is measured in the whole "
           "ball. The picture shows a slice through its middle.",
           '"u_t = lap(u)", fp.Ball([0]*10, 1), (0, 0.5), "exp(x1)", "u = exp(x1 + t)",\n'
           '    exact="exp(x1 + t)"', "1e-6", True),
]  # fmt: skip
TRANSPORT = [
    solved("vorticity", "Vorticity and stream function",
           "Whirls in a periodic box stretch each other and fade. The stream function is a field of its own, with an "
           "equation without a time derivative, Δψ = −w, which is solved in the same modes. Look at how the "
           "bands bend.",
           '["w_t + psi_y*w_x - psi_x*w_y = 0.01*lap(w)", "lap(psi) = -w"],\n'
           '    fp.Box([0, 0], [2*np.pi, 2*np.pi], periodic=True), (0, 2), "4*sin(2*x) + 2*cos(x)*cos(y)"', "1e-4"),
    solved("advection", "Advection equation: fast transport",
           "A wave is carried around a ring at speed 40, about six times in unit time. Linear transport is "
           "propagated exactly, so it arrives without dispersion or damping. Look at the last profile and at the "
           "error: there is no lag.",
           '"u_t + 40*u_x = 0", fp.Interval(0, 2*np.pi, periodic=True), (0, 1), "sin(x)",\n'
           '    exact="sin(x - 40*t)"', "1e-6", True),
    solved("advection_diffusion", "Advection–diffusion equation: a hump that drifts and spreads",
           "A hump moves to the right at unit speed and widens like a Gaussian. The ends are joined: periodicity is "
           "part of the basis. Look at the tilted band in the map: its slope is the speed, its width the diffusion.",
           '"u_t + u_x = 0.02*u_xx", fp.Interval(0, 6, periodic=True), (0, 3), "exp(-4*(x - 2)**2)"'),
    solved("outflow", "Advection equation: a pulse that leaves the domain",
           "The flow enters on the left, where a value is prescribed, and leaves on the right, where nothing may "
           "be: ``fp.Free()`` says so. Look at the right end: the pulse passes through it without a reflection.",
           '"u_t + u_x = 0", fp.Interval(0, 2), (0, 1), "exp(-20*(x - 0.7)**2)",\n'
           '    {"left": "u = exp(-20*(x - t - 0.7)**2)", "right": fp.Free()}, exact="exp(-20*(x - t - 0.7)**2)"',
           "1e-4", True),
    solved("burgers", "Burgers' equation: a wave steepens into a front",
           "Crests overtake troughs until viscosity stops them; the slope at x = 0 reaches -152 at t = 0.51. The "
           "network follows: there are several windows in time, each with neurons placed where the solution is "
           "steep. Zoom in on the front: it is thin but smooth.",
           '"u_t + u*u_x = nu*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0",\n'
           '    parameters={"nu": 0.01/np.pi}'),
    solved("burgers_front", "Burgers' equation: a travelling front",
           "Steepening and viscosity balance each other in a front that travels at half the height of its step. Its "
           "formula is known, so the true error is checked. Look at the map: the front neither widens nor sharpens.",
           '"u_t + u*u_x = nu*u_xx", fp.Interval(-2, 3), (0, 1), "0.5 - 0.5*tanh(x/(4*nu))",\n'
           '    "u = 0.5 - 0.5*tanh((x - t/2)/(4*nu))", parameters={"nu": 0.05},\n'
           '    exact="0.5 - 0.5*tanh((x - t/2)/(4*nu))"', "1e-4", True),
    solved("buckley", "Buckley–Leverett equation: water pushes oil",
           "Two fluids in a porous rock. The flux is S-shaped, so a front and a fan of slower values behind it form "
           "together, and capillary diffusion keeps the front smooth. Exponential time steps treat diffusion "
           "exactly. Look at the snapshots: steep ahead, gently sloping behind.",
           '"u_t + dx(u**2/(u**2 + 0.5*(1 - u)**2)) = 0.05*u_xx", fp.Interval(0, 2), (0, 0.5),\n'
           '    "0.5 - 0.5*tanh(8*(x - 0.5))", {"left": "u = 0.5 + 0.5*tanh(4)", "right": "u_n = 0"}', "1e-3"),
    solved("swirl", "Advection–diffusion in the plane: a blob on a turntable",
           "The flow turns like a solid disk and carries a blob along while it spreads. The operator is applied "
           "axis by axis and never written out as a matrix: 60 × 60 neurons take half a second. Follow the blob on "
           "the page: it goes nearly half way round, and its peak falls to 0.37.",
           '"u_t + y*u_x - x*u_y = 0.01*lap(u)", fp.Box([-2, -2], [2, 2]), (0, 3),\n'
           '    "exp(-14*((x - 0.5)**2 + y**2))", "u_n = 0"'),
]  # fmt: skip
WAVES = [
    solved("string", "Wave equation: a plucked string",
           "Two modes of a string swing, the third three times as fast as the first. Linear waves are solved in "
           "closed form, so the energy does not drift. Look at the pattern in the map: it repeats after every two "
           "units of time.",
           '"u_tt = u_xx", fp.Interval(0, 1), (0, 2), "sin(pi*x) + sin(3*pi*x)/3", "u = 0",\n'
           '    initial_velocity=0, exact="cos(pi*t)*sin(pi*x) + cos(3*pi*t)*sin(3*pi*x)/3"', "1e-8", True),
    solved("wave_damped", "Damped wave equation: a string with friction",
           "Friction is one more term of the equation. All modes lose height at the same rate, exp(-t/4), so the "
           "shape survives while the sound fades. Look at the maxima in the middle: 1, 0.61, 0.37 after whole "
           "periods.",
           '"u_tt + 0.5*u_t = u_xx", fp.Interval(0, 1), (0, 4), "sin(pi*x)**3", "u = 0", initial_velocity=0'),
    solved("telegraph", "Telegraph equation: a pulse on a lossy cable",
           "Part wave, part diffusion: two fronts run away from the middle at speed one, and between them stays a "
           "plateau that decays like exp(-t). Look at the map: nothing happens ahead of the fronts.",
           '"u_tt + 2*u_t + u = u_xx", fp.Interval(-6, 6), (0, 4), "exp(-x**2)", "u_n = 0", initial_velocity=0'),
    solved("beam", "Euler–Bernoulli equation: a vibrating beam",
           "Fourth order in space, with two conditions at each end: no displacement, no bending moment. Both are "
           "built into the basis. Look at the error, 1e-12, although fourth derivatives of a network are involved.",
           '"u_tt + u_xxxx = 0", fp.Interval(0, np.pi), (0, 1), "sin(x)", ["u = 0", "u_xx = 0"],\n'
           '    initial_velocity=0, exact="cos(t)*sin(x)"', "1e-7", True),
    solved("membrane", "Wave equation in the plane: a square drum",
           "One mode of a drum, with a nodal line along y = 1/2 and the frequency √5 π. The solution is a product "
           "of functions along the axes, solved in closed form. Look at the nodal line on the page: it does not "
           "move.",
           '"u_tt = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), "sin(pi*x)*sin(2*pi*y)", "u = 0",\n'
           '    initial_velocity=0, exact="cos(sqrt(5)*pi*t)*sin(pi*x)*sin(2*pi*y)"', "1e-6", True),
    solved("klein_gordon", "Klein–Gordon equation: a wave with a cubic force",
           "A relativistic field with self-interaction. The cubic force makes it swing faster and adds overtones to "
           "the initial cosine. Only the nonlinear part needs time steps, and five long ones are enough.",
           '"u_tt = u_xx - u - u**3", fp.Interval(0, 2*np.pi, periodic=True), (0, 3), "cos(x)", initial_velocity=0'),
    solved("sine_gordon", "Sine–Gordon equation: a breather",
           "A localised lump that swings for ever without radiating, one of the exact solutions of this equation. "
           "The network is denser in the middle, and the linear waves around it are propagated exactly. Look at the "
           "map: nothing escapes to the sides.",
           '"u_tt = u_xx - sin(u)", fp.Interval(-20, 20), (0, 5), 0, "u = 0",\n'
           '    initial_velocity="4*sqrt(0.75)/cosh(sqrt(0.75)*x)",\n'
           '    exact="4*atan(sqrt(0.75)/0.5*sin(0.5*t)/cosh(sqrt(0.75)*x))"', "1e-3", True),
    solved("kdv", "Korteweg–de Vries equation: a soliton",
           "Nonlinear steepening and dispersion cancel, so that a hump in shallow water travels without changing "
           "its shape. Third derivatives are skew-symmetric here, and the scheme keeps them so. Look at the page: "
           "only the position changes.",
           '"u_t + 6*u*u_x + u_xxx = 0", fp.Interval(-10, 10, periodic=True), (0, 1), "0.5/cosh(x/2)**2",\n'
           '    exact="0.5/cosh((x - t)/2)**2"', "1e-3", True),
    solved("schroedinger", "Schrödinger equation: a wave packet in a harmonic trap",
           "A packet is released beside the middle of a parabolic potential and swings like a classical particle. "
           "The field is complex, and written as such. The pictures show its size and its phase. Look at the size: "
           "it keeps its width, which is what makes this state coherent.",
           '"I*psi_t = -psi_xx/2 + x**2/2*psi", fp.Interval(-9, 9), (0, 3), "exp(-(x - 2)**2/2)", "psi = 0"', "1e-6"),
]  # fmt: skip
REACTIONS = [
    solved("ions", "Poisson–Nernst–Planck equations: ions between two plates",
           "A voltage is switched on, ions of both signs move to the plates until their field holds them there, and "
           "no ion leaves. The potential has no time derivative: it follows from the charge at each moment, and "
           "occurs in the conditions of no flux. Look at the layers at both ends.",
           '["n_t = dx(n_x + n*phi_x)", "c_t = dx(c_x - c*phi_x)", "eps^2*phi_xx = c - n"],\n'
           '    fp.Interval(0, 1), (0, 0.5), {"n": 1, "c": 1},\n'
           '    {"left": ["n_n + n*phi_n = 0", "c_n - c*phi_n = 0", "phi = 0"],\n'
           '     "right": ["n_n + n*phi_n = 0", "c_n - c*phi_n = 0", "phi = tanh(20*t)"]},\n'
           '    parameters={"eps": 0.2}', "1e-4"),
    solved("fisher", "Fisher–KPP: an invasion",
           "Growth and diffusion together make a wave that takes over an empty habitat. First the seed flattens, "
           "then a front forms and gathers speed; in the long run its speed tends to 2. Look at the map: the edge "
           "of the bright region bends towards a straight line.",
           '"u_t = u_xx + u*(1 - u)", fp.Interval(0, 20), (0, 6), "exp(-x**2)", "u_n = 0"'),
    solved("allen_cahn", "Allen–Cahn equation: phases separate",
           "Every point prefers one of the two phases -1 and 1, and diffusion smooths what lies between them. "
           "Within half a unit of time the cosine turns into plateaus with thin layers. Look at the estimate: "
           "errors grow exponentially at first, and it takes that into account.",
           '"u_t = 0.01*u_xx + 5*(u - u**3)", fp.Interval(-1, 1), (0, 0.5), "0.5*cos(pi*x)", "u_n = 0"'),
    solved("allen_cahn_plane", "Allen–Cahn equation in the plane: islands of two phases",
           "A faint pattern is amplified until both phases are reached; then only curvature moves the borders "
           "between them. The basis is a product of waves along two periodic axes. Look at the page from t = 2 on: "
           "corners of the islands round off first.",
           '"u_t = 0.02*lap(u) + u - u**3", fp.Box([0, 0], [2*np.pi, 2*np.pi], periodic=True), (0, 4),\n'
           '    "0.3*sin(2*x)*cos(y) + 0.2*cos(3*x + y)"'),
    solved("cahn_hilliard", "Cahn–Hilliard equation: a mixture separates",
           "As in Allen–Cahn, but the total amount of each phase is conserved. The potential mu is a parameter that "
           "contains the field, so that the fourth-order equation fits into one line. Look at the small middle "
           "hump: it dissolves and feeds the large one.",
           '"u_t = lap(mu)", fp.Interval(0, 2, periodic=True), (0, 0.5), "0.2*cos(2*pi*x) + 0.1*cos(pi*x)",\n'
           '    parameters={"mu": "u**3 - u - 0.02*u_xx"}'),
    solved("swift_hohenberg", "Swift–Hohenberg equation: stripes",
           "A model of convection rolls: waves of length 2π grow, all others are damped, and the cubic term ends "
           "the growth. Look at the map: a slow modulation of the first stripes disappears while they reach their "
           "final height.",
           '"u_t = 0.3*u - u - 2*u_xx - u_xxxx - u**3", fp.Interval(0, 20*np.pi, periodic=True), (0, 10),\n'
           '    "0.1*cos(x) + 0.05*cos(0.9*x)*sin(0.1*x)"', "1e-3"),
    solved("kuramoto", "Kuramoto–Sivashinsky equation: on the way to chaos",
           "Long waves grow, short ones are damped, and u u_x carries energy from the ones to the others, as in a "
           "wrinkling flame. Up to t = 20 the solution can still be predicted; later, values at single points mean "
           "little. Look at the map: the long wave steepens, and short ripples appear beside the front.",
           '"u_t + u*u_x + u_xx + u_xxxx = 0", fp.Interval(0, 32*np.pi, periodic=True), (0, 20),\n'
           '    "cos(x/16)*(1 + sin(x/16))"', "1e-3"),
    solved("predator", "Predator and prey: a wave of pursuit",
           "Predators start in the middle of a region full of prey, multiply and spread. Two fields with a "
           "nonlinear term each are solved as one system. Switch between them on the page: the prey declines where "
           "the predators arrive, a little later.",
           '["u_t = 0.1*u_xx + u*(1 - u) - u*v", "v_t = 0.1*v_xx + v*(u - 0.4)"], fp.Interval(0, 10), (0, 10),\n'
           '    {"u": "1 + 0*x", "v": "0.5*exp(-2*(x - 5)**2)"}, fp.Neumann(0)'),
    solved("brusselator", "Brusselator: a chemical clock",
           "Four reactions that oscillate: one substance produces the other, which makes it grow. A small "
           "difference across the box shifts the phase from place to place. Switch between u and v on the page: "
           "where one is high the other is low.",
           '["u_t = 0.05*lap(u) + 1 - 4*u + u**2*v", "v_t = 0.05*lap(v) + 3*u - u**2*v"],\n'
           '    fp.Box([0, 0], [1, 1]), (0, 5), {"u": "1 + 0.1*cos(pi*x)", "v": "3 + 0.1*cos(pi*y)"}, fp.Neumann(0)',
           "1e-3"),
    solved("fitzhugh", "FitzHugh–Nagumo equations: a nerve pulse",
           "A stimulus at the left end excites the fibre and runs along it, while a slow recovery variable, which "
           "does not diffuse, switches it off again. Look at u behind the pulse: it drops below rest for a while, "
           "so that a second pulse could not follow at once.",
           '["u_t = u_xx + u*(1 - u)*(u - 0.1) - v", "v_t = 0.01*(u - 2*v)"], fp.Interval(0, 100), (0, 60),\n'
           '    {"u": "exp(-x**2/25)", "v": 0}, "u_n = 0"', "1e-2"),
]  # fmt: skip
STATIC = [
    solved("poisson_disk", "Poisson's equation: a loaded membrane on a disk",
           "Leave time out, and a problem is static: one linear least squares problem. The solution is a "
           "paraboloid, and the network finds it to eleven digits. Zoom in on the page: there are no triangles.",
           '"lap(u) = -4", fp.Disk(), boundary="u = 0", exact="1 - x**2 - y**2"', "1e-8", True),
    solved("poisson_corner", "Poisson's equation: an L-shape with a singular corner",
           "At the corner that points inwards the gradient is infinite, which ruins the convergence of most "
           "methods. Functions made for this singularity stand beside the neurons, and 160 of these give an error "
           "of 1e-7. Look at the contours: they crowd around that corner.",
           '"lap(u) = -1",\n    fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]), boundary="u = 0"',
           "1e-6"),
    solved("helmholtz", "Helmholtz equation: sound in a room",
           "A standing wave of a given frequency, driven by values on the walls. The problem is indefinite, and "
           "ill-conditioned near a resonance; the report gives the distance from the next one. The solution is a "
           "product along the axes and the formula is known.",
           '"lap(u) + 30*u = 0", fp.Box([0, 0], [1, 1]), boundary="u = cos(3*x)*cos(sqrt(21)*y)",\n'
           '    exact="cos(3*x)*cos(sqrt(21)*y)"', "1e-8", True),
    solved("short_waves", "Helmholtz equation: short waves on a disk",
           "Two plane waves with eleven wavelengths across a disk. One network of 200 neurons leaves most of the "
           "equation, so the disk is divided into some thousand patches with neurons of their own, joined by traces on "
           "their faces. Look at the decisions in the report: they say why.",
           '"lap(u) + 35**2*u = 0", fp.Disk(), boundary="u = wave", parameters={"wave": '
           '"cos(35*(0.6*x + 0.8*y)) + sin(35*(0.96*x - 0.28*y))"},\n'
           '    exact="cos(35*(0.6*x + 0.8*y)) + sin(35*(0.96*x - 0.28*y))"',
           "1e-2", True),
    solved("layer", "Convection–diffusion: a boundary layer",
           "Convection carries everything to the right, where a layer as thin as the diffusivity brings u back to "
           "zero. The program recognises the layer and adds exponentials for it. Look at the right end: no "
           "oscillations, with 40 neurons.",
           '"0.01*u_xx - u_x = -1", fp.Interval(0, 1), boundary="u = 0"', "1e-6"),
    solved("nonlinear_poisson", "Nonlinear Poisson equation: a cubic reaction on a disk",
           "The more the membrane sags, the harder the cubic term pushes back. Newton's method with the exact "
           "Jacobian converges in a few steps from the boundary data. Look at the deepest point: it lies to the "
           "right, where the load is larger.",
           '"lap(u) - u**3 = f", fp.Disk(), boundary="u = 0", parameters={"f": "4*exp(x)"}', "1e-6"),
    solved("minimal_surface", "Minimal surface equation: a soap film",
           "A soap film between two rings has the smallest area; between circles it is a catenoid. The equation is "
           "nonlinear in its highest derivatives, and is typed in as it stands. Look at the slope at the inner rim: "
           "the film gets steep there, and that is why it takes more neurons.",
           '"(1 + u_y**2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x**2)*u_yy = 0", fp.domains.Annulus(1.5, 3),\n'
           '    boundary="u = acosh_r", parameters={"acosh_r": "log(sqrt(x**2 + y**2) + sqrt(x**2 + y**2 - 1))"},\n'
           '    exact="log(sqrt(x**2 + y**2) + sqrt(x**2 + y**2 - 1))"', "1e-5", True),
    solved("elasticity", "Plane elasticity: a clamped block under a uniform force",
           "Two displacements, coupled by the shear. All four sides are held, and an upward force acts at every "
           "point. Switch between u and v on the page: the large one is vertical, the small one shows how material "
           "moves sideways.",
           '["2*u_xx + u_yy + v_xy = 0", "v_xx + 2*v_yy + u_xy = -1"], fp.Box([0, 0], [2, 1]),\n'
           '    boundary=[fp.Dirichlet(0, field="u"), fp.Dirichlet(0, field="v")]', "1e-3"),
    solved("clamped_plate", "Biharmonic equation: a clamped plate",
           "A circular plate under uniform load, with neither displacement nor slope at its rim. Fourth order, two "
           "conditions, one line of text. Look at the flat rim, and at the estimated error: ten digits hold.",
           '"biharmonic(u) = 64", fp.Disk(), boundary=["u = 0", "u_n = 0"], exact="(1 - x**2 - y**2)**2"',
           "1e-7", True),
]  # fmt: skip
MORE = [
    Entry("drum_modes", "Eigenvalues of the Laplacian: the tones of a drum",
          "A round drum sounds at frequencies that are zeros of Bessel functions; most of them belong to two modes, "
          "which differ by a rotation. Three networks are drawn independently, and only what all of them find is "
          "returned, with an error. Look at the pairs.",
          'drum = fp.Problem("-lap(u) = lam*u", fp.Disk(), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})\n'
          "modes = fp.modes(drum, 6)\nassert abs(modes.values[0] - 2.404825557695773**2) < 1e-9\n"
          "modes.plot()\nprint(modes)\n"),
    Entry("oscillator_modes", "Schrödinger's eigenvalues: levels of the harmonic oscillator",
          "The energies 1, 3, 5, … of a particle in a parabolic well. The infinite line is cut where the functions "
          "are negligible. Look at the number of zeros: it grows by one from level to level.",
          'well = fp.Problem("-u_xx + x**2*u = lam*u", fp.Interval(-8, 8), boundary="u = 0",\n'
          '                  parameters={"lam": fp.Eigenvalue()})\n'
          "modes = fp.modes(well, 6)\nassert np.allclose(modes.values, [1, 3, 5, 7, 9, 11], atol=1e-8)\n"
          "modes.plot()\nprint(modes)\n"),
    Entry("bratu_fold", "Bratu's equation: a fold",
          "A model of self-heating: for small lam there are two steady states, above 3.5138 there is none. The path "
          "of solutions is followed around the fold, where Newton's method for a fixed lam fails. Look at the upper "
          "branch: it is reached without a start value.",
          'bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 2})\n'
          'path = fp.follow(bratu, "lam", (0, 4))\nassert abs(path.folds[0].value - 3.513830719125) < 1e-8\n'
          "path.plot()\nprint(path)\n"),
    Entry("steady_state", "Fisher's equation: a steady state and its stability",
          "A population that grows inside and dies at the borders settles in a dome. The eigenvalues of the "
          "linearisation tell whether it lasts: here the slowest disturbance decays like exp(-10 t). Look at the "
          "height: growth and loss balance at 0.59, well below the capacity 1.",
          'problem = fp.Problem("u_t = u_xx + 20*u*(1 - u)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")\n'
          "state = fp.steady(problem)\nstability = fp.stability(state)\nassert stability.verdict == 'stable'\n"
          "state.plot()\nstate.page('steady_state.html')\nprint(stability)\n"),
    Entry("unknown_conductivity", "Inverse heat equation: an unknown conductivity",
          "Nine noisy temperatures at one moment, and the question which conductivity explains them. ``fp.infer`` "
          "fits it with exact sensitivities and gives an error bar. Look at the residuals: they should scatter "
          "around zero, and the bar should contain 0.1.",
          'problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0",\n'
          '                     parameters={"k": fp.Unknown(0.3)})\n'
          "x, t = np.linspace(0.1, 0.9, 9), np.full(9, 0.5)\n"
          "measured = np.exp(-0.1*np.pi**2*t)*np.sin(np.pi*x) + 0.01*np.random.default_rng(0).normal(size=9)\n"
          "found = fp.infer(problem, fp.Measurements(x, measured, times=t, noise=0.01))\n"
          'k = found.parameters["k"]\nassert k.low < 0.1 < k.high\nfound.plot()\nprint(found.report)\n', 0),
]  # fmt: skip
GROUPS = {
    "1_diffusion": ("Diffusion", DIFFUSION),
    "2_transport": ("Transport", TRANSPORT),
    "3_waves": ("Waves", WAVES),
    "4_reactions": ("Reactions and patterns", REACTIONS),
    "5_static": ("Static problems", STATIC),
    "6_more": ("Eigenvalues, paths, inverse problems", MORE),
}


def script(entry: Entry) -> str:
    """Return an entry as a script for sphinx-gallery."""
    words = textwrap.fill(entry.words, 100, break_long_words=False)
    head = f'"""\n{entry.title}\n{"=" * len(entry.title)}\n\n{words}\n"""\n\n{THUMBNAIL}\n'
    imports = ["import frozenpinn as fp"]
    if "np." in entry.code:
        imports.insert(0, "import numpy as np")
    if "j0(" in entry.code:
        imports.append("from scipy.special import j0")
    return head + "\n".join(imports) + "\n\n" + entry.code


def write(folder: Path) -> int:
    """Write all scripts, with a heading for each group, and return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    title = "Gallery"
    _put(
        folder / "GALLERY_HEADER.rst",
        f"{title}\n{'=' * len(title)}\n\n"
        "Each entry is a script that can be copied and run; its pictures are made by running it. Below them is the\n"
        "solution's own page, which evaluates the network in your browser: press play, move the slider, zoom in.\n",
    )
    count = 0
    for name, (heading, entries) in GROUPS.items():
        (folder / name).mkdir(exist_ok=True)
        _put(folder / name / "GALLERY_HEADER.rst", f"{heading}\n{'-' * len(heading)}\n")
        for entry in entries:
            _put(folder / name / f"plot_{entry.name}.py", script(entry))
            count += 1
    return count


class Place:
    """Orders the scripts of a group as the entries are listed here, for sphinx-gallery."""

    def __init__(self, folder: str):
        self.names = [f"plot_{entry.name}.py" for _, entries in GROUPS.values() for entry in entries]

    def __call__(self, file: str) -> int:
        """Return the place of a script."""
        return self.names.index(file)


def shown(block: Any, variables: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Show the figures of a block, one panel as a thumbnail, and the pages that it has written, for sphinx-gallery."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    first = [plt.figure(number) for number in plt.get_fignums()[:1]]
    text = matplotlib_scraper(block, variables, gallery, format="png")
    name = Path(variables["src_file"]).stem.removeprefix("plot_")
    panel = next(entry.panel for _, entries in GROUPS.values() for entry in entries if entry.name == name)
    for figure in first:
        _save_panel(figure, panel, next(variables["image_path_iterator"]))
    for page in sorted(Path(variables["src_file"]).parent.glob("*.html")):
        target = Path(gallery["src_dir"]) / PAGES / page.name
        target.parent.mkdir(parents=True, exist_ok=True)
        page.replace(target)
        text += FRAME.format(address=PAGES / page.name)
    return text


def _save_panel(figure: Any, panel: int, file: str) -> None:
    """Save one panel of a figure without its labels: the given one of more than three, else the first."""
    panels = [axes for axes in figure.axes if axes.get_label() != "<colorbar>"]
    figure.canvas.draw()
    box = panels[panel if len(panels) > 3 else 0].get_window_extent().padded(2)
    figure.savefig(file, dpi=160, bbox_inches=box.transformed(figure.dpi_scale_trans.inverted()))


def _put(file: Path, text: str) -> None:
    """Write a file if that changes anything: what is unchanged is not run again."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    wanted = sys.argv[1:]
    os.chdir(tempfile.mkdtemp())  # for the pages
    for heading, entries in GROUPS.values():
        for entry in entries:
            if wanted and entry.name not in wanted:
                continue
            start = time.perf_counter()
            try:
                exec(compile(script(entry), entry.name, "exec"), {"__name__": entry.name})
                print(f"{heading}: {entry.name} {time.perf_counter() - start:.1f} s", flush=True)
            except Exception as error:  # told, and the others go on
                print(f"{heading}: {entry.name} FAILED {type(error).__name__}: {str(error)[:300]}", flush=True)
