"""The findings of docs/audit.md. A test here fails if the paper's statement held after all.

Line numbers are those of the paper's LaTeX source.
"""

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

from pgpd_hf import CMDP, LINKS, random_cmdp, run, solve
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF
from pgpd_hf.core import optima, streams
from pgpd_hf.core.policies import uniform_policy
from pgpd_hf.runs import traces
from pgpd_hf.statistics import mean_interval
from replication.theory import bounds, convergence, exact, records
from replication.theory.constants import make_constants
from replication.theory.estimates import make_estimates
from replication.theory.problems import Problem
from replication.theory.setting import Setting
from replication.theory.table import check_all

AUDIT = Path(__file__).resolve().parents[2] / "docs" / "audit.md"


def test_every_test_that_the_audit_names_exists():
    sources = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", AUDIT.read_text()))
    assert len(named) > 20
    assert not {name for name in named if f"def {name}(" not in sources}


def test_commands_of_the_letter_to_the_authors_select_tests():
    letter = (AUDIT.parent / "for-the-authors.md").read_text()
    commands = re.findall(r"`pytest (\S+) -k (\w+)`", letter)
    assert len(commands) >= 10
    for file, name in commands:
        source = (AUDIT.parents[1] / file).read_text()
        assert re.search(rf"^def \w*{name}\w*\(", source, re.MULTILINE), (file, name)


def test_table_of_bounds_says_what_the_audit_found():
    """The column `audit` of bounds.csv is the most severe finding about a statement."""
    found = {}
    for line in AUDIT.read_text().splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) == 6 and cells[-1].rstrip(" |") in ("proof", "false"):
            for key in cells[1].split(", "):
                found.setdefault(key, set()).add(cells[-1].rstrip(" |"))
    assert len(found) > 5
    for key, statement in bounds.STATEMENTS.items():
        about = found.get(key, set()) | found.get(str(statement.item), set())
        severest = "false" if "false" in about else "proof" if about else "sound"
        assert statement.audit == severest, key


def test_every_row_of_the_audit_has_a_test_or_says_reading():
    """And a place in the PDF beside the line of the source."""
    tables = {"## Findings": 4, "## Where the paper is right": 2, "## Departures": 3}
    for title, place in tables.items():
        section = AUDIT.read_text().split(title)[1].split("\n## ")[0]
        rows = re.findall(r"^\| (\d.*) \|$", section, re.MULTILINE)
        assert rows, title
        for row in rows:
            cells = row.split(" | ")
            assert re.search(r"`test_\w+`|reading|the same", cells[place]), row
            assert re.search(r"\(.+\)$", cells[0]), row


def problem_of(cmdp, setting):
    optimum = solve(cmdp)
    return Problem(cmdp, optimum, setting, [0, 1], make_constants(cmdp, optimum, setting))


# Theorem 2 ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.5)


def one_zeroth_order_step(cmdp, rounds, perturbation, count=2000):
    """Both sides of the first line of F1 (1433), and its missing term, at the uniform policy."""
    setting = Setting(
        evaluators=None,
        iterations=100,
        rounds=rounds,
        horizon=60,
        directions="tangent",
        perturbation=perturbation,
    )
    algorithm = setting.run("zpgpd_hf", cmdp, solve(cmdp))
    theta = uniform_policy(cmdp.states, cmdp.actions)
    bits = streams.bit_generator(test="f1")
    normals = np.random.Generator(bits).standard_normal((count, theta.size))
    estimates = np.stack(
        [algorithm.estimate(theta, bits.random_raw(algorithm.words_per_iteration), row)[0][0]
         for row in normals]
    )  # fmt: skip
    step = algorithm.primal_step  # 1 / L_theta
    after = exact.projected(theta + step * estimates)
    moves = after - theta
    left = cmdp.evaluate(after)[0] - cmdp.evaluate(theta)[0]
    right = (estimates * moves).sum((1, 2)) - (moves**2).sum((1, 2)) / (2 * step)
    gradient = exact.gradient(cmdp, theta, cmdp.reward)
    missing = ((estimates - gradient) * moves).sum((1, 2))
    return left, right, missing


