r"""Gradients from perturbed policies: items 5 and 8, which need a mean over directions.

Directions are tangent to the simplex, and as long as the policy stays a policy: beyond it the
paper's objects are not defined (docs/audit.md). The functions of the items take a
:class:`~pgpd_hf.theory.problems.Problem` and return a list of
:class:`~pgpd_hf.theory.problems.Result`.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert

from pgpd_hf.core.policies import uniform_policy
from pgpd_hf.theory import exact
from pgpd_hf.theory.constants import OutsideAssumptions
from pgpd_hf.theory.problems import Result, mean_error

_DIRECTIONS = 2000  # at least so many


@dataclass
class Sphere:
    """Directions tangent to the simplex around a policy inside it.

    Attributes
    ----------
    centre : ndarray, float64, shape (S, A)
        The policy.
    directions, inside : ndarray, float64, shape (F, D, S, A)
        Uniform on the unit sphere and in the unit ball of the tangent space, in F independent
        frames of D orthonormal directions.
    radius : float
        Largest perturbation up to that of the setting that leaves policies policies.
    dimension : int
        |S|(|A| - 1), the factor of the estimate.
    """

    centre: np.ndarray
    directions: np.ndarray
    inside: np.ndarray
    radius: float
    dimension: int

    @property
    def note(self):
        """str: what was measured where."""
        return f"tangent directions, dimension {self.dimension}, mu = {self.radius:.3g}"

    def around(self, moves):
        """Policies on both sides of the centre, as a pair of arrays of the shape of `moves`."""
        return self.centre + self.radius * moves, self.centre - self.radius * moves


def tangent_spheres(problem, count=_DIRECTIONS):
    """Sample directions in which perturbed policies stay policies.

    A frame's directions are orthonormal, so the linear part of a function comes out exactly right
    in each frame if the factor of the estimate is right, and wrong in all if it is not.

    Parameters
    ----------
    problem : Problem
        Supplies the process and the perturbation.
    count : int
        Number of directions, rounded up to full frames.

    Returns
    -------
    list of Sphere
        Around the uniform policy, around two random ones and around one towards the optimum.
    """
    states, actions = problem.cmdp.states, problem.cmdp.actions
    if actions == 1:
        raise OutsideAssumptions("actions: with one action there is no direction to perturb in")
    random = problem.random("sphere")
    dimension = states * (actions - 1)
    frames = math.ceil(count / dimension)
    # Columns of Q are uniform if the signs of R's diagonal are.
    bases, triangles = np.linalg.qr(random.standard_normal((frames, dimension, dimension)))
    bases *= np.sign(np.diagonal(triangles, axis1=1, axis2=2))[:, None]
    rows = bases.swapaxes(1, 2).reshape(frames, dimension, states, actions - 1)
    directions = rows @ helmert(actions)  # an orthonormal basis of what sums to zero
    shrink = random.random((frames, dimension, 1, 1)) ** (1 / dimension)
    uniform = uniform_policy(states, actions)
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
    """Item 5: the sphere's estimate against the ball's gradient, and their distances."""
    worst = {}
    for sphere in tangent_spheres(problem):
        for signal in problem.signals:
            for result in _smoothing_at(problem, sphere, signal):
                # 0 <= 0 where the value is linear in the policy
                harder = result.measured / result.bound if result.bound > 0 else result.measured
                if result.key not in worst or harder > worst[result.key][0]:
                    worst[result.key] = harder, result
    return [result for _, result in worst.values()]


def _smoothing_at(problem, sphere, signal):
    cmdp, constants = problem.cmdp, problem.constants
    smoothness, radius, dimension = constants.smoothness, sphere.radius, sphere.dimension
    steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
    value = exact.value(cmdp, sphere.centre, signal)
    ahead, behind = (exact.value(cmdp, p, signal) - value for p in sphere.around(sphere.directions))
    estimates = dimension / radius * ((ahead - behind) / 2)[..., None, None] * sphere.directions
    in_ball = sphere.around(sphere.inside)
    gradients = sum(_tangent(exact.gradient(cmdp, p, signal)) for p in in_ball) / 2
    difference, noise = _mean_norm(estimates, gradients)
    shift, shift_error = _mean(sum(exact.value(cmdp, p, signal) - value for p in in_ball) / 2)
    bend, bend_noise = _mean_norm(gradients - steepest)
    squares, squares_error = _mean((dimension / radius * ahead) ** 2)
    steepness = 2 * dimension * (steepest**2).sum()
    note = {"method": "Monte Carlo", "reason": sphere.note}
    return [
        # The two means differ by chance only: three standard errors.
        Result("5a", difference, 3 * noise, **note),
        Result(
            "5b",
            abs(shift),
            smoothness * radius**2 / 2,
            error=shift_error,
            trivial=constants.value_bound,
            **note,
        ),
        Result(
            "5c",
            bend,
            radius * smoothness * dimension / 2,
            error=2 * bend_noise,
            trivial=2 * _longest_gradient(constants),
            **note,
        ),
        Result(
            "5d",
            squares,
            steepness + (radius * smoothness * dimension) ** 2 / 2,
            error=squares_error,
            trivial=(dimension / radius * constants.value_bound) ** 2,
            **note,
        ),
    ]


def gradient_bias(problem):
    r"""Item 8: smoothing and truncation over directions, and people's largest bias.

    With :math:`|f| \le c`, :math:`\|E f(v) v\| \le c\,E|\langle v, u\rangle| \le c/\sqrt d`.
    """
    largest = problem.constants.return_bound
    bias = np.abs(problem.feedback_error(-largest, largest).bias).max()
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
        exact.finite_horizon_values(cmdp, policies, signal, problem.setting.horizon)[0]
        @ cmdp.initial
        for policies in sphere.around(sphere.directions)
    )
    odd = (ahead - behind) / 2  # what is even in v has mean zero
    steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
    off, noise = _mean_norm(scale * odd[..., None, None] * sphere.directions - steepest)
    answered = scale / math.sqrt(sphere.dimension)  # what an answer of one adds at most
    return Result(
        "8",
        off + answered * bias,
        constants.gradient_bias_at(sphere.radius, sphere.dimension),
        "Monte Carlo",
        2 * noise,
        sphere.note,
        trivial=_longest_gradient(constants) + answered * constants.return_bound,
    )


def _longest_gradient(constants):
    """Largest norm of a tangent gradient that the ranges of advantages allow."""
    return constants.value_bound * math.sqrt(constants.actions) / (1 - constants.discount)


def _tangent(gradients):
    """Part of a gradient that keeps rows' sums."""
    return gradients - gradients.mean(-1, keepdims=True)


def _mean(samples):
    """Mean of numbers, one for each direction, and its error; frames are independent."""
    return mean_error(samples.mean(1))


def _mean_norm(*samples):
    """Norm of the (difference of) means of arrays, and the standard error of that norm."""
    frames = [sample.mean(1) for sample in samples]
    noise = sum(frame.var(0, ddof=1).sum() / len(frame) for frame in frames)
    means = [frame.mean(0) for frame in frames]
    difference = means[0] - means[1] if len(means) == 2 else means[0]
    return float(np.sqrt((difference**2).sum())), float(np.sqrt(noise))
