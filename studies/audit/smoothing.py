r"""Checks of zeroth-order gradient estimates, as means over random directions: items 5 and 8.

The directions are tangent to the simplex and short enough that perturbed policies stay in it,
because the paper's objects are not defined elsewhere. Each function takes a
:class:`~audit.problems.Problem` and returns a list of results.
"""

import math
from dataclasses import dataclass

import numpy as np
from audit import exact
from audit.printed import require
from audit.problems import Result, mean_error
from scipy.linalg import helmert

from pgpd_hf.streams import generator

_DIRECTIONS = 2000


@dataclass(frozen=True)
class Sphere:
    """Random directions at a policy, tangent to the simplex."""

    centre: np.ndarray  # a policy that is positive everywhere, (S, A)
    directions: np.ndarray  # on the unit sphere, (F, D, S, A): F frames of D orthonormal ones
    inside: np.ndarray  # likewise in the unit ball
    radius: float  # the setting's, or the largest one for which perturbed policies are policies
    dimension: int  # |S|(|A| - 1), the factor of the gradient estimate

    @property
    def note(self):
        """Remark for the table."""
        return f"tangent directions, dimension {self.dimension}, mu = {self.radius:.3g}"

    def around(self, moves):
        """Policies at plus and minus `moves`."""
        return self.centre + self.radius * moves, self.centre - self.radius * moves


def tangent_spheres(problem):
    """Sample directions along which perturbed policies stay in the simplex, at four policies.

    A frame estimates the gradient of a linear function without error if the factor is the
    dimension; with any other factor, all frames have the same error.
    """
    states, actions = problem.cmdp.reward.shape
    require(actions > 1, "actions: with one action there is no direction to perturb in")
    random = generator(purpose="theory", check="sphere")
    dimension = states * (actions - 1)
    frames = math.ceil(_DIRECTIONS / dimension)
    # Q is uniform among the orthogonal matrices if the diagonal of R is positive.
    bases, triangles = np.linalg.qr(random.standard_normal((frames, dimension, dimension)))
    bases *= np.sign(np.diagonal(triangles, axis1=1, axis2=2))[:, None]
    rows = bases.swapaxes(1, 2).reshape(frames, dimension, states, actions - 1)
    directions = rows @ helmert(actions)  # orthonormal basis of the vectors that sum to zero
    shrink = random.random((frames, dimension, 1, 1)) ** (1 / dimension)
    uniform = np.full((states, actions), 1 / actions)
    others = random.dirichlet(np.ones(actions), size=(2, states))
    spheres = []
    for other in (uniform, *others, problem.optimum.policy):
        centre = (uniform + other) / 2
        # An entry of a tangent unit vector is at most sqrt(1 - 1/A).
        room = centre.min() / math.sqrt(1 - 1 / actions)
        radius = min(problem.constants.perturbation, room)
        spheres.append(Sphere(centre, directions, shrink * directions[::-1], radius, dimension))
    return spheres


def smoothing(problem):
    """Item 5: the estimate on the sphere against the gradient of the mean over the ball."""
    worst = {}
    for sphere in tangent_spheres(problem):
        for signal in problem.signals:
            for result in _smoothing_at(problem, sphere, signal):
                # Both are zero where the value is linear in the policy.
                harder = result.measured / result.bound if result.bound > 0 else result.measured
                if result.key not in worst or harder > worst[result.key][0]:
                    worst[result.key] = harder, result
    return [result for _, result in worst.values()]


def _smoothing_at(problem, sphere, signal):
    cmdp, constants = problem.cmdp, problem.constants
    curvature, radius, dimension = constants.smoothness, sphere.radius, sphere.dimension
    steepest = exact.tangent(exact.gradient(cmdp, sphere.centre, signal))
    value = cmdp.state_values(sphere.centre, signal) @ cmdp.initial
    ahead, behind, *around = (
        cmdp.state_values(policies, signal) @ cmdp.initial - value
        for policies in (*sphere.around(sphere.directions), *sphere.around(sphere.inside))
    )
    scale = dimension / radius
    estimates = scale * ((ahead - behind) / 2)[..., None, None] * sphere.directions
    in_ball = (exact.gradient(cmdp, it, signal) for it in sphere.around(sphere.inside))
    gradients = exact.tangent(sum(in_ball) / 2)
    difference, noise = _mean_norm(estimates, gradients)
    # Means over directions; frames are independent.
    shift, shift_error = mean_error((sum(around) / 2).mean(1))
    bend, bend_noise = _mean_norm(gradients - steepest)
    squares, squares_error = mean_error(((scale * ahead) ** 2).mean(1))
    steepness = 2 * dimension * (steepest**2).sum()
    slope, largest = radius * curvature * dimension, constants.value_bound
    rows = [
        # Both sides of 5a are equal in expectation: they may differ by three standard errors.
        ("5a", difference, 3 * noise, 0.0, math.inf),
        ("5b", abs(shift), curvature * radius**2 / 2, shift_error, largest),
        ("5c", bend, slope / 2, 2 * bend_noise, 2 * _longest_gradient(constants)),
        ("5d", squares, steepness + slope**2 / 2, squares_error, (scale * largest) ** 2),
    ]
    return [
        Result(key, measured, bound, "Monte Carlo", error, sphere.note, trivial)
        for key, measured, bound, error, trivial in rows
    ]


def gradient_bias(problem):
    """Item 8: bias from smoothing and truncation, plus the largest effect of an answer's bias.

    A bias |f(v)| <= c adds at most |E f(v) v| <= c E|<v, u>| <= c/sqrt(d) for some unit vector u.
    """
    largest = problem.constants.return_bound
    bias = problem.answer_bias(-largest, largest)
    results = [
        _gradient_bias_at(problem, sphere, signal, bias)
        for sphere in tangent_spheres(problem)
        for signal in problem.signals
    ]
    return [max(results, key=lambda result: result.measured / result.bound)]


def _gradient_bias_at(problem, sphere, signal, bias):
    cmdp, constants = problem.cmdp, problem.constants
    scale = sphere.dimension / sphere.radius
    ahead, behind = (
        exact.finite_horizon_values(cmdp, it, signal, problem.setting.horizon)[0] @ cmdp.initial
        for it in sphere.around(sphere.directions)
    )
    odd = (ahead - behind) / 2  # the even part of the difference averages to zero
    steepest = exact.tangent(exact.gradient(cmdp, sphere.centre, signal))
    off, noise = _mean_norm(scale * odd[..., None, None] * sphere.directions - steepest)
    weight = scale / math.sqrt(sphere.dimension)  # an answer's bias weighs so much, at most
    bound = constants.gradient_bias_at(sphere.radius, sphere.dimension)
    trivial = _longest_gradient(constants) + weight * constants.return_bound
    measured = off + weight * bias
    return Result("8", measured, bound, "Monte Carlo", 2 * noise, sphere.note, trivial)


def _longest_gradient(constants):
    """Largest norm of a tangent gradient, from the range of the advantages."""
    return constants.value_bound * math.sqrt(constants.actions) / (1 - constants.discount)


def _mean_norm(*samples):
    """Norm of a mean over directions, or of the difference of two, and its standard error."""
    frames = [sample.mean(1) for sample in samples]
    noise = sum(frame.var(0, ddof=1).sum() / len(frame) for frame in frames)
    means = [frame.mean(0) for frame in frames]
    difference = means[0] - means[1] if len(means) == 2 else means[0]
    return float(np.sqrt((difference**2).sum())), float(np.sqrt(noise))