@pytest.mark.parametrize("rounds", [1, 10, 100])
def test_f1_fails_for_almost_every_estimate(small, rounds):
    left, right, missing = one_zeroth_order_step(small, rounds, perturbation=0.05)
    assert (left < right - 1e-12).mean() > 0.9
    assert (left >= right - missing - 1e-12).all()


def test_term_missing_in_f1_is_the_estimator_s_variance(small):
    """It falls as 1/N and as mu^2 grows, and nothing in the theorem's bound does."""
    size = one_zeroth_order_step(small, 1, 0.05)[2].mean()
    assert one_zeroth_order_step(small, 10, 0.05)[2].mean() == pytest.approx(size / 10, rel=0.2)
    assert one_zeroth_order_step(small, 1, 0.1)[2].mean() == pytest.approx(size / 4, rel=0.2)


def test_term_missing_in_f1_has_a_floor_the_noise_of_directions(small):
    """No number of rounds makes it smaller than eta_1 (d' - 1) |grad F|^2, d' = |S|(|A| - 1).

    The estimate d' <grad F, v> v of exact returns has this variance. Three intervals of 99.9 %: an
    error in 1 of 300 drawings, and the seed is fixed.
    """
    theta = uniform_policy(4, 2)
    gradient = exact.gradient(small, theta, small.reward)
    gradient -= gradient.mean(-1, keepdims=True)
    step, _ = ZPGPDHF.theorem_steps(small, solve(small), 100)
    floor = step * (4 - 1) * (gradient**2).sum()
    sizes = [one_zeroth_order_step(small, 1, 0.3)[2].mean()]
    for rounds in (10, 100, 1000):
        size, low, high = mean_interval(one_zeroth_order_step(small, rounds, 0.3)[2], 0.999)
        assert low < floor + (sizes[0] - floor) / rounds < high
        sizes.append(size)
    assert low > 5 * sizes[0] / rounds


def test_theorem_2_cannot_hold_without_n():
    """Everyone asked, long horizon, the theorem's steps and radius: random policies for ever."""
    cmdp = random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.0)
    optimum = solve(cmdp)
    choices = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    deterministic = optimum.reward_value - cmdp.evaluate(np.eye(2)[choices])[0].mean()

    def average_gap(algorithm, iterations, **options):
        trace = run(
            cmdp,
            algorithm,
            evaluators=None,
            iterations=iterations,
            checkpoints=[iterations - 1],
            **options,
        )
        return trace["mean_optimality_gap"]

    for iterations, rounds, directions in (
        (4000, 1, "sphere"),
        (40000, 1, "sphere"),
        (4000, 20, "sphere"),
        (4000, 1, "tangent"),
    ):
        options = {"rounds": rounds, "directions": directions, "horizon": 60, "seeds": range(4)}
        gap = average_gap("zpgpd_hf", iterations, **options)
        _, low, high = mean_interval(gap)
        assert abs(gap.mean() - deterministic) < 0.02 * deterministic
        assert high - low < 0.05 * deterministic
    assert average_gap("pg_pd", 4000, seeds=[0]).item() < 0.5 * deterministic

    constants = make_constants(cmdp, optimum, Setting(evaluators=None, iterations=1, horizon=60))
    constants = replace(constants, iterations=10**40)
    assert bounds.theorem_2_gap(constants) < deterministic / 100


def test_tangent_directions_leave_the_simplex_at_vertices():
    """Iterates are vertices, and there all rows point inwards in 1 of 2^|S| drawings only."""
    cmdp = random_cmdp(states=4, actions=2, instance=1, discount=0.5, threshold=0.0)
    setting = Setting(
        evaluators=None, iterations=4000, horizon=60, directions="tangent", multiplier_bound=0.0
    )
    optimum = solve(cmdp)
    algorithm = setting.run("zpgpd_hf", cmdp, optimum)
    found = records.record(algorithm, optimum, 0)
    vertices = found.thetas[1:-1]
    assert (vertices.max(-1) == 1).all()
    directions = found.normals[1:].reshape(-1, 4, 2)
    directions = directions - directions.mean(-1, keepdims=True)
    moved = vertices + algorithm.perturbation.radius * directions
    leave = (moved < 0).any((1, 2)).sum()
    # True of 99.9 % of all seeds.
    assert stats.binomtest(int(leave), len(moved), 1 - 2.0**-4).pvalue > 1e-3


