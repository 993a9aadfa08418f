"""The findings of README.md. A test here fails if the paper's statement held after all.

Line numbers are those of the paper's LaTeX source.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from audit import exact, printed
from audit.check import check
from audit.estimates import make_estimates
from audit.iterates import one_step_shortfall, sample_advantages
from audit.printed import Setting, make_constants
from audit.problems import Problem
from scipy import special, stats

from pgpd_hf import CMDP, NPGPDHF, ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.optimum import maximize
from pgpd_hf.policies import unit_direction
from pgpd_hf.primal_dual import Run, State
from pgpd_hf.statistics import mean_interval
from pgpd_hf.streams import generator

KNOWN = Setting(evaluators=None, iterations=100, horizon=60)  # no votes, hardly any truncation
SMALL = random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.5)


def problem_of(cmdp, setting):
    optimum = solve(cmdp)
    return Problem(cmdp, optimum, setting, range(2), make_constants(cmdp, optimum, setting))


def constants_of(cmdp, setting, **changes):
    return replace(make_constants(cmdp, solve(cmdp), setting), **changes)


def directions(shape, seed, count, how=ZPGPDHF.directions):
    """Directions of ZPGPD-HF, (count, S, A)."""
    random, ways = np.random.default_rng(seed), np.empty((count, *shape))
    for way in ways:
        unit_direction(random.standard_normal(way.size), how == "tangent", way)
    return ways


def uniform(states, actions):
    return np.full((states, actions), 1 / actions)


# Theorem 2 ------------------------------------------------------------------------------------


def one_zeroth_order_step(cmdp, rounds, perturbation, count=2000):
    """Both sides of the first line of F1 (1433), and its missing term, at the uniform policy."""
    setting = replace(KNOWN, rounds=rounds)
    algorithm = setting.algorithm(ZPGPDHF, directions="tangent", perturbation=perturbation)
    ready = algorithm.prepare(cmdp, solve(cmdp), setting.iterations)
    theta, random = uniform(cmdp.states, cmdp.actions), generator(test="f1")
    normals, words = random.standard_normal((count, theta.size)), random.bit_generator.random_raw
    answers = [algorithm.estimate(ready, theta, words(ready.words), row) for row in normals]
    estimates = np.stack([it.reward for it in answers])
    step = ready.steps.primal  # 1 / L_theta
    after = exact.projected(theta + step * estimates)
    moves = after - theta
    left = cmdp.evaluate(after)[0] - cmdp.evaluate(theta)[0]
    right = (estimates * moves).sum((1, 2)) - (moves**2).sum((1, 2)) / (2 * step)
    missing = ((estimates - exact.gradient(cmdp, theta, cmdp.reward)) * moves).sum((1, 2))
    return left, right, missing


@pytest.mark.parametrize("rounds", [1, 10, 100])
def test_line_1433_fails_for_almost_every_estimate(rounds):
    """The model's maximum is that of the *estimated* gradient; with its error it holds always."""
    left, right, missing = one_zeroth_order_step(SMALL, rounds, perturbation=0.05)
    assert (left < right - 1e-12).mean() > 0.9
    assert (left >= right - missing - 1e-12).all()


def test_term_missing_in_line_1433_is_the_estimator_s_variance():
    """It falls as 1/mu^2, and as 1/N to a floor (below); nothing in the theorem's bound does."""
    near, far = (one_zeroth_order_step(SMALL, 1, it)[2].mean() for it in (0.05, 0.1))
    assert far == pytest.approx(near / 4, rel=0.2)


def test_term_missing_in_line_1433_has_a_floor_the_noise_of_directions():
    """No number of rounds makes it smaller than eta_1 (d' - 1) |grad F|^2, d' = |S|(|A| - 1).

    Three intervals of 99.9 %: an error in 1 of 300 drawings, and the seed is fixed.
    """
    gradient = exact.tangent(exact.gradient(SMALL, uniform(4, 2), SMALL.reward))
    step, _ = constants_of(SMALL, KNOWN).theorem_2_steps
    floor = step * (4 - 1) * (gradient**2).sum()
    sizes = [one_zeroth_order_step(SMALL, 1, 0.3)[2].mean()]
    for rounds in (10, 100, 1000):
        size, low, high = mean_interval(one_zeroth_order_step(SMALL, rounds, 0.3)[2], 0.999)
        assert low < floor + (sizes[0] - floor) / rounds < high
        sizes.append(size)
    assert low > 5 * sizes[0] / rounds


