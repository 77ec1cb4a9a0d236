"""The problems of the gallery: each is a short script that solves one, asserts what is known of it, and draws it.

``write(folder)`` makes the scripts that sphinx-gallery runs. Run this file to solve all of them without the site.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """A problem: name of its file, title, what it shows, and the code after the imports."""

    name: str
    title: str
    words: str
    code: str


SOLVE = "solution = fp.solve(problem, tol={tol})\nassert solution.status == 'converged'\n"
EXACT = "assert solution.error()['rel_l2'] < {tol}\n"


def solved(name: str, title: str, words: str, problem: str, tol: str = "1e-4", exact: bool = False) -> Entry:
    """Return an entry that solves one problem to a tolerance and draws it."""
    code = f"problem = fp.Problem(\n    {problem.strip()}\n)\n" + SOLVE.format(tol=tol)
    code += EXACT.format(tol=tol) if exact else ""
    return Entry(name, title, words, code + "solution.plot()\nprint(solution.status, solution.error_estimate)\n")


DIFFUSION = [
    solved("heat_rod", "A cooling rod", "The first problem of every course. The exact solution is known.",
           '"u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0",\n'
           '    parameters={"k": 0.1}, exact="exp(-k*pi**2*t)*sin(pi*x)"', "1e-6", True),
    solved("heat_insulated", "An insulated rod", "No heat leaves through the ends.",
           '"u_t = 0.1*u_xx", fp.Interval(0, 1), (0, 1), "1 + cos(2*pi*x)", "u_n = 0",\n'
           '    exact="1 + exp(-0.4*pi**2*t)*cos(2*pi*x)"', "1e-6", True),
    solved("heat_robin", "Heat loss to the surroundings", "A Robin condition: the flux follows the temperature.",
           '"u_t = u_xx", fp.Interval(-1, 1), (0, 1), "cos(x)", f"u*{np.tan(1.0)} + u_n = 0",\n'
           '    exact="exp(-t)*cos(x)"', "1e-6", True),
    solved("heat_moving_end", "An end that is heated and cooled", "Boundary data may depend on time.",
           '"u_t = 0.2*u_xx", fp.Interval(0, 1), (0, 3), 0, {"left": "u = sin(4*t)", "right": "u_n = 0"}'),
    solved("heat_layers", "A conductivity that varies", "The flux k u_x is written as it stands in the textbook.",
           '"u_t = dx(k*u_x)", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)", "u = 0",\n'
           '    parameters={"k": "0.1*(1 + 0.8*tanh(8*(x - 0.5)))"}'),
    solved("heat_plate", "A plate", "Two dimensions, with an exact solution.",
           '"u_t = 0.1*lap(u)", fp.Box([0, 0], [2, 1]), (0, 1), "sin(pi*x)*sin(pi*y)", "u = 0",\n'
           '    exact="exp(-0.2*pi**2*t)*sin(pi*x)*sin(pi*y)"', "1e-6", True),
    solved("heat_hole", "A plate with a hole", "The left side is hot and the rim of the hole is cold.",
           '"u_t = 0.3*lap(u)",\n    fp.Box([0, 0], [2, 1]) - fp.Disk([1, 0.5], 0.25).named("hole"), (0, 1),\n'
           '    "0*x", {"left": "u = 1 - exp(-30*t**2)", "right": "u_n = 0", "bottom": "u_n = 0", "top": "u_n = 0", '
           '"hole": "u = 0"}', "1e-2"),
    solved("heat_disk", "A disk", "A Bessel function decays at its own rate.",
           '"u_t = lap(u)", fp.Disk(), (0, 0.2), lambda x, y: j0(2.404825557695773*np.hypot(x, y)), "u = 0",\n'
           '    exact=lambda x, y, t: np.exp(-2.404825557695773**2*t)*j0(2.404825557695773*np.hypot(x, y))',
           "1e-5", True),
    solved("porous_medium", "Diffusion that depends on the field", "A quasi-linear equation: the flux is u u_x.",
           '"u_t = dx((0.1 + u)*u_x)", fp.Interval(0, 1), (0, 0.5), "sin(pi*x)**2", "u = 0"'),
    solved("heat_ten", "Ten dimensions", "The solution depends on one direction; the program finds it.",
           '"u_t = lap(u)", fp.Ball([0]*10, 1), (0, 0.5), "exp(x1)", "u = exp(x1 + t)",\n'
           '    exact="exp(x1 + t)"', "1e-6", True),
]  # fmt: skip
TRANSPORT = [
    solved("advection", "Fast transport", "Forty periods of a wave, without dispersion.",
           '"u_t + 40*u_x = 0", fp.Interval(0, 2*np.pi, periodic=True), (0, 1), "sin(x)",\n'
           '    exact="sin(x - 40*t)"', "1e-6", True),
    solved("advection_diffusion", "Transport and diffusion", "A hump moves to the right and spreads.",
           '"u_t + u_x = 0.02*u_xx", fp.Interval(0, 6, periodic=True), (0, 3), "exp(-4*(x - 2)**2)"'),
    solved("outflow", "A pulse that leaves", "Nothing is prescribed where the flow leaves the domain.",
           '"u_t + u_x = 0", fp.Interval(0, 2), (0, 1), "exp(-20*(x - 0.7)**2)",\n'
           '    {"left": "u = exp(-20*(x - t - 0.7)**2)", "right": fp.Free()}, exact="exp(-20*(x - t - 0.7)**2)"',
           "1e-4", True),
    solved("burgers", "Burgers' equation", "A wave steepens into a front that viscosity holds.",
           '"u_t + u*u_x = nu*u_xx", fp.Interval(-1, 1), (0, 1), "-sin(pi*x)", "u = 0",\n'
           '    parameters={"nu": 0.01/np.pi}'),
    solved("burgers_front", "A travelling front", "Burgers' equation has an exact front.",
           '"u_t + u*u_x = nu*u_xx", fp.Interval(-2, 3), (0, 1), "0.5 - 0.5*tanh(x/(4*nu))",\n'
           '    "u = 0.5 - 0.5*tanh((x - t/2)/(4*nu))", parameters={"nu": 0.05},\n'
           '    exact="0.5 - 0.5*tanh((x - t/2)/(4*nu))"', "1e-4", True),
    solved("buckley", "Two-phase flow", "A flux that is not convex, with capillary diffusion.",
           '"u_t + dx(u**2/(u**2 + 0.5*(1 - u)**2)) = 0.05*u_xx", fp.Interval(0, 2), (0, 0.5),\n'
           '    "0.5 - 0.5*tanh(8*(x - 0.5))", {"left": "u = 0.5 + 0.5*tanh(4)", "right": "u_n = 0"}', "1e-3"),
    solved("swirl", "A field that is stirred", "An eddy winds a blob up, in a closed box.",
           '"u_t + y*u_x - x*u_y = 0.01*lap(u)", fp.Box([-2, -2], [2, 2]), (0, 3),\n'
           '    "exp(-14*((x - 0.5)**2 + y**2))", "u_n = 0"'),
]  # fmt: skip
WAVES = [
    solved("string", "A string", "Two modes, exact in time.",
           '"u_tt = u_xx", fp.Interval(0, 1), (0, 2), "sin(pi*x) + sin(3*pi*x)/3", "u = 0",\n'
           '    initial_velocity=0, exact="cos(pi*t)*sin(pi*x) + cos(3*pi*t)*sin(3*pi*x)/3"', "1e-8", True),
    solved("wave_damped", "A damped string", "Friction is one more term.",
           '"u_tt + 0.5*u_t = u_xx", fp.Interval(0, 1), (0, 4), "sin(pi*x)**3", "u = 0", initial_velocity=0'),
    solved("telegraph", "The telegraph equation", "A pulse on a cable with losses.",
           '"u_tt + 2*u_t + u = u_xx", fp.Interval(-6, 6), (0, 4), "exp(-x**2)", "u_n = 0", initial_velocity=0'),
    solved("beam", "A beam", "Fourth order in space, supported at both ends.",
           '"u_tt + u_xxxx = 0", fp.Interval(0, np.pi), (0, 1), "sin(x)", ["u = 0", "u_xx = 0"],\n'
           '    initial_velocity=0, exact="cos(t)*sin(x)"', "1e-7", True),
    solved("membrane", "A membrane", "A square drum.",
           '"u_tt = lap(u)", fp.Box([0, 0], [1, 1]), (0, 1), "sin(pi*x)*sin(2*pi*y)", "u = 0",\n'
           '    initial_velocity=0, exact="cos(sqrt(5)*pi*t)*sin(pi*x)*sin(2*pi*y)"', "1e-6", True),
    solved("klein_gordon", "A nonlinear wave", "The Klein–Gordon equation with a cubic term.",
           '"u_tt = u_xx - u - u**3", fp.Interval(0, 2*np.pi, periodic=True), (0, 3), "cos(x)", initial_velocity=0'),
    solved("sine_gordon", "A breather", "The sine–Gordon equation has an exact breather.",
           '"u_tt = u_xx - sin(u)", fp.Interval(-20, 20), (0, 5), 0, "u = 0",\n'
           '    initial_velocity="4*sqrt(0.75)/cosh(sqrt(0.75)*x)",\n'
           '    exact="4*atan(sqrt(0.75)/0.5*sin(0.5*t)/cosh(sqrt(0.75)*x))"', "1e-3", True),
    solved("kdv", "A soliton", "The Korteweg–de Vries equation keeps its shape.",
           '"u_t + 6*u*u_x + u_xxx = 0", fp.Interval(-10, 10, periodic=True), (0, 1), "0.5/cosh(x/2)**2",\n'
           '    exact="0.5/cosh((x - t)/2)**2"', "1e-3", True),
    solved("schroedinger", "A quantum wave", "A complex field; the plot shows its real and its imaginary part.",
           '"I*psi_t = -psi_xx/2 + x**2/2*psi", fp.Interval(-9, 9), (0, 3), "exp(-(x - 2)**2/2)", "psi = 0"', "1e-6"),
]  # fmt: skip
REACTIONS = [
    solved("fisher", "An invasion", "The Fisher–KPP equation: growth and diffusion make a wave.",
           '"u_t = u_xx + u*(1 - u)", fp.Interval(0, 20), (0, 6), "exp(-x**2)", "u_n = 0"'),
    solved("allen_cahn", "Phase separation", "The Allen–Cahn equation sharpens its fronts.",
           '"u_t = 0.01*u_xx + 5*(u - u**3)", fp.Interval(-1, 1), (0, 0.5), "0.5*cos(pi*x)", "u_n = 0"'),
    solved("allen_cahn_plane", "Phase separation in the plane", "Islands shrink and merge.",
           '"u_t = 0.02*lap(u) + u - u**3", fp.Box([0, 0], [2*np.pi, 2*np.pi], periodic=True), (0, 4),\n'
           '    "0.3*sin(2*x)*cos(y) + 0.2*cos(3*x + y)"'),
    solved("cahn_hilliard", "Demixing", "The Cahn–Hilliard equation, fourth order, written with a potential.",
           '"u_t = lap(mu)", fp.Interval(0, 2, periodic=True), (0, 0.5), "0.2*cos(2*pi*x) + 0.1*cos(pi*x)",\n'
           '    parameters={"mu": "u**3 - u - 0.02*u_xx"}'),
    solved("swift_hohenberg", "Stripes", "The Swift–Hohenberg equation selects a wave length.",
           '"u_t = 0.3*u - u - 2*u_xx - u_xxxx - u**3", fp.Interval(0, 20*np.pi, periodic=True), (0, 10),\n'
           '    "0.1*cos(x) + 0.05*cos(0.9*x)*sin(0.1*x)"', "1e-3"),
    solved("kuramoto", "On the way to chaos", "The Kuramoto–Sivashinsky equation, before errors grow.",
           '"u_t + u*u_x + u_xx + u_xxxx = 0", fp.Interval(0, 32*np.pi, periodic=True), (0, 20),\n'
           '    "cos(x/16)*(1 + sin(x/16))"', "1e-3"),
    solved("predator", "Predator and prey", "Two fields that chase each other.",
           '["u_t = 0.1*u_xx + u*(1 - u) - u*v", "v_t = 0.1*v_xx + v*(u - 0.4)"], fp.Interval(0, 10), (0, 10),\n'
           '    {"u": "1 + 0*x", "v": "0.5*exp(-2*(x - 5)**2)"}, fp.Neumann(0)'),
    solved("brusselator", "A chemical clock", "The Brusselator in a box.",
           '["u_t = 0.05*lap(u) + 1 - 4*u + u**2*v", "v_t = 0.05*lap(v) + 3*u - u**2*v"],\n'
           '    fp.Box([0, 0], [1, 1]), (0, 5), {"u": "1 + 0.1*cos(pi*x)", "v": "3 + 0.1*cos(pi*y)"}, fp.Neumann(0)',
           "1e-3"),
    solved("fitzhugh", "A nerve pulse", "The FitzHugh–Nagumo model; the recovery does not diffuse.",
           '["u_t = u_xx + u*(1 - u)*(u - 0.1) - v", "v_t = 0.01*(u - 2*v)"], fp.Interval(0, 100), (0, 60),\n'
           '    {"u": "exp(-x**2/25)", "v": 0}, "u_n = 0"', "1e-2"),
]  # fmt: skip
STATIC = [
    solved("poisson_disk", "Poisson's equation on a disk", "Leave time out, and the problem is static.",
           '"lap(u) = -4", fp.Disk(), boundary="u = 0", exact="1 - x**2 - y**2"', "1e-8", True),
    solved("poisson_corner", "A corner", "The gradient is unbounded at the inner corner; functions made for it join.",
           '"lap(u) = -1",\n    fp.Polygon([(0, 0), (1, 0), (1, 1), (-1, 1), (-1, -1), (0, -1)]), boundary="u = 0"',
           "1e-6"),
    solved("helmholtz", "Sound in a room", "The Helmholtz equation with an exact solution.",
           '"lap(u) + 30*u = 0", fp.Box([0, 0], [1, 1]), boundary="u = cos(3*x)*cos(sqrt(21)*y)",\n'
           '    exact="cos(3*x)*cos(sqrt(21)*y)"', "1e-8", True),
    solved("layer", "A boundary layer", "Diffusion is small, so the solution turns sharply at the right end.",
           '"0.01*u_xx - u_x = -1", fp.Interval(0, 1), boundary="u = 0"', "1e-6"),
    solved("nonlinear_poisson", "A nonlinear source", "Newton's method, started from the boundary data.",
           '"lap(u) - u**3 = f", fp.Disk(), boundary="u = 0", parameters={"f": "4*exp(x)"}', "1e-6"),
    solved("minimal_surface", "A soap film", "The minimal surface over an annulus is a catenoid.",
           '"(1 + u_y**2)*u_xx - 2*u_x*u_y*u_xy + (1 + u_x**2)*u_yy = 0", fp.domains.Annulus(1.5, 3),\n'
           '    boundary="u = acosh_r", parameters={"acosh_r": "log(sqrt(x**2 + y**2) + sqrt(x**2 + y**2 - 1))"},\n'
           '    exact="log(sqrt(x**2 + y**2) + sqrt(x**2 + y**2 - 1))"', "1e-5", True),
    solved("elasticity", "A plate under load", "Plane elasticity: two displacements.",
           '["2*u_xx + u_yy + v_xy = 0", "v_xx + 2*v_yy + u_xy = -1"], fp.Box([0, 0], [2, 1]),\n'
           '    boundary=[fp.Dirichlet(0, field="u"), fp.Dirichlet(0, field="v")]', "1e-3"),
    solved("clamped_plate", "A clamped plate", "The biharmonic equation on a disk.",
           '"biharmonic(u) = 64", fp.Disk(), boundary=["u = 0", "u_n = 0"], exact="(1 - x**2 - y**2)**2"',
           "1e-7", True),
]  # fmt: skip
MORE = [
    Entry("drum_modes", "The sound of a drum", "The first eigenvalues of a disk are squared zeros of Bessel functions.",
          'drum = fp.Problem("-lap(u) = lam*u", fp.Disk(), boundary="u = 0", parameters={"lam": fp.Eigenvalue()})\n'
          "modes = fp.modes(drum, 6)\nassert abs(modes.values[0] - 2.404825557695773**2) < 1e-9\n"
          "modes.plot()\nprint(modes)\n"),
    Entry("oscillator_modes", "Energy levels", "The harmonic oscillator: 1, 3, 5, …",
          'well = fp.Problem("-u_xx + x**2*u = lam*u", fp.Interval(-8, 8), boundary="u = 0",\n'
          '                  parameters={"lam": fp.Eigenvalue()})\n'
          "modes = fp.modes(well, 6)\nassert np.allclose(modes.values, [1, 3, 5, 7, 9, 11], atol=1e-8)\n"
          "modes.plot()\nprint(modes)\n"),
    Entry("bratu_fold", "A fold", "Bratu's problem has two solutions, one or none; the path turns at the fold.",
          'bratu = fp.Problem("u_xx + lam*exp(u) = 0", fp.Interval(0, 1), boundary="u = 0", parameters={"lam": 2})\n'
          'path = fp.follow(bratu, "lam", (0, 4))\nassert abs(path.folds[0].value - 3.513830719125) < 1e-8\n'
          "path.plot()\nprint(path)\n"),
    Entry("steady_state", "A steady state and its stability", "Its eigenvalues tell whether it lasts.",
          'problem = fp.Problem("u_t = u_xx + 20*u*(1 - u)", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0")\n'
          "state = fp.steady(problem)\nstability = fp.stability(state)\nassert stability.verdict == 'stable'\n"
          "state.plot()\nprint(stability)\n"),
    Entry("unknown_conductivity", "An unknown conductivity", "Found from noisy measurements, with an error bar.",
          'problem = fp.Problem("u_t = k*u_xx", fp.Interval(0, 1), (0, 1), "sin(pi*x)", "u = 0",\n'
          '                     parameters={"k": fp.Unknown(0.3)})\n'
          "x, t = np.linspace(0.1, 0.9, 9), np.full(9, 0.5)\n"
          "measured = np.exp(-0.1*np.pi**2*t)*np.sin(np.pi*x) + 0.01*np.random.default_rng(0).normal(size=9)\n"
          "found = fp.infer(problem, fp.Measurements(x, measured, times=t, noise=0.01))\n"
          'k = found.parameters["k"]\nassert k.low < 0.1 < k.high\nfound.plot()\nprint(found.report)\n'),
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
    head = f'"""\n{entry.title}\n{"=" * len(entry.title)}\n\n{entry.words}\n"""\n\n'
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
        f"{title}\n{'=' * len(title)}\n\nEvery picture is made by running the script beside it.\n",
    )
    count = 0
    for name, (heading, entries) in GROUPS.items():
        (folder / name).mkdir(exist_ok=True)
        _put(folder / name / "GALLERY_HEADER.rst", f"{heading}\n{'-' * len(heading)}\n")
        for entry in entries:
            _put(folder / name / f"plot_{entry.name}.py", script(entry))
            count += 1
    return count


def _put(file: Path, text: str) -> None:
    """Write a file if that changes anything: what is unchanged is not run again."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    wanted = sys.argv[1:]
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