def test_finitely_many_people_contradict_theorem_2_s_bound_if_they_are_very_many():
    """Its terms with M are below the gap of random policies for M = 10^14; they are needed, too.

    The runs have the radius of so many people and infinitely many people: answers of so many err by
    less than 10^-5.
    """
    cmdp = CMDP(np.full((2, 2, 2), 0.5), [[1, 0.6], [0.4, 0]], np.ones((2, 2)), [0.5] * 2, 0.1, 0.0)
    optimum = solve(cmdp)

    def limit(evaluators):  # T and H tend to infinity
        setting = Setting(evaluators=evaluators, iterations=1, horizon=2000)
        return replace(make_constants(cmdp, optimum, setting), iterations=10**60)

    many = limit(10**14)
    assert many.multiplier_bound == pytest.approx(2)
    assert many.feedback < 1e-5
    for iterations in (1000, 10000):
        trace = run(
            cmdp,
            "zpgpd_hf",
            evaluators=None,
            iterations=iterations,
            horizon=60,
            perturbation=many.perturbation,
            seeds=range(8),
            checkpoints=[iterations - 1],
        )
        # Both intervals cover for 99.8 % of all seeds.
        _, low, high = mean_interval(trace["mean_optimality_gap"], 0.999)
        assert bounds.theorem_2_gap(many) < low
        assert high < bounds.theorem_2_gap(limit(10**13))


@pytest.mark.parametrize("evaluators", [2, 10**7])
@pytest.mark.parametrize(("states", "discount"), [(1, 0.0), (1, 0.5), (4, 0.1), (10, 0.9)])
def test_theorem_2_s_bound_is_vacuous_for_up_to_ten_million_people(states, discount, evaluators):
    """It is at least sqrt(288 b) B, with b >= 2 sqrt(2 log M/M), and no gap exceeds B.

    sigma >= 2, D >= 8/(1 - gamma)^2, d >= 2, and eps_rg >= d mu with mu^2 >= b, the lemmas' bias of
    people. L >= 2, since the inverse link maps an interval of length one onto [-G, G] with G >= 1.
    """
    floor = math.sqrt(288 * 2 * math.sqrt(2 * math.log(evaluators) / evaluators))
    assert floor > 1
    free = random_cmdp(states=states, actions=2, discount=discount, scale="unit", threshold=0.0)
    setting = Setting(evaluators=evaluators, iterations=1, horizon=2000)
    constants = replace(make_constants(free, solve(free), setting), iterations=10**60)
    assert bounds.theorem_2_gap(constants) >= floor * free.value_bound


def test_theorem_2_s_power_of_the_dimension_takes_actions_for_states():
    """sqrt(D) L' d grows as |S|^(3/2) |A|^2 |d*/rho|; the printed d^(3/2) would need L' mu^2 = 2 b.

    b is people's bias, for which the printed radius is mu^2 = b.
    """
    cmdp = random_cmdp(instance=1)
    setting = Setting(evaluators=10**6, iterations=1, horizon=2000)
    theorem = replace(make_constants(cmdp, solve(cmdp), setting), iterations=10**60)

    def growth(balanced=False, **factors):
        found = []
        for change in ({}, {name: x * getattr(theorem, name) for name, x in factors.items()}):
            c = replace(theorem, **change)
            if balanced:
                c = replace(c, perturbation=math.sqrt(2 * c.feedback / c.smoothness))
            found.append(bounds.zeroth_order_lagrangian(c))
        return found[1] / found[0]

    assert growth(states=4) == pytest.approx(4**1.5, rel=0.01)
    assert growth(actions=4) == pytest.approx(4**2, rel=0.01)
    assert growth(mismatch=4) == pytest.approx(4)
    assert growth(balanced=True, states=4) == pytest.approx(4**1.5)
    assert growth(balanced=True, actions=4) == pytest.approx(4**1.5)


@pytest.mark.parametrize(("scale", "threshold", "radius"), [("unit", 5.5, 68), (None, 0.55, 1.03)])
def test_theorem_2_s_radius_is_larger_than_the_simplex(scale, threshold, radius):
    scale = scale or "normalized"
    cmdp = random_cmdp(scale=scale, threshold=threshold)
    setting = Setting(evaluators=256, iterations=1000)
    constants = make_constants(cmdp, solve(cmdp), setting)
    assert constants.perturbation == pytest.approx(radius, rel=0.01)
    # A tangent perturbation of the uniform policy has to stay below this.
    assert constants.perturbation > 1 / (4 * math.sqrt(3 / 4))