def average_gap(cmdp, algorithm, iterations, **options):
    """Average gap over the first T iterates."""
    options |= {"iterations": iterations, "checkpoints": [iterations - 1]}
    return run(cmdp, algorithm, **options)["mean_optimality_gap"]


def test_theorem_2_cannot_hold_without_n():
    """M infinite, H long, the theorem's steps and radius: random policies for ever."""
    cmdp = random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.0)
    choices = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    deterministic = solve(cmdp).reward_value - cmdp.evaluate(np.eye(2)[choices])[0].mean()
    cases = [(4000, 1, "sphere"), (40000, 1, "sphere"), (4000, 20, "sphere"), (4000, 1, "tangent")]
    for iterations, rounds, how in cases:
        algorithm = replace(KNOWN, rounds=rounds).algorithm(ZPGPDHF, directions=how)
        mean, low, high = mean_interval(average_gap(cmdp, algorithm, iterations, seeds=range(4)))
        assert abs(mean - deterministic) < 0.02 * deterministic
        assert high - low < 0.05 * deterministic
    assert average_gap(cmdp, "pg_pd", 4000, seeds=[0]).item() < 0.5 * deterministic
    bound = printed.theorem_2_gap(constants_of(cmdp, KNOWN, iterations=10**40))
    assert bound < deterministic / 100


def test_theorem_2_s_gap_and_violation_stay_where_reward_is_utility():
    """Lemma 4.13 of the note: with M infinite policies are random vertices, whatever lambda is.

    So the gap is 1/4 and the violation 0.15 on average. Intervals cover for 99.9 % of all seeds.
    """
    signal = [[1, 0.5], [0, 0]]
    cmdp = CMDP(np.full((2, 2, 2), 0.5), signal, signal, [0.5, 0.5], 0.5, 0.9)
    for iterations, rounds in ((1000, 1), (10000, 1), (1000, 10)):
        algorithm = replace(KNOWN, rounds=rounds).algorithm(ZPGPDHF)
        how = {"seeds": range(8), "iterations": iterations, "checkpoints": [iterations - 1]}
        trace = run(cmdp, algorithm, **how)
        assert (trace["multiplier"] > 0).any()
        for metric, expected in (("optimality_gap", 0.25), ("constraint_violation", 0.15)):
            _, low, high = mean_interval(trace[f"mean_{metric}"], 0.999)
            assert low < expected < high < low + 0.05
    constants = constants_of(cmdp, KNOWN, iterations=10**26)
    assert printed.theorem_2_gap(constants) < 0.1
    assert printed.theorem_2_violation(constants, complete=True) < 0.1


def test_finitely_many_evaluators_contradict_theorem_2_s_bound_if_they_are_very_many():
    """Its terms with M are below the gap of random policies for M = 10^14; they are needed, too.

    The runs have the radius of so many evaluators and infinitely many evaluators: answers of so
    many err by less than 10^-5. Both intervals cover for 99.8 % of all seeds.
    """
    even, reward = np.full((2, 2, 2), 0.5), [[1, 0.6], [0.4, 0]]
    cmdp = CMDP(even, reward, np.ones((2, 2)), [0.5] * 2, 0.1, 0.0)
    few, many = (
        constants_of(cmdp, replace(KNOWN, horizon=2000), iterations=10**17, evaluators=m)
        for m in (10**13, 10**14)
    )
    assert many.multiplier_bound == pytest.approx(2)
    assert many.feedback < 1e-5
    for iterations in (1000, 10000):
        algorithm = KNOWN.algorithm(ZPGPDHF, perturbation=many.perturbation)
        gap = average_gap(cmdp, algorithm, iterations, seeds=range(8))
        _, low, high = mean_interval(gap, 0.999)
        assert printed.theorem_2_gap(many) < low
        assert high < printed.theorem_2_gap(few)


