"""A population that spreads: the front of the Fisher–KPP equation.

    uₜ = uₓₓ + 6 u (1 − u),  x ∈ [−5, 10],  u(x, 0) = (1 + eˣ)⁻²
    exact: u(x, t) = (1 + exp(x − 5t))⁻², a front that moves at speed 5; its values are given at both ends

The equation is nonlinear; that is found from the text. The exact Jacobian is derived from it too, and a stiff
integrator with step-size control takes over. `tol` is the relative error asked of the answer.
"""

import numpy as np
from scipy.optimize import brentq

import frozenpinn as fp


def main() -> None:
    front = "1/(1 + exp(x - 5*t))**2"
    problem = fp.Problem(
        "u_t = u_xx + 6*u*(1 - u)",
        domain=fp.Interval(-5, 10),
        time=(0, 1),
        initial="1/(1 + exp(x))**2",
        boundary=f"u = {front}",  # on each side, x is the coordinate of that side
        exact=front,
    )
    for tol in (1e-4, 1e-8):
        solution = fp.solve(problem, tol=tol)
        error, report = solution.error()["rel_l2"], solution.report
        print(f"tol = {tol:.0e}: error {error:.1e}, {report.steps} steps, {report.jacobian_evaluations} Jacobians")
        assert error < tol, error
    print(solution.report)

    # Where does the population reach one half? The front must move at speed 5.
    places = [brentq(lambda x, t=t: float(solution(x, t)) - 0.5, -5, 10, xtol=1e-10) for t in (0.2, 0.8)]
    speed = np.diff(places)[0] / 0.6
    print(f"speed of the front between t = 0.2 and t = 0.8: {speed:.8f}")
    assert error < 5e-9, error
    assert abs(speed - 5) < 1e-6


if __name__ == "__main__":
    main()