def test_directions_of_the_sphere_leave_the_simplex():
    theta = uniform_policy(10, 4)
    normals = np.random.default_rng(0).standard_normal((1000, 10, 4))
    directions = normals / np.sqrt((normals**2).sum((1, 2), keepdims=True))
    off = np.abs((theta + 1e-3 * directions).sum(-1) - 1).max(-1)
    assert (off > 1e-6).all()


def relative_bias(cmdp, theta, perturbation):
    """Bias of Algorithm 2's estimate with projected policies, returns known exactly."""
    normals = np.random.default_rng(1).standard_normal((30000, cmdp.states, cmdp.actions))
    directions = normals / np.sqrt((normals**2).sum((1, 2), keepdims=True))
    moved = cmdp.evaluate(exact.projected(theta + perturbation * directions))[0]
    slopes = theta.size / perturbation * (moved - cmdp.evaluate(theta)[0])
    mean = (slopes[:, None, None] * directions).mean(0)
    gradient = exact.gradient(cmdp, theta, cmdp.reward)
    # Only the part that keeps rows' sums moves a policy.
    mean, gradient = (x - x.mean(-1, keepdims=True) for x in (mean, gradient))
    return np.linalg.norm(mean - gradient) / np.linalg.norm(gradient)


@pytest.mark.parametrize("perturbation", [1e-4, 1e-2, 1.0])
def test_projection_biases_the_gradient_at_a_vertex(perturbation):
    cmdp = random_cmdp(instance=1)
    vertex = np.eye(4)[np.random.default_rng(2).integers(4, size=10)]
    assert 0.55 < relative_bias(cmdp, vertex, perturbation) < 0.75
    if perturbation < 0.1:
        assert relative_bias(cmdp, uniform_policy(10, 4), perturbation) < 0.06


def test_tangent_directions_are_unbiased_with_their_own_dimension():
    """The factor d = |S||A| would be |A|/(|A|-1) = 4/3 too large."""
    cmdp = random_cmdp(instance=1)
    theta, radius = uniform_policy(10, 4), 0.01
    normals = np.random.default_rng(1).standard_normal((30000, 10, 4))
    normals -= normals.mean(-1, keepdims=True)
    directions = normals / np.sqrt((normals**2).sum((1, 2), keepdims=True))
    moved = cmdp.evaluate(theta + radius * directions)[0] - cmdp.evaluate(theta)[0]
    mean = (moved[:, None, None] / radius * directions).mean(0)
    gradient = exact.gradient(cmdp, theta, cmdp.reward)
    gradient -= gradient.mean(-1, keepdims=True)
    factor = (gradient**2).sum() / (mean * gradient).sum()
    assert factor == pytest.approx(30, rel=0.03)


def test_theorem_2_s_gap_falls_with_the_fourth_root_of_people(small):
    """Line 563 says (log M/M)^(1/2), the violation's line 571 says (log M/M)^(1/4)."""
    optimum = solve(small)

    def votes_part(evaluators):
        setting = Setting(evaluators=evaluators, iterations=10, horizon=2000)
        constants = replace(make_constants(small, optimum, setting), iterations=10**60)
        return bounds.theorem_2_gap(constants)

    few, many = 10**8, 10**12
    rate = math.log(math.log(many) / many) - math.log(math.log(few) / few)
    slope = math.log(votes_part(many) / votes_part(few)) / rate
    assert slope == pytest.approx(1 / 4, abs=0.01)


def test_line_1658_takes_a_curvature_of_at_least_two():
    """For a small discount factor 3 mu L' d/2 is below the bias that it is to bound."""
    setting = Setting(evaluators=64, iterations=100, horizon=20)
    fits = {}
    for discount in (0.1, 0.9):
        cmdp = random_cmdp(states=3, actions=2, discount=discount, scale="unit", threshold=0.3)
        c = make_constants(cmdp, solve(cmdp), setting)
        replaced = 3 * c.perturbation * c.smoothness * c.dimension / 2
        fits[discount] = replaced >= c.gradient_bias, c.smoothness >= 2
    assert fits == {0.1: (False, False), 0.9: (True, True)}