@pytest.mark.parametrize("evaluators", [2, 10**7])
@pytest.mark.parametrize(("states", "discount"), [(1, 0.0), (1, 0.5), (4, 0.1), (10, 0.9)])
def test_theorem_2_s_bound_is_vacuous_for_up_to_ten_million_evaluators(
    states, discount, evaluators
):
    """It is at least sqrt(288 b) B, with b >= 2 sqrt(2 log M/M), and no gap exceeds B.

    sigma >= 2, D >= 8/(1 - gamma)^2, d >= 2, and eps_rg >= d mu with mu^2 >= b, the bias of votes.
    L >= 2, since the inverse link maps an interval of length one onto [-G, G] with G >= 1.
    """
    floor = math.sqrt(288 * 2 * math.sqrt(2 * math.log(evaluators) / evaluators))
    assert floor > 1
    free = random_cmdp(states=states, actions=2, discount=discount, scale="unit", threshold=0.0)
    setting = Setting(evaluators=evaluators, iterations=1, horizon=2000)
    bound = printed.theorem_2_gap(constants_of(free, setting, iterations=10**60))
    assert bound >= floor * free.value_bound


def test_tangent_directions_leave_the_simplex_at_vertices():
    """Iterates are vertices, and there all rows point inwards in 1 of 2^|S| drawings only."""
    cmdp = random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.0)
    algorithm = KNOWN.algorithm(ZPGPDHF, directions="tangent", multiplier_bound=0.0)
    case = Run(algorithm, algorithm.prepare(cmdp, solve(cmdp), 4000), 0, "run")
    words, normals = case.draw(4000)
    start = State(algorithm.start(cmdp), 0.0)
    vertices = algorithm.advance(case.setting, start, words, normals)[0][1:]
    assert (vertices.max(-1) == 1).all()
    moves = exact.tangent(normals[1:].reshape(-1, 4, 2))
    leave = (vertices + case.setting.perturbation.radius * moves < 0).any((1, 2)).sum()
    # True of 99.9 % of all seeds.
    assert stats.binomtest(int(leave), len(vertices), 1 - 2.0**-4).pvalue > 1e-3


def test_theorem_2_s_gap_falls_with_the_fourth_root_of_evaluators():
    """Line 563 says (log M/M)^(1/2), the violation's line 571 says (log M/M)^(1/4)."""

    def votes_part(evaluators):
        setting = replace(KNOWN, horizon=2000)
        c = constants_of(SMALL, setting, iterations=10**60, evaluators=evaluators)
        return printed.theorem_2_gap(c)

    few, many = 10**8, 10**12
    rate = math.log(math.log(many) / many) - math.log(math.log(few) / few)
    slope = math.log(votes_part(many) / votes_part(few)) / rate
    assert slope == pytest.approx(1 / 4, abs=0.01)


def test_theorem_2_s_power_of_the_dimension_takes_actions_for_states():
    """sqrt(D) L' d grows as |S|^(3/2) |A|^2 |d*/rho|, not as the printed d^(3/2)."""
    setting = Setting(evaluators=10**6, iterations=1, horizon=2000)
    theorem = constants_of(random_cmdp(instance=1), setting, iterations=10**60)

    def growth(**factors):
        changed = {name: factor * getattr(theorem, name) for name, factor in factors.items()}
        before, after = theorem, replace(theorem, **changed)
        return printed.zeroth_order_lagrangian(after) / printed.zeroth_order_lagrangian(before)

    assert growth(states=4) == pytest.approx(4**1.5, rel=0.01)
    assert growth(actions=4) == pytest.approx(4**2, rel=0.01)
    assert growth(mismatch=4) == pytest.approx(4)


def test_line_1658_takes_a_curvature_of_at_least_two():
    """For a small discount factor 3 mu L' d/2 is below the bias that it is to bound."""
    fits = {}
    for discount in (0.1, 0.9):
        cmdp = random_cmdp(states=3, actions=2, discount=discount, scale="unit", threshold=0.3)
        c = constants_of(cmdp, Setting(evaluators=64, iterations=100, horizon=20))
        replaced = 3 * c.perturbation * c.smoothness * c.dimension / 2
        fits[discount] = replaced >= c.gradient_bias, c.smoothness >= 2
    assert fits == {0.1: (False, False), 0.9: (True, True)}


@pytest.mark.parametrize(
    ("scale", "threshold", "radius"), [("unit", 5.5, 68), ("normalized", 0.55, 1.03)]
)
def test_the_sphere_leaves_the_simplex_and_theorem_2_s_radius_is_larger(scale, threshold, radius):
    moved = uniform(10, 4) + 1e-3 * directions((10, 4), 0, 1000)
    assert (np.abs(moved.sum(-1) - 1).max(-1) > 1e-6).all()
    cmdp = random_cmdp(scale=scale, threshold=threshold)
    constants = constants_of(cmdp, Setting(evaluators=256, iterations=1000))
    assert constants.perturbation == pytest.approx(radius, rel=0.01)
    # A tangent perturbation of the uniform policy has to stay below this.
    assert constants.perturbation > 1 / (4 * math.sqrt(3 / 4))


