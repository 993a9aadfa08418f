"""Slow, plain versions of what the package computes, written from the paper's pseudo-code.

Nothing here calls the package's kernels. What is shared with them is the meaning of a random word,
without which numbers could not be compared bit by bit: the upper half of a step's word chooses the
action, its lower half the next state by the alias table; the word of a question seeds the generator
of its voters' binary digits. Words are used in the order of steps (time by time, trajectory by
trajectory), first states, questions.
"""

import itertools
import math

import numpy as np
from scipy import stats

from pgpd_hf import CMDP
from pgpd_hf.core.sampling import alias_table

DISTRIBUTIONS = {"logistic": stats.logistic, "probit": stats.norm, "cauchy": stats.cauchy}
ONE = 2**32


# CMDPs and policies.


def random_process(seed, states=3, actions=2, discount=0.5, threshold=0.5, scale=1.0):
    """Draw a CMDP whose parts are all unequal: rows far from uniform, no uniform start."""
    random = np.random.default_rng([seed, states, actions])
    return CMDP(
        transition=random.dirichlet(np.full(states, 0.7), (states, actions)),
        reward=scale * random.random((states, actions)),
        utility=scale * random.random((states, actions)),
        initial=random.dirichlet(np.full(states, 2.0)),
        discount=discount,
        threshold=threshold,
        scale=scale,
    )


def random_policies(seed, cmdp, *batch):
    random = np.random.default_rng([seed, 77])
    return random.dirichlet(np.ones(cmdp.actions), (*batch, cmdp.states))


def random_words(seed, *shape):
    return np.random.default_rng([seed, 99]).integers(0, 2**64, shape, dtype=np.uint64)


def deterministic_policies(cmdp):
    """All of them, (A^S, S, A)."""
    choices = np.indices((cmdp.actions,) * cmdp.states).reshape(cmdp.states, -1).T
    return np.eye(cmdp.actions)[choices]


# Exact values, by the definitions.


def induced(cmdp, policy):
    """Transition matrix P_pi, by loops."""
    matrix = np.zeros((cmdp.states, cmdp.states))
    for s in range(cmdp.states):
        for a in range(cmdp.actions):
            for z in range(cmdp.states):
                matrix[s, z] += policy[s, a] * cmdp.transition[s, a, z]
    return matrix


def state_values(cmdp, policy, signal):
    """Section 5: (I - gamma P_pi)^-1 r_pi, with the inverse as such."""
    resolvent = np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * induced(cmdp, policy))
    return resolvent @ (policy * signal).sum(1)


def truncated_moments(cmdp, policy, horizon):
    """Mean and second moments of the returns of steps 0..horizon, by backward recursion.

    Returns
    -------
    mean : (S, A, 2)
        Of reward and utility, from each first state and action.
    second : (S, A, 2, 2)
        Expected products of the two returns.
    """
    signals = np.stack([cmdp.reward, cmdp.utility], axis=-1)  # (S, A, 2)
    mean = np.zeros_like(signals)
    second = np.zeros((*signals.shape, 2))
    for _ in range(horizon + 1):
        next_mean = np.einsum("saz,zb,zbi->sai", cmdp.transition, policy, mean)
        next_second = np.einsum("saz,zb,zbij->saij", cmdp.transition, policy, second)
        cross = np.einsum("sai,saj->saij", signals, next_mean)
        mean = signals + cmdp.discount * next_mean
        second = (
            np.einsum("sai,saj->saij", signals, signals)
            + cmdp.discount * (cross + np.swapaxes(cross, -1, -2))
            + cmdp.discount**2 * next_second
        )
    return mean, second


# What one random word decides.


def draw(probability, word):
    """Draw from a distribution by its alias table, with the lower half of a word."""
    table = [int(entry) for entry in alias_table(probability)]
    column, rest = divmod((int(word) % ONE) * len(table), ONE)
    stay, alias = divmod(table[column], ONE)
    return column if rest < stay else alias


def choose(probability, word):
    """Choose an action with the upper half of a word: cumulative probabilities, in 2^-32."""
    chance = int(word) >> 32
    cumulative = np.cumsum(probability)[:-1]
    return sum(chance >= math.floor(c * ONE) for c in cumulative)


def trajectory(cmdp, policy, state, action, words, recency=None, peak_end=0.0):
    """Returns of one trajectory, as people remember it; `action` is the first one, or None."""
    seen = []
    for t, word in enumerate(words):
        if t > 0 or action is None:
            action = choose(policy[state], word)
        seen.append((cmdp.reward[state, action], cmdp.utility[state, action]))
        state = draw(cmdp.transition[state, action], word)
    return remembered(np.array(seen), cmdp.discount, recency, peak_end)