@pytest.mark.parametrize("instance", [1, 42])
def test_theorem_2_s_steps_move_nothing(instance):
    """Step sizes 1e-6 and 1e7/sqrt(T): even the exact gradient gets nowhere in 2000 iterations."""
    cmdp = random_cmdp(instance=instance)
    optimum = solve(cmdp)
    primal, dual = ZPGPDHF.theorem_steps(cmdp, optimum, 2000)
    assert primal < 2e-6
    assert dual * math.sqrt(2000) > 1e6
    trace = run(
        cmdp,
        "pg_pd",
        evaluators=None,
        iterations=2000,
        multiplier_bound=0.0,
        seeds=[0],
        checkpoints=[0, 2000],
    )
    values = trace["reward_value"]
    assert values[1] - values[0] < 0.01 * (optimum.reward_value - values[0])


# Theorem 1 ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def indifferent():
    """Actions do not matter, returns are noisy: every advantage is zero, no estimate is."""
    random = np.random.default_rng(0)
    transition = np.repeat(random.dirichlet(np.ones(3), size=3)[:, None], 2, axis=1)
    reward, utility = (np.repeat(random.random(3)[:, None], 2, axis=1) for _ in range(2))
    return CMDP(transition, reward, utility, np.full(3, 1 / 3), 0.5, 0.1)


KNOWN = Setting(evaluators=None, iterations=100, rounds=1, horizon=60)


def test_lemma_1878_fails_on_average(indifferent):
    """Nothing is gained, but E log Z > 0 by Jensen's inequality; the claimed slack is 1e-17."""
    problem = problem_of(indifferent, KNOWN)
    shortfall = convergence.one_step_shortfall(problem, uniform_policy(3, 2), 0.0, 1000)
    _, low, _ = mean_interval(shortfall)
    assert low > 0.01
    assert bounds.one_step(problem.constants) < 1e-12
    row = check_all(indifferent, KNOWN, seeds=range(2), items=[15])
    assert not row["holds"].item()


def test_lemma_1878_fails_on_average_for_a_million_people():
    """At the first iterate: each of 64 actions is the same ticket, which wins one time in twenty.

    Even the proof's own slack, 1 + gamma times the lemma's, is too small.
    """
    transition = np.repeat(np.array([[0, 0.05, 0.95], [0, 1, 0], [0, 0, 1]])[:, None], 64, axis=1)
    reward = np.repeat([[0.0], [1.0], [0.0]], 64, axis=1)
    cmdp = CMDP(transition, reward, np.ones((3, 64)), [0.98, 0.01, 0.01], 0.5, 0.0)
    problem = problem_of(cmdp, replace(KNOWN, evaluators=10**6))
    shortfall = convergence.one_step_shortfall(problem, uniform_policy(3, 64), 0.0, 100)
    assert mean_interval(shortfall)[1] > 1.5 * bounds.one_step(problem.constants) > 0.4


def test_lemma_1878_fails_on_many_paths_even_where_actions_matter(small):
    problem = problem_of(small, KNOWN)
    multiplier = problem.optimum.multiplier
    shortfall = convergence.one_step_shortfall(problem, uniform_policy(4, 2), multiplier, 1000)
    assert (shortfall > bounds.one_step(problem.constants)).mean() > 0.2


def test_conditional_mean_is_not_the_mean_under_the_next_policy(small):
    """Steps (d) and (f), lines 1919 and 1930: the next policy is made from the same estimate."""
    problem = problem_of(small, KNOWN)
    algorithm = KNOWN.run("npgpd_hf", small, problem.optimum)
    uniform = uniform_policy(4, 2)
    estimates = convergence.sample_advantages(algorithm, uniform, 4000)[:, 0]
    errors = estimates - small.advantages(uniform, small.reward)
    after = special.softmax(algorithm.primal_step / (1 - small.discount) * estimates, axis=-1)
    width = 5 * errors.std(0) / math.sqrt(len(errors))
    assert (np.abs(errors.mean(0)) < width).all()  # unbiased, as Lemma:bias advantage says
    _, low, _ = mean_interval((after * errors).sum(-1).mean(-1))
    assert low > 0.002
    assert problem.constants.advantage_bias < 1e-15