def relative_bias(cmdp, theta, perturbation):
    """Bias of Algorithm 2's estimate with projected policies, returns known exactly."""
    ways = directions(theta.shape, 1, 30000)
    moved = cmdp.evaluate(exact.projected(theta + perturbation * ways))[0]
    slopes = theta.size / perturbation * (moved - cmdp.evaluate(theta)[0])
    # Only the part that keeps rows' sums moves a policy.
    mean = exact.tangent((slopes[:, None, None] * ways).mean(0))
    gradient = exact.tangent(exact.gradient(cmdp, theta, cmdp.reward))
    return np.linalg.norm(mean - gradient) / np.linalg.norm(gradient)


@pytest.mark.parametrize("perturbation", [1e-4, 1e-2, 1.0])
def test_projection_biases_the_gradient_at_a_vertex(perturbation):
    cmdp = random_cmdp(instance=1)
    vertex = np.eye(4)[np.random.default_rng(2).integers(4, size=10)]
    assert 0.55 < relative_bias(cmdp, vertex, perturbation) < 0.75
    if perturbation < 0.1:
        assert relative_bias(cmdp, uniform(10, 4), perturbation) < 0.06


def test_tangent_directions_are_unbiased_with_their_own_dimension():
    """The factor d = |S||A| would be |A|/(|A|-1) = 4/3 too large."""
    cmdp, theta, radius = random_cmdp(instance=1), uniform(10, 4), 0.01
    ways = directions((10, 4), 1, 30000, "tangent")
    moved = cmdp.evaluate(theta + radius * ways)[0] - cmdp.evaluate(theta)[0]
    mean = (moved[:, None, None] / radius * ways).mean(0)
    gradient = exact.tangent(exact.gradient(cmdp, theta, cmdp.reward))
    factor = (gradient**2).sum() / (mean * gradient).sum()
    assert factor == pytest.approx(30, rel=0.03)


@pytest.mark.parametrize("instance", [1, 42])
def test_theorem_2_s_steps_move_nothing(instance):
    """Step sizes 1e-6 and 1e7/sqrt(T): even the exact gradient gets nowhere in 2000 iterations."""
    cmdp = random_cmdp(instance=instance)
    primal, dual = constants_of(cmdp, replace(KNOWN, iterations=2000)).theorem_2_steps
    assert primal < 2e-6
    assert dual * math.sqrt(2000) > 1e6
    options = {"multiplier_bound": 0.0, "seeds": [0], "checkpoints": [0, 2000]}
    values = run(cmdp, "pg_pd", iterations=2000, **options)["reward_value"]
    assert values[1] - values[0] < 0.01 * (solve(cmdp).reward_value - values[0])


# Theorem 1 ------------------------------------------------------------------------------------


def sampled(problem, policy, count=4000):
    """Estimates of the reward's advantages, (count, S, A), and their errors."""
    estimates = sample_advantages(problem, policy, count)[:, 0]
    return estimates, estimates - problem.cmdp.advantages(policy, problem.cmdp.reward)


def test_conditional_mean_is_not_the_mean_under_the_next_policy():
    """Steps (d) and (f), lines 1919 and 1930: the next policy is made from the same estimate."""
    problem, policy = problem_of(SMALL, KNOWN), uniform(4, 2)
    estimates, errors = sampled(problem, policy)
    step = problem.constants.theorem_1_steps[0] / (1 - SMALL.discount)
    after = special.softmax(step * estimates, axis=-1)
    width = 5 * errors.std(0) / math.sqrt(len(errors))
    assert (np.abs(errors.mean(0)) < width).all()  # unbiased, as Lemma:bias advantage says
    _, low, _ = mean_interval((after * errors).sum(-1).mean(-1))
    assert low > 0.002
    assert problem.constants.advantage_bias < 1e-15


