"""Algorithm 1 of the Frozen-PINN paper, step by step in its notation; then the same by one call.

    uₜ = ν uₓₓ + u − u³,  x ∈ [0, 1],  u = 0 at both ends,  u(x, 0) = sin πx + ½ sin 3πx

C. Datar et al., "Fast training of accurate physics-informed neural networks without gradient descent". Where the paper
multiplies from the right, C Φ with one column of Φ per point, arrays here have one row per point.
"""

import numpy as np

import frozenpinn as fp

N_C, M_S, M_B, EPS_SVD = 200, 120, 24, 1e-8  # points, neurons, outer functions, threshold of the SVD layer
NU, RTOL = 0.05, 1e-9
SINES, SVD = fp.boundary.OuterBasis("sine", count=M_B), fp.stages.SVDLayer(EPS_SVD, orthonormal=False)
INITIAL, X_TEST, T_TEST = "sin(pi*x) + sin(3*pi*x)/2", np.linspace(0, 1, 301), np.linspace(0, 1, 21)


def main() -> None:
    pde = fp.Problem("u_t = nu*u_xx + u - u**3", fp.Interval(0, 1), (0, 1), INITIAL, "u = 0", parameters={"nu": NU})

    print("1. Sample collocation points X")
    points = pde.domain.sample(N_C, "uniform").equally_weighted()  # the paper knows no quadrature weights
    X = points.x
    print("2. Construct the parameters W, b of the hidden layer (SWIM)")
    hidden = fp.samplers.SWIM(M_S).sample(points, rng=0)
    W, b = hidden.weights, hidden.biases
    print("3. Compute the output of the hidden layer Φ(X), and the constant 1")
    network = fp.stages.Network(hidden, points)
    Phi = np.column_stack([np.tanh(X @ W.T + b), np.ones(N_C)])
    print("4. Construct the boundary-compliant layer A, so that A Φ are sines")
    compliant = SINES.apply(network, 0.0, 1.0)
    A = compliant.mixing[0]
    print("5. Compute the truncated SVD of A Φ(X), and A_r = V_rᵀ A")
    reduced = compliant.compress(SVD)
    A_r = reduced.mixing[0]
    print("6. Compute the neural basis Φ_Ar(X)")
    Phi_Ar, Phi_xx = Phi @ A_r, reduced.derivatives(X, [2])[0]
    print(f"   {M_S} neurons → {A.shape[1]} functions that obey the conditions → {A_r.shape[1]} orthogonal ones")
    print("7. Initialise the output layer: C(0) = u(X, 0) Φ_Ar(X)⁺")
    space = fp.stages.build_space(pde, hidden, points, strategy=SINES, cutoff=SVD)  # steps 4 to 6 at once
    system = fp.stages.discretise(pde, space)
    C_0, pseudo_inverse = system.initial_state, np.linalg.pinv(Phi_Ar)
    assert np.allclose(C_0, pseudo_inverse @ (np.sin(np.pi * X[:, 0]) + np.sin(3 * np.pi * X[:, 0]) / 2))
    print("8. Solve the ODE C_t = R(X, C) Φ_Ar(X)⁺ by LSODA")
    u, LSODA = Phi_Ar @ C_0, fp.integrators.SciPy("lsoda", RTOL)
    assert np.allclose(system.rhs(0, C_0), pseudo_inverse @ (NU * Phi_xx @ C_0 + u - u**3))
    trajectory = LSODA.integrate(system)
    print("9. Evaluate û(X_test, T_test) = C(T_test) Φ_Ar(X_test)")
    C = trajectory(T_TEST).T
    values = np.column_stack([np.tanh(X_TEST[:, None] @ W.T + b), np.ones(len(X_TEST))]) @ A_r @ C
    step_by_step = fp.Solution.of(pde, system, trajectory)
    assert np.allclose(step_by_step(X_TEST[:, None], T_TEST), values)

    settings = fp.Settings(
        sampler=fp.samplers.SWIM(M_S), points=N_C, point_method="uniform", quadrature=False,
        boundary=SINES, cutoff=SVD, integrator=LSODA, windows=None,
    )  # fmt: skip
    in_one_call = fp.solve(pde, settings=settings)
    assert np.array_equal(in_one_call(X_TEST[:, None], T_TEST), step_by_step(X_TEST[:, None], T_TEST))  # the same bits
    reference = fp.solve(pde, tol=1e-10)(X_TEST[:, None], T_TEST)
    error = np.linalg.norm(values - reference) / np.linalg.norm(reference)
    print(f"relative L² error {error:.1e}, step by step and by one call of fp.solve")
    assert error < 1e-6, error


if __name__ == "__main__":
    main()