def test_step_h_needs_a_logarithm_that_may_be_negative(small):
    """Line 1937 replaces d^(t+1) by (1 - gamma) mu, which takes log Z + c >= 0 on every path."""
    problem = problem_of(small, KNOWN)
    algorithm = KNOWN.run("npgpd_hf", small, problem.optimum)
    uniform = uniform_policy(4, 2)
    step = algorithm.primal_step / (1 - small.discount)
    estimates = step * convergence.sample_advantages(algorithm, uniform, 1000)[:, 0]
    shift = algorithm.primal_step * bounds.one_step(problem.constants)
    logarithm = special.logsumexp(estimates, axis=-1, b=uniform)
    assert (logarithm + shift < 0).mean() > 0.1
    centred = estimates - estimates.mean(-1, keepdims=True)  # the policy is uniform
    assert (special.logsumexp(centred, axis=-1, b=uniform) >= 0).all()


def test_lost_factor_of_the_average_performance(small):
    """Lines 2006-2011: the lemma's slack is divided by 1 - gamma, and the result is not.

    The proof of Lemma:nonmonotone ends with (1 + gamma)/(1 - gamma) times (1 + sigma) eps_A, not
    with the 1/(1 - gamma) that it states; inserted, the sum is 2/(1 - gamma)^2.
    """
    constants = problem_of(small, replace(KNOWN, evaluators=64)).constants
    rest = bounds.natural_lagrangian(replace(constants, evaluators=None, horizon=2000), 1.0, 0.1)
    printed, corrected = (
        bounds.natural_lagrangian(constants, 1.0, 0.1, corrected=x) - rest for x in (False, True)
    )
    discount = constants.discount
    unit = (1 + constants.multiplier_bound) * constants.advantage_bias
    assert printed == pytest.approx(2 * unit / (1 - discount))
    from_performance = unit / (1 - discount)
    proven_slack = -unit * (1 - 1 / (1 - discount) - 1 / (1 - discount))
    assert proven_slack == pytest.approx((1 + discount) * bounds.one_step(constants))
    assert corrected == pytest.approx(from_performance + proven_slack / (1 - discount))


# Both ------------------------------------------------------------------------------------------


def bandit(threshold):
    """One state; the first action is rewarded, the second is safe. Values lie in [0, 2]."""
    return CMDP(np.ones((1, 2, 1)), [[1.0, 0.0]], [[0.0, 1.0]], [1.0], 0.5, threshold)


def test_dropped_4_eps_c_is_needed_where_only_the_dual_step_errs():
    """Exact advantages, and a dual estimate that is 0.4 too high: the violation stays at 0.4.

    Line 2107 has 2 sigma eps_c, the lines from 2127 on do not (1723 and 1748 for Theorem 2). The
    theorem's own eps_A is not zero then: the next test.
    """
    cmdp, iterations, error = bandit(1.0), 10000, 0.4
    optimum = solve(cmdp)
    setting = Setting(evaluators=None, iterations=iterations, horizon=200)
    constants = make_constants(cmdp, optimum, setting)
    primal, dual = theorem_1_steps(cmdp.actions, cmdp.discount, iterations)
    logit, multiplier, total = 0.0, 0.0, 0.0
    for _ in range(iterations):
        utility = (1 - special.expit(logit)) / (1 - cmdp.discount)
        total += cmdp.threshold - utility
        logit += primal / (1 - cmdp.discount) * (1 - multiplier)  # difference of the advantages
        multiplier -= dual * (utility - cmdp.threshold + error)
        multiplier = min(max(multiplier, 0.0), constants.multiplier_bound)
    violation = total / iterations
    printed = bounds.theorem_1_violation(constants)
    assert violation == pytest.approx(error, abs=0.05)
    assert printed < violation / 2
    assert printed + 4 * error > violation


@pytest.mark.parametrize("evaluators", [2, 16, 256, 10**6, None])
def test_a_larger_term_stays_where_4_eps_c_is_dropped(small, evaluators):
    """eps_A >= eps_c, so the printed bounds are not refuted by what their derivation drops."""
    for cmdp in (small, random_cmdp(instance=1), bandit(1.0)):
        setting = Setting(evaluators=evaluators, iterations=1000, horizon=60)
        c = make_constants(cmdp, solve(cmdp), setting)
        dropped = bounds.theorem_1_violation(c, complete=True) - bounds.theorem_1_violation(c)
        stays = 2 / c.multiplier_bound * 2 * bounds.one_step(c)
        assert dropped == pytest.approx(4 * c.excess_bias, rel=1e-6)
        assert stays >= 4 * c.excess_bias
        assert bounds.theorem_1_violation(c) >= stays