def test_missing_variance_falls_with_the_rounds():
    """To first order the weighted mean is the step times the variance, and that falls as 1/N."""
    policy, weighted = uniform(4, 2), {}
    for rounds in (1, 16):
        problem = problem_of(SMALL, replace(KNOWN, rounds=rounds))
        estimates, errors = sampled(problem, policy)
        after = special.softmax(0.01 * estimates, axis=-1)
        variance = errors.var(-1).mean()  # over actions, at the uniform policy
        weighted[rounds] = (after * errors).sum(-1).mean() - errors.mean()
        assert weighted[rounds] == pytest.approx(0.01 * variance, rel=0.15)
    assert weighted[16] == pytest.approx(weighted[1] / 16, rel=0.25)


def test_lemma_1878_fails_on_average():
    """Nothing is gained, but E log Z > 0 by Jensen's inequality; the claimed slack is 1e-17.

    Actions do not matter, returns are noisy: every advantage is zero, no estimate is.
    """
    random = np.random.default_rng(0)
    transition = np.repeat(random.dirichlet(np.ones(3), size=3)[:, None], 2, axis=1)
    reward, utility = (np.repeat(random.random(3)[:, None], 2, axis=1) for _ in range(2))
    indifferent = CMDP(transition, reward, utility, np.full(3, 1 / 3), 0.5, 0.1)
    problem = problem_of(indifferent, KNOWN)
    _, low, _ = mean_interval(one_step_shortfall(problem, uniform(3, 2), 0.0, 1000))
    assert low > 0.01
    assert printed.one_step(problem.constants) < 1e-12
    assert not check(indifferent, KNOWN, range(2), [15])["holds"].item()


def test_lemma_1878_fails_on_average_for_a_million_evaluators():
    """At the first iterate: each of 64 actions is the same ticket, which wins one time in twenty.

    Even the proof's own slack, 1 + gamma times the lemma's, is too small.
    """
    transition = np.repeat(np.array([[0, 0.05, 0.95], [0, 1, 0], [0, 0, 1]])[:, None], 64, axis=1)
    reward = np.repeat([[0.0], [1.0], [0.0]], 64, axis=1)
    cmdp = CMDP(transition, reward, np.ones((3, 64)), [0.98, 0.01, 0.01], 0.5, 0.0)
    problem = problem_of(cmdp, replace(KNOWN, evaluators=10**6))
    shortfall = one_step_shortfall(problem, uniform(3, 64), 0.0, 100)
    assert mean_interval(shortfall)[1] > 1.5 * printed.one_step(problem.constants) > 0.4


def tickets(chances, safe):
    """In the first state each action is a ticket; whoever has won earns 1 in each later step.

    If that is safe, utility is 1 everywhere; else it is the reward.
    """
    transition = np.zeros((3, len(chances), 3))
    transition[0] = np.column_stack([np.zeros_like(chances), chances, 1 - chances])
    transition[1, :, 1] = transition[2, :, 2] = 1
    reward = np.zeros((3, len(chances)))
    reward[1] = 1
    utility, threshold = (np.ones_like(reward), 0.5) if safe else (reward, 0.9)
    return CMDP(transition, reward, utility, [1.0, 0, 0], 0.5, threshold)


def test_lemma_1953_fails_where_tickets_hardly_differ():
    """The difference of their logits walks at random: for eta_2 -> 0 gaps add up to 1/(8 eps).

    Steps of the walk are differences of two tickets; its law is computed exactly.
    """
    eps, iterations, ends = 0.01, 20000, np.arange(-1000, 2000)
    cmdp = tickets(np.array([0.5 + eps, 0.5 - eps]), safe=True)
    problem = problem_of(cmdp, replace(KNOWN, iterations=iterations))
    estimates = sample_advantages(problem, uniform(3, 2), 4000)[:, 0, 0]
    steps = estimates[:, 0] - estimates[:, 1]
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-9)
    up, down = (0.5 + eps) ** 2, (0.5 - eps) ** 2
    counts = [(np.rint(steps) == it).sum() for it in (1, -1, 0)]
    expected = len(steps) * np.array([up, down, 1 - up - down])
    assert stats.chisquare(counts, expected).pvalue > 0.001
    primal, _ = problem.constants.theorem_1_steps
    wrong = special.expit(-primal / (1 - cmdp.discount) * ends)  # probability of the worse ticket
    law, total = (ends == 0).astype(float), 0.0
    for _ in range(iterations):
        total += 2 * eps * law @ wrong
        law = (1 - up - down) * law + up * np.roll(law, 1) + down * np.roll(law, -1)
    assert law[:10].sum() + law[-10:].sum() < 1e-12
    assert total == pytest.approx(1 / (8 * eps), rel=0.1)
    assert iterations * printed.natural_lagrangian(problem.constants, primal, 0.0) < total / 2