def remembered(seen, discount, recency=None, peak_end=0.0):
    """What people remember of the signals of all steps, (steps, 2): a weighted mean, times G(H)."""
    weights = (recency or discount) ** np.arange(len(seen))
    mean = weights @ seen / weights.sum()
    peak = np.array([seen[:, 0].max(), seen[:, 1].min()])
    total = sum(discount**t for t in range(len(seen)))
    return total * ((1 - peak_end) * mean + peak_end * (peak + seen[-1]) / 2)


def splitmix(word, index):
    """Number `index` (from 1) of SplitMix64 with this seed, in integers of any size."""
    z = (int(word) + index * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def votes(evaluators, chance, word):
    """Votes in favour, voter by voter: digit by digit until one differs from the chance's."""
    fresh = (splitmix(word, index) for index in itertools.count(1))
    undecided, favourable, spread = list(range(evaluators)), 0, True
    for place in range(1, 65):
        digit = math.floor(chance * 2**place) % 2
        if spread:  # more than 64 stand in line anew; the last 64 stay where they are
            undecided, spread = list(range(len(undecided))), len(undecided) > 64
        drawn = [next(fresh) for _ in range(-(-len(undecided) // 64))]
        bits = [word >> k & 1 for word in drawn for k in range(64)]
        favourable += sum(bits[voter] < digit for voter in undecided)
        undecided = [voter for voter in undecided if bits[voter] == digit]
    return favourable if chance < 1 else evaluators


def answer(
    link,
    bound,
    evaluators,
    difference,
    word,
    estimator="plug-in",
    true_link=None,
    random_answers=0,
    flipped_answers=0,
):
    """Lines 8-12, 15-17 and 19-20 of Algorithm 1: votes, clipped frequency, inverse link."""
    if evaluators is None:
        return difference
    sigma = DISTRIBUTIONS[link]
    meant = DISTRIBUTIONS[true_link or link].cdf(difference)
    said = flipped_answers * (1 - meant) + (1 - flipped_answers) * meant
    favourable = votes(evaluators, (1 - random_answers) * said + random_answers / 2, word)
    if estimator == "unbiased":
        return unbiased_answer(bound, evaluators, favourable)
    frequency = favourable / evaluators
    clipped = min(max(frequency, sigma.cdf(-bound)), sigma.cdf(bound))
    return sigma.ppf(clipped)


def answer_to(setting, bound, difference, word):
    """The answer of the people of a setting to whether a trajectory is harmless enough."""
    people = setting.estimator, setting.true_link
    people += setting.random_answers, setting.flipped_answers
    return answer(setting.link, bound, setting.evaluators, difference, word, *people)


def preference(setting, bound, differences, asked, word):
    """Their answer to which of two trajectories is better, by one of two signals."""
    difference, other = differences[asked], differences[1 - asked]
    if setting.evaluators is None:
        return difference
    if abs(difference) < setting.semiorder:
        difference = other
    votes_by = DISTRIBUTIONS[setting.true_link or setting.link].cdf
    tastes = [difference - setting.disagreement * other] * 4
    tastes += [difference + 4 * setting.disagreement * other]
    meant = np.mean([votes_by(taste) for taste in tastes])
    difference = votes_by.__self__.ppf(meant)  # with which all together would vote so
    return answer_to(setting, bound, difference, word)


def unbiased_answer(bound, evaluators, favourable):
    """Sum of 2 y^j / j, logistic, with mean products of j votes for y^j; as far as (M + 1)/2."""
    total, missing, j = 0.0, bound, 1
    while j <= max(1, (evaluators + 1) // 2) and missing > 1e-6 * bound:
        products = sum(
            (-1) ** i * math.comb(evaluators - favourable, i) * math.comb(favourable, j - i)
            for i in range(j + 1)
        )
        total += 2 / j * products / math.comb(evaluators, j)
        missing -= 2 / j * math.tanh(bound / 2) ** j
        j += 2
    return total


# Parameterizations.


def softmax(theta):
    return np.exp(theta) / np.exp(theta).sum(-1, keepdims=True)


def project(theta):
    """Project rows on the simplex: bisection for the shift that makes the row sum to one."""
    low = theta.min(-1) - 1.0
    high = theta.max(-1)
    for _ in range(100):
        middle = (low + high) / 2
        too_much = np.maximum(theta - middle[..., None], 0).sum(-1) > 1
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    return np.maximum(theta - high[..., None], 0)


# One iteration of each algorithm: estimates of both directions, and of V_g - b.


def estimate_npgpd_hf(cmdp, setting, theta, words, normals):
    """Lines 3-20 of Algorithm 1."""
    states, actions, rounds = cmdp.states, cmdp.actions, setting.rounds
    policy = softmax(theta)
    count = rounds * (states + states * actions + 1)
    steps = count * (setting.horizon + 1)
    bound = sum(cmdp.discount**t for t in range(setting.horizon + 1)) * cmdp.scale
    firsts, questions = iter(words[steps : steps + rounds]), iter(words[steps + rounds :])
    index = iter(range(count))

    def sample(state, action):
        drawn = words[next(index) : steps : count]
        return trajectory(cmdp, policy, state, action, drawn, setting.recency, setting.peak_end)

    def ask(difference):
        return answer_to(setting, bound, difference, next(questions))

    estimates = np.zeros((2, states, actions))
    excess = 0.0
    for _ in range(rounds):
        from_state = [sample(s, None) for s in range(states)]
        from_pair = [[sample(s, a) for a in range(actions)] for s in range(states)]
        _, from_rho = sample(draw(cmdp.initial, next(firsts)), None)
        for s in range(states):
            for a in range(actions):
                difference = from_pair[s][a] - from_state[s]
                for k in (0, 1):
                    answered = preference(setting, bound, difference, k, next(questions))
                    estimates[k, s, a] += answered / rounds
        excess += ask(from_rho - cmdp.threshold) / rounds
    assert next(questions, None) is None
    return estimates, excess


def estimate_zpgpd_hf(cmdp, setting, theta, words, normals):
    """Lines 2-15 of Algorithm 2."""
    rounds = setting.rounds
    direction = np.array(normals).reshape(theta.shape)
    dimension = direction.size
    if setting.directions == "tangent":
        direction -= direction.mean(1, keepdims=True)
        dimension -= cmdp.states
    direction /= np.linalg.norm(direction)
    perturbed = theta + setting.perturbation * direction
    if setting.parameterization == "softmax":
        followed = [softmax(theta), softmax(perturbed)]
    else:
        followed = [theta, project(perturbed)]
    steps = 2 * rounds * (setting.horizon + 1)
    bound = sum(cmdp.discount**t for t in range(setting.horizon + 1)) * cmdp.scale
    questions = iter(words[steps + rounds :])
    memory = setting.recency, setting.peak_end

    def ask(difference):
        return answer_to(setting, bound, difference, next(questions))

    slopes, excess = np.zeros(2), 0.0
    for n in range(rounds):
        first = draw(cmdp.initial, words[steps + n])
        base, other = (
            trajectory(
                cmdp, followed[k], first, None, words[2 * n + k : steps : 2 * rounds], *memory
            )
            for k in (0, 1)
        )
        for k in (0, 1):
            answered = preference(setting, bound, other - base, k, next(questions))
            slopes[k] += answered / rounds
        excess += ask(base[1] - cmdp.threshold) / rounds
    assert next(questions, None) is None
    estimates = dimension / setting.perturbation * slopes[:, None, None] * direction
    return estimates, excess


def estimate_npg_pd(cmdp, setting, theta, words, normals):
    """Lemma 3.1: both advantages, and V_g - b."""
    policy = softmax(theta)
    advantages = []
    for signal in (cmdp.reward, cmdp.utility):
        values = state_values(cmdp, policy, signal)
        advantages.append(signal + cmdp.discount * cmdp.transition @ values - values[:, None])
    value = cmdp.initial @ state_values(cmdp, policy, cmdp.utility)
    return np.array(advantages), value - cmdp.threshold


def estimate_pg_pd(cmdp, setting, theta, words, normals):
    """Policy gradient theorem: q(s) Q(s, a) for both signals, and V_g - b."""
    visits = cmdp.initial @ np.linalg.inv(
        np.eye(cmdp.states) - cmdp.discount * induced(cmdp, theta)
    )
    gradients = []
    for signal in (cmdp.reward, cmdp.utility):
        values = state_values(cmdp, theta, signal)
        gradients.append(visits[:, None] * (signal + cmdp.discount * cmdp.transition @ values))
    value = cmdp.initial @ state_values(cmdp, theta, cmdp.utility)
    return np.array(gradients), value - cmdp.threshold


ESTIMATES = {
    "npgpd_hf": estimate_npgpd_hf,
    "zpgpd_hf": estimate_zpgpd_hf,
    "npg_pd": estimate_npg_pd,
    "pg_pd": estimate_pg_pd,
}
NATURAL = ("npgpd_hf", "npg_pd")  # their primal steps are divided by 1 - gamma


def iterate(name, cmdp, setting, bound, theta, multiplier, words, normals, iteration=0):
    """Last three lines of both algorithms: one primal and one dual step, at the same time."""
    estimates, excess = ESTIMATES[name](cmdp, setting, theta, words, normals)
    step = setting.primal_step / ((1 - cmdp.discount) if name in NATURAL else 1)
    step /= {"none": 1, "linear": 1 + multiplier, "quadratic": 1 + multiplier**2}[setting.normalize]
    fallen = math.sqrt(1 + setting.step_decay * iteration)
    descent = excess + setting.dual_regularization * multiplier
    theta = theta + step / fallen * (estimates[0] + multiplier * estimates[1])
    if name in ("zpgpd_hf", "pg_pd") and setting.parameterization != "softmax":
        theta = project(theta)
    return theta, min(max(multiplier - setting.dual_step / fallen * descent, 0.0), bound)