def test_average_of_positive_parts_is_not_bounded():
    """The last displays (1792, 2155) put [.]_+ inside the average; iterates swing for ever."""
    cmdp = bandit(1.0)
    setting = Setting(evaluators=None, iterations=10000, horizon=200)
    optimum = solve(cmdp)
    algorithm = setting.run("npg_pd", cmdp, optimum)
    policies = np.concatenate([chunk[0] for chunk in traces.iterates(algorithm, 0)])[:-1]
    shortfall = cmdp.threshold - cmdp.evaluate(policies)[1]
    bound = bounds.theorem_1_violation(make_constants(cmdp, optimum, setting), complete=True)
    assert max(shortfall.mean(), 0) < bound
    assert np.maximum(shortfall, 0).mean() > 2 * bound


def test_truncation_is_smaller_than_claimed_by_the_discount_factor():
    """Trajectories have H + 1 steps, the proofs sum the tail from t = H."""
    free = random_cmdp(states=3, actions=2, discount=0.8, scale="unit", threshold=0.0)
    cmdp = replace(free, reward=np.ones((3, 2)))
    for horizon in (0, 5, 30):
        values, _ = exact.finite_horizon_values(cmdp, uniform_policy(3, 2), cmdp.reward, horizon)
        truncated = cmdp.value_bound - values
        np.testing.assert_allclose(truncated, 0.8 ** (horizon + 1) / (1 - 0.8), rtol=1e-9)


def test_truncation_of_advantages_cancels_once_the_chain_has_mixed():
    """Lemma:bias advantage allows 2 eps_V = 4e-4; the paper's chains leave 1e-15."""
    setting = Setting(evaluators=None, iterations=10, horizon=80)
    row = check_all(random_cmdp(instance=1), setting, seeds=range(2), items=[14])
    assert row["bound"].item() > 4e-4
    assert row["measured"].item() < 1e-14


def test_lipschitz_constant_on_the_interval_of_the_assumption():
    """Assumption 1 speaks of G(1/(1-gamma)), the algorithms clip at G(H): a factor of 23."""
    unit, normalized = (random_cmdp(scale=x, threshold=0.5) for x in ("unit", "normalized"))
    logistic = LINKS["logistic"]
    assumed = logistic.inverse_lipschitz(unit.return_bound(10))
    used = logistic.inverse_lipschitz(unit.return_bound(80))
    assert assumed == pytest.approx(957.6, rel=1e-3)
    assert used == pytest.approx(21985, rel=1e-3)
    assert logistic.inverse_lipschitz(normalized.value_bound) == pytest.approx(5.086, rel=1e-3)


# The explicit bounds of T = 10^6, whose terms with M do not depend on T, by instance and M.
VACUOUS = {
    (42, 16): (5147, 122, 8.2e8),
    (42, 64): (3145, 75, 7.7e8),
    (42, 256): (1815, 44, 7.3e8),
    (1, 16): (12649, 123, 1.7e9),
    (1, 64): (7729, 76, 1.6e9),
    (1, 256): (4462, 45, 1.5e9),
}


@pytest.mark.parametrize(("instance", "evaluators"), VACUOUS)
def test_theorems_are_vacuous_at_the_experiment_s_size(instance, evaluators):
    """The gap is at most 1, and the violation at most 0.55."""
    cmdp = random_cmdp(instance=instance)
    optimum = solve(cmdp)
    setting = Setting(evaluators=evaluators, iterations=10**6)
    at = make_constants(cmdp, optimum, setting)
    limits = (
        bounds.theorem_1_gap(at),
        bounds.theorem_1_violation(at),
        bounds.theorem_2_gap(at),
    )
    assert limits == pytest.approx(VACUOUS[instance, evaluators], rel=0.035)
    assert min(limits) > 40
    sooner = replace(at, iterations=1000)
    assert bounds.theorem_1_gap(sooner) == pytest.approx(limits[0], rel=1e-4)
    later = replace(at, iterations=10**12)
    assert bounds.theorem_1_gap(later) > 1000
    assert bounds.theorem_1_violation(later) > 40
    assert bounds.theorem_2_gap(later) > 1000
    assert bounds.theorem_2_violation(later) > 40
    # What the lemmas on people lose.
    assert 14 < at.feedback / make_estimates(cmdp, setting).bias < 21