def test_theorem_1_s_constants_fail_for_very_many_tickets():
    """One ticket always wins, the others in half of the cases: E pi(best) <= 2^t / |A|.

    Those that have won every time are alike, so the gap is nearly 1/2 until T nears log |A|, which
    lines 2048 and 2141 do not contain once eta_1 is inserted (2052).
    """
    chances = np.append(1.0, np.full(63, 0.5))
    for safe in (True, False):
        cmdp = tickets(chances, safe)
        algorithm = KNOWN.algorithm(NPGPDHF)
        given = {"seeds": range(500), "iterations": 3, "return_policies": True}
        _, policies = run(cmdp, algorithm, **given)
        first = policies[:, 0]
        alike = np.isclose(first, first[:, :1], rtol=1e-6, atol=0)
        assert (first[:, 0] >= first.max(1) * (1 - 1e-6)).all()
        _, low, high = mean_interval(alike.sum(1), 0.999)
        assert low < 1 + 63 / 8 < high
        assert (first[:, 0] * alike.sum(1) < 1 + 1e-6).all()  # and E 1/(1 + n) <= 2^t / |A|
    known = {"iterations": 6000, "actions": 2**12000}
    gap = printed.theorem_1_gap(constants_of(tickets(chances, safe=True), KNOWN, **known))
    assert 2 * gap < 0.5 * (1 - 2**6000 / 2**12000)  # line 2053 has at most twice as much
    known = {"iterations": 10**6, "actions": 2 ** (2 * 10**6)}
    constants = constants_of(tickets(chances, safe=False), KNOWN, **known)
    assert printed.theorem_1_violation(constants, complete=True) < 0.9 - 0.5


def test_step_h_needs_a_logarithm_that_may_be_negative():
    """Line 1937 replaces d^(t+1) by (1 - gamma) mu, which takes log Z + c >= 0 on every path."""
    problem, policy = problem_of(SMALL, KNOWN), uniform(4, 2)
    primal = problem.constants.theorem_1_steps[0]
    estimates = primal / (1 - SMALL.discount) * sample_advantages(problem, policy, 1000)[:, 0]
    logarithm = special.logsumexp(estimates, axis=-1, b=policy)
    assert (logarithm + primal * printed.one_step(problem.constants) < 0).mean() > 0.1
    centred = exact.tangent(estimates)  # the policy is uniform
    assert (special.logsumexp(centred, axis=-1, b=policy) >= 0).all()


def test_lines_1976_to_1980_weight_the_errors_by_the_wrong_policy():
    """Under pi* and d*, which do not depend on the estimate, the error of Lemma E.4 has mean zero.

    As printed, with the next policy in their place, it has not; the identity of line 1963 needs
    the former.
    """
    problem, policy = problem_of(SMALL, KNOWN), uniform(4, 2)
    best = problem.optimum.policy
    estimates, errors = sampled(problem, policy)
    exactly = SMALL.advantages(policy, SMALL.reward)
    step = problem.constants.theorem_1_steps[0] / (1 - SMALL.discount)
    after = special.softmax(step * estimates, axis=-1)
    visits = SMALL.occupancy(best)
    gap = (visits[:, None] * best * exactly).sum()
    assert gap == pytest.approx(SMALL.evaluate(best)[0] - SMALL.evaluate(policy)[0])
    answered = (visits[:, None] * best * estimates).sum((1, 2))
    right, wrong = (-(visits[:, None] * it * errors).sum((1, 2)) for it in (best, after))
    np.testing.assert_allclose(answered + right, gap)
    _, low, high = mean_interval(right, 0.999)
    assert low < 0 < high
    assert mean_interval(wrong, 0.999)[2] < -0.002


# Both ------------------------------------------------------------------------------------------


def bandit(threshold):
    """One state; the first action is rewarded, the second is safe. Values lie in [0, 2]."""
    return CMDP(np.ones((1, 2, 1)), [[1.0, 0.0]], [[0.0, 1.0]], [1.0], 0.5, threshold)


def test_dropped_4_eps_c_is_needed_where_only_the_dual_step_errs():
    """Exact advantages, and a dual estimate that is 0.4 too high: the violation stays at 0.4.

    Line 2107 has 2 sigma eps_c, the lines from 2127 on do not (1723 and 1748 for Theorem 2).
    """
    cmdp, iterations, error = bandit(1.0), 10000, 0.4
    constants = constants_of(cmdp, replace(KNOWN, iterations=iterations, horizon=200))
    primal, dual = constants.theorem_1_steps
    logit, multiplier, total = 0.0, 0.0, 0.0
    for _ in range(iterations):
        utility = (1 - special.expit(logit)) / (1 - cmdp.discount)
        total += cmdp.threshold - utility
        logit += primal / (1 - cmdp.discount) * (1 - multiplier)  # difference of the advantages
        multiplier -= dual * (utility - cmdp.threshold + error)
        multiplier = min(max(multiplier, 0.0), constants.multiplier_bound)
    violation, bound = total / iterations, printed.theorem_1_violation(constants)
    assert violation == pytest.approx(error, abs=0.05)
    assert bound < violation / 2
    assert bound + 4 * error > violation


@pytest.mark.parametrize("evaluators", [2, 16, 256, 10**6, None])
def test_a_larger_term_stays_where_4_eps_c_is_dropped(evaluators):
    """eps_A >= eps_c, so the printed bounds are not refuted by what their derivation drops."""
    for cmdp in (SMALL, random_cmdp(instance=1), bandit(1.0)):
        c = constants_of(cmdp, Setting(evaluators=evaluators, iterations=1000, horizon=60))
        stays = 2 / c.multiplier_bound * 2 * printed.one_step(c)
        assert printed.theorem_1_violation(c) >= stays >= 4 * c.excess_bias


def test_average_of_positive_parts_is_not_bounded():
    """The last displays (1792, 2155) put [.]_+ inside the average; iterates swing for ever."""
    cmdp, T = bandit(1.0), 10000
    trace = run(cmdp, "npg_pd", seeds=[0], iterations=T, checkpoints=range(T))
    constants = constants_of(cmdp, replace(KNOWN, iterations=T, horizon=200))
    bound = printed.theorem_1_violation(constants, complete=True)
    shortfall = trace["constraint_violation"]
    assert max(shortfall.mean(), 0) < bound
    assert shortfall.clip(lower=0).mean() > 2 * bound


def test_truncation_is_smaller_than_claimed_by_the_discount_factor():
    """Trajectories have H + 1 steps, the proofs sum the tail from t = H (723, 761, 805)."""
    free = random_cmdp(states=3, actions=2, discount=0.8, scale="unit", threshold=0.0)
    cmdp = replace(free, reward=np.ones((3, 2)))
    for horizon in (0, 5, 30):
        values, _ = exact.finite_horizon_values(cmdp, uniform(3, 2), cmdp.reward, horizon)
        truncated = cmdp.value_bound - values
        np.testing.assert_allclose(truncated, 0.8 ** (horizon + 1) / (1 - 0.8), rtol=1e-9)


def test_truncation_of_advantages_cancels_once_the_chain_has_mixed():
    """Lemma:bias advantage (1817) allows 2 eps_V = 4e-4; the paper's chains leave 1e-15."""
    row = check(random_cmdp(instance=1), replace(KNOWN, horizon=80), range(2), [14])
    assert row["bound"].item() > 4e-4
    assert row["measured"].item() < 1e-14


@pytest.mark.parametrize(("instance", "evaluators"), [(42, 16), (42, 64), (42, 256), (1, 64)])
def test_both_theorems_say_nothing_at_the_experiment_s_size(instance, evaluators):
    """The gap is at most 1, and the violation at most 0.55."""
    cmdp = random_cmdp(instance=instance)
    setting = Setting(evaluators=evaluators, iterations=10**12)
    at = constants_of(cmdp, setting)
    assert min(printed.theorem_1_violation(at), printed.theorem_2_violation(at)) > 40
    assert min(printed.theorem_1_gap(at), printed.theorem_2_gap(at)) > 1000
    # What the lemmas on votes lose.
    assert 14 < at.feedback / make_estimates(cmdp, setting).bias < 21