# Departures -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_run_has_as_many_iterations_as_it_says(small, name):
    """The loops say t = 0:T and t = 1:T, the theorems average over t = 0..T-1."""
    options = {"evaluators": 4, "horizon": 3, "seeds": [0], "iterations": 7}
    trace = run(small, name, **options, checkpoints=range(8))
    answers = trace["answers"].to_numpy()
    np.testing.assert_array_equal(answers, answers[1] * np.arange(8))
    averages = trace["mean_optimality_gap"].to_numpy()
    assert averages[6] == pytest.approx(trace["optimality_gap"][:7].mean())


# Where the paper is right ----------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["normalized", "unit"])
def test_human_feedback_lemmas_hold_and_are_loose(scale):
    """Lines 959 and 990, for M >= 2; even L/(2 sqrt(M)) and L^2/(4M) hold."""
    cmdp = random_cmdp(scale=scale, threshold=0.55 if scale == "normalized" else 5.5)
    optimum = solve(cmdp)
    largest = cmdp.return_bound(80)
    differences = np.linspace(-largest, largest, 401)
    for evaluators in [*range(2, 41), 64, 256]:
        c = make_constants(cmdp, optimum, Setting(evaluators=evaluators, iterations=10))
        error = exact.feedback_error(differences, evaluators, LINKS["logistic"], largest)
        assert error.absolute.max() <= c.feedback
        assert error.square.max() <= c.feedback_square
        assert error.absolute.max() <= c.lipschitz / (2 * math.sqrt(evaluators))
        assert error.square.max() <= c.lipschitz**2 / (4 * evaluators)


@pytest.mark.parametrize("instance", [1, 3, 5])
def test_multiplier_is_in_the_range_of_the_algorithms(instance):
    """Lemma:strong_duality (271), and sigma = 2/((1-gamma) xi) >= 2 lambda* (1752, 2136)."""
    free = random_cmdp(instance=instance, scale="unit", threshold=0.0)
    safest = optima.maximize(free, free.utility)
    cmdp = replace(free, threshold=float(free.evaluate(safest)[1]) - 0.3)
    optimum = solve(cmdp)
    assert optimum.slack == pytest.approx(0.3)
    limit = (optimum.reward_value - cmdp.evaluate(safest)[0]) / optimum.slack
    assert 0 < optimum.multiplier <= limit * (1 + 1e-9)
    assert 2 * optimum.multiplier <= 2 / ((1 - cmdp.discount) * optimum.slack)
    dual = solve(cmdp, "policy_iteration")
    lagrangian = cmdp.reward + dual.multiplier * cmdp.utility
    inner = optima.maximize(cmdp, lagrangian)
    v_r, v_g = cmdp.evaluate(inner)
    relaxed = v_r + dual.multiplier * (v_g - cmdp.threshold)
    assert relaxed == pytest.approx(optimum.reward_value, rel=1e-8)


def test_natural_gradient_step_is_the_advantage_step(small):
    """Lemma:derive advantage (316): the Fisher matrix's pseudo-inverse gives A/(1 - gamma)."""
    random = np.random.default_rng(3)
    theta = random.standard_normal((4, 2))
    policy = special.softmax(theta, axis=-1)
    visits = exact.visitation(small, policy)
    fisher = np.zeros((8, 8))
    for s, a in np.ndindex(4, 2):
        score = np.zeros((4, 2))
        score[s] = -policy[s]
        score[s, a] += 1
        fisher += visits[s] * policy[s, a] * np.outer(score, score)
    advantages = small.advantages(policy, small.reward)
    gradient = visits[:, None] * policy * advantages / (1 - small.discount)
    direction = (np.linalg.pinv(fisher) @ gradient.ravel()).reshape(4, 2)
    after, expected = (
        special.softmax(theta + 0.7 * x, axis=-1)
        for x in (direction, advantages / (1 - small.discount))
    )
    np.testing.assert_allclose(after, expected, rtol=1e-9)