# Where the paper is right ----------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["normalized", "unit"])
def test_lemmas_on_votes_hold_and_are_loose(scale):
    """Lines 959 and 990; even L/(2 sqrt(M)) and L^2/(4M) hold."""
    cmdp = random_cmdp(scale=scale, threshold=0.55 if scale == "normalized" else 5.5)
    largest = cmdp.return_bound(80)
    differences = np.linspace(-largest, largest, 401)
    for evaluators in [*range(1, 41), 64, 256]:
        c = constants_of(cmdp, Setting(evaluators=evaluators, iterations=10))
        error = exact.feedback_error(differences, evaluators, "logistic", largest)
        assert error.absolute.max() <= min(c.feedback, c.lipschitz / (2 * math.sqrt(evaluators)))
        assert error.square.max() <= min(c.feedback_square, c.lipschitz**2 / (4 * evaluators))


@pytest.mark.parametrize("instance", [1, 3, 5])
def test_multiplier_is_in_the_range_of_the_algorithms(instance):
    """Lemma:strong_duality (271), and sigma = 2/((1-gamma) xi) >= 2 lambda* (1752, 2136)."""
    free = random_cmdp(instance=instance, scale="unit", threshold=0.0)
    safest = maximize(free, free.utility)
    cmdp = replace(free, threshold=float(free.evaluate(safest)[1]) - 0.3)
    optimum = solve(cmdp)
    assert optimum.slack == pytest.approx(0.3)
    limit = (optimum.reward_value - cmdp.evaluate(safest)[0]) / optimum.slack
    assert 0 < optimum.multiplier <= limit * (1 + 1e-9)
    assert 2 * optimum.multiplier <= 2 / ((1 - cmdp.discount) * optimum.slack)
    multiplier = solve(cmdp, "policy_iteration").multiplier
    v_r, v_g = cmdp.evaluate(maximize(cmdp, cmdp.reward + multiplier * cmdp.utility))
    assert v_r + multiplier * (v_g - cmdp.threshold) == pytest.approx(optimum.reward_value)


def test_performance_difference_is_an_identity():
    """Lemma E.1 (1805), from every initial state."""
    first, second = np.random.default_rng(0).dirichlet(np.ones(2), size=(2, 4))
    advantage = (first * SMALL.advantages(second, SMALL.reward)).sum(-1)
    left = SMALL.state_values(first, SMALL.reward) - SMALL.state_values(second, SMALL.reward)
    np.testing.assert_allclose(left, exact.resolvent(SMALL, first) @ advantage, rtol=1e-9)


def test_natural_gradient_step_is_the_advantage_step():
    """Lemma:derive advantage (316): the Fisher matrix's pseudo-inverse gives A/(1 - gamma)."""
    theta = np.random.default_rng(3).standard_normal((4, 2))
    policy = special.softmax(theta, axis=-1)
    chances = (1 - SMALL.discount) * SMALL.occupancy(policy)[:, None] * policy
    # Derivatives of log pi(a|s) by all logits: 1 at (s, a), minus pi(.|s) in row s.
    scores = np.eye(8).reshape(4, 2, 4, 2) - np.eye(4)[:, None, :, None] * policy
    scores = scores.reshape(4, 2, 8)
    fisher = np.einsum("sa,sai,saj->ij", chances, scores, scores)
    advantages = SMALL.advantages(policy, SMALL.reward)
    gradient = chances * advantages / (1 - SMALL.discount)
    direction = (np.linalg.pinv(fisher) @ gradient.ravel()).reshape(4, 2)
    after, expected = (
        special.softmax(theta + 0.7 * it, axis=-1)
        for it in (direction, advantages / (1 - SMALL.discount))
    )
    np.testing.assert_allclose(after, expected, rtol=1e-9)


def test_corollary_follows_from_theorem_1():
    """Line 491: with its M and H, sqrt(T) times Theorem 1's bound stays bounded as T grows."""
    constants, scaled = constants_of(SMALL, KNOWN), []
    for T in (10**4, 10**8, 10**16, 10**32):
        M = math.ceil(T * math.log(T))
        H = math.ceil(math.log(T) / (2 * math.log(1 / SMALL.discount)))
        at = replace(constants, iterations=T, evaluators=M, horizon=H)
        scaled.append(math.sqrt(T) * printed.theorem_1_gap(at))
    assert max(scaled) == scaled[0]
    assert math.sqrt(T) * printed.theorem_1_gap(replace(at, evaluators=10**4)) > 10**8 * scaled[0]
