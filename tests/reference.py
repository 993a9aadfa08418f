"""Slow, plain versions of what the package computes, written from the paper's pseudo-code.

Nothing here calls the package; a CMDP is only read. What is shared is the meaning of a random word:
the upper half of a step's word chooses the action, its lower half the next state by the alias
table; the word of a question seeds the generator of its evaluators' binary digits. An iteration
uses words for steps (time by time, trajectory by trajectory), for first states, and for questions.
"""

import hashlib
import itertools
import json
import math
from types import SimpleNamespace

import numpy as np
from scipy import special, stats

from pgpd_hf import CMDP

DISTRIBUTIONS = {"logistic": stats.logistic, "probit": stats.norm, "cauchy": stats.cauchy}
ONE = 2**32
LANES = 32
# Seeds are fixed, so a test that passes always passes. This is the chance that a correct program
# fails a comparison under seeds chosen blindly: with a thousand of them it is below 1e-6.
LEVEL = 1e-9


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


def deterministic_policies(cmdp):
    """All of them, (A^S, S, A)."""
    choices = np.indices((cmdp.actions,) * cmdp.states).reshape(cmdp.states, -1).T
    return np.eye(cmdp.actions)[choices]


def induced(cmdp, policy):
    """Transition matrix P_pi, by loops."""
    matrix = np.zeros((cmdp.states, cmdp.states))
    for s, a, z in np.ndindex(cmdp.transition.shape):
        matrix[s, z] += policy[s, a] * cmdp.transition[s, a, z]
    return matrix


def resolvent(cmdp, policy):
    """(I - gamma P_pi)^-1, with the inverse as such."""
    return np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * induced(cmdp, policy))


def values(cmdp, policy):
    """Both values from rho, by a long power series instead of a linear solve."""
    state, total, weight = np.array(cmdp.initial), np.zeros(2), 1.0
    matrix = induced(cmdp, policy)
    while weight > 1e-18:
        step = weight * state[:, None] * policy
        total += (step * cmdp.reward).sum(), (step * cmdp.utility).sum()
        state, weight = state @ matrix, weight * cmdp.discount
    return total


# Random streams.


def stream(count, **axes):
    """Words of the stream with these axes: NumPy's SFC64, 32 of them in turn."""
    digest = hashlib.sha256(json.dumps(axes, sort_keys=True).encode()).digest()
    seeds = np.random.SeedSequence(int.from_bytes(digest, "big"))
    lanes = []
    for words in seeds.generate_state(3 * LANES, np.uint64).reshape(3, LANES).T:
        bits = np.random.SFC64()
        bits.state = {**bits.state, "state": {"state": np.array([*words, 1], np.uint64)}}
        lanes.append(bits.random_raw(12 + count // LANES + 1)[12:])
    return np.array(lanes).T.ravel()[:count]


def splitmix(word, index):
    """Number `index` (from 1) of SplitMix64 with this seed, in integers of any size."""
    z = (int(word) + index * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


# Right edges of the 256 layers of a ziggurat, from the lowest one to the top of the density.
TAIL, AREA = 3.6541528853610088, 0.00492867323399
EDGES = [AREA / math.exp(-(TAIL**2) / 2), TAIL]
while len(EDGES) < 256:
    EDGES.append(math.sqrt(-2 * math.log(math.exp(-(EDGES[-1] ** 2) / 2) + AREA / EDGES[-1])))
EDGES.append(0.0)


def normal(word):
    """Turn a word into a normal number by the ziggurat method; further words are SplitMix64's."""

    def uniform(word):  # in [-1, 1), from the upper 54 bits, read as a signed number
        return (int(word) - 2**64 * (int(word) >= 2**63) >> 10) / 2**53

    further, point = (splitmix(word, index) for index in itertools.count(1)), int(word)
    while True:
        layer = point % 256
        x = uniform(point) * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        if layer == 0:
            while True:
                beyond = -math.log(1 - abs(uniform(next(further)))) / EDGES[1]
                if -2 * math.log(1 - abs(uniform(next(further)))) > beyond**2:
                    return math.copysign(EDGES[1] + beyond, x)
        low, high = (math.exp(-(edge**2) / 2) for edge in EDGES[layer : layer + 2])
        if low + abs(uniform(next(further))) * (high - low) < math.exp(-x * x / 2):
            return x
        point = next(further)


# What one random word decides.


def alias_table(probability):
    """Shares kept of each column, in units of 2^-32, and what is drawn otherwise (Vose 1991)."""
    scaled = [float(p) * len(probability) for p in probability]
    alias = list(range(len(scaled)))
    small = [k for k in alias if scaled[k] < 1]
    large = [k for k in alias if scaled[k] >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    return [min(round(share * ONE), ONE - 1) for share in scaled], alias


def draw(probability, word):
    """Draw from a distribution by its alias table, with the lower half of a word."""
    keep, alias = alias_table(probability)
    column, rest = divmod((int(word) % ONE) * len(keep), ONE)
    return column if rest < keep[column] else alias[column]


def choose(probability, word):
    """Choose an action with the upper half of a word: cumulative probabilities, in 2^-32."""
    chance = int(word) >> 32
    return sum(chance >= math.floor(c * ONE + 0.5) for c in np.cumsum(probability)[:-1])


def trajectory(cmdp, policy, state, action, words):
    """Both returns of one trajectory; `action` is the first one, or None."""
    returns = np.zeros(2)
    for t, word in enumerate(words):
        if t > 0 or action is None:
            action = choose(policy[state], word)
        signals = np.array([cmdp.reward[state, action], cmdp.utility[state, action]])
        returns += cmdp.discount**t * signals
        state = draw(cmdp.transition[state, action], word)
    return returns


def votes(evaluators, chance, word):
    """Votes in favour, one by one: digit by digit until one differs from the chance's."""
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


def answer(setting, bound, difference, word):
    """Lines 8-12, 15-17 and 19-20 of Algorithm 1: votes, clipped frequency, inverse link."""
    if setting.evaluators is None:
        return difference
    link, share = DISTRIBUTIONS[setting.link], setting.random_answers
    chance = (1 - share) * link.cdf(difference) + share / 2
    favourable = votes(setting.evaluators, chance, word)
    if setting.estimator == "unbiased":  # of up to four evaluators with the logistic link
        return 2 * (2 * favourable / setting.evaluators - 1)
    frequency = favourable / setting.evaluators
    return link.ppf(min(max(frequency, link.cdf(-bound)), link.cdf(bound)))


def softmax(theta):
    return special.softmax(theta, axis=-1)


def project(theta):
    """Project rows on the simplex: bisection for the shift that makes the row sum to one."""
    low, high = theta.min(-1, keepdims=True) - 1.0, theta.max(-1, keepdims=True)
    for _ in range(100):
        middle = (low + high) / 2
        too_much = np.maximum(theta - middle, 0).sum(-1, keepdims=True) > 1
        low, high = np.where(too_much, middle, low), np.where(too_much, high, middle)
    return np.maximum(theta - high, 0)


def return_bound(cmdp, horizon):
    """Largest return of H + 1 steps: G(H) times the scale, or less where that is known."""
    bound = cmdp.scale / (1 - cmdp.discount) * (1 - cmdp.discount ** (horizon + 1))
    return min(bound, cmdp.largest_return or bound)


# One iteration of each algorithm: estimates of both directions, and of V_g - b.


def estimate_npgpd_hf(cmdp, setting, theta, words, normals):
    """Lines 3-20 of Algorithm 1."""
    (states, actions), rounds = theta.shape, setting.rounds
    policy, bound = softmax(theta), return_bound(cmdp, setting.horizon)
    count = rounds * (states + states * actions + 1)
    steps = count * (setting.horizon + 1)
    firsts, questions = iter(words[steps : steps + rounds]), iter(words[steps + rounds :])
    index = iter(range(count))

    def sample(state, action):
        return trajectory(cmdp, policy, state, action, words[next(index) : steps : count])

    estimates, excess = np.zeros((2, states, actions)), 0.0
    for _ in range(rounds):
        from_state = [sample(s, None) for s in range(states)]
        from_pair = [[sample(s, a) for a in range(actions)] for s in range(states)]
        _, from_rho = sample(draw(cmdp.initial, next(firsts)), None)
        for s, a, k in itertools.product(range(states), range(actions), (0, 1)):
            difference = (from_pair[s][a] - from_state[s])[k]
            estimates[k, s, a] += answer(setting, bound, difference, next(questions)) / rounds
        excess += answer(setting, bound, from_rho - cmdp.threshold, next(questions)) / rounds
    assert next(questions, None) is None
    return estimates, excess


def estimate_zpgpd_hf(cmdp, setting, theta, words, normals):
    """Lines 2-15 of Algorithm 2."""
    rounds, bound = setting.rounds, return_bound(cmdp, setting.horizon)
    direction, dimension = np.array(normals).reshape(theta.shape), theta.size
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
    questions = iter(words[steps + rounds :])
    slopes, excess = np.zeros(2), 0.0
    for n in range(rounds):
        first = draw(cmdp.initial, words[steps + n])
        base, other = (
            trajectory(cmdp, followed[k], first, None, words[2 * n + k : steps : 2 * rounds])
            for k in (0, 1)
        )
        for k in (0, 1):
            slopes[k] += answer(setting, bound, (other - base)[k], next(questions)) / rounds
        excess += answer(setting, bound, base[1] - cmdp.threshold, next(questions)) / rounds
    assert next(questions, None) is None
    return dimension / setting.perturbation * slopes[:, None, None] * direction, excess


def estimate_exactly(cmdp, setting, theta, words, normals):
    """Advantages (Lemma 3.1) or q(s) Q(s, a) (policy gradient theorem), and V_g - b."""
    natural = setting.parameterization == "softmax"
    policy = softmax(theta) if natural else theta
    matrix = resolvent(cmdp, policy)
    visits, directions = (cmdp.initial @ matrix)[:, None], []
    for signal in (cmdp.reward, cmdp.utility):
        v = matrix @ (policy * signal).sum(1)
        q = signal + cmdp.discount * cmdp.transition @ v
        directions.append(q - v[:, None] if natural else visits * q)
    return np.array(directions), values(cmdp, policy)[1] - cmdp.threshold


ESTIMATES = {"npgpd_hf": estimate_npgpd_hf, "zpgpd_hf": estimate_zpgpd_hf}
DEFAULTS = {"evaluators": None, "rounds": 1, "horizon": 3, "link": "logistic", "normalize": "none"}
DEFAULTS |= {"estimator": "plug-in", "random_answers": 0, "directions": "sphere"}


def iterates(name, cmdp, iterations, seed=0, purpose="run", policy=None, multiplier=0.0, **options):
    """Policies and multipliers of all iterates: the last three lines of both algorithms."""
    natural = name in ("npgpd_hf", "npg_pd")
    form = "softmax" if natural else "direct"
    setting = SimpleNamespace(**{**DEFAULTS, "parameterization": form, **options})
    pairs, steps = cmdp.reward.size, setting.horizon + 1
    per_round, normals = {  # words for steps, for the first state, and for questions
        "npgpd_hf": ((cmdp.states + pairs + 1) * steps + 1 + (2 * pairs + 1), 0),
        "zpgpd_hf": (2 * steps + 1 + 3, pairs),
    }.get(name, (0, 0))
    count = setting.rounds * per_round
    axes = {"purpose": purpose, "algorithm": name, "seed": seed, "evaluators": setting.evaluators}
    words = stream(iterations * count, kind="words", **axes).reshape(iterations, count)
    drawn = stream(iterations * normals, kind="normals", **axes).reshape(iterations, normals)
    theta = np.full_like(cmdp.reward, 1 / cmdp.actions) if policy is None else policy
    theta = np.log(theta) if setting.parameterization == "softmax" else theta
    for t in range(iterations + 1):
        yield softmax(theta) if setting.parameterization == "softmax" else theta, multiplier
        if t < iterations:
            row = words[t], [normal(word) for word in drawn[t]]
            estimate = ESTIMATES.get(name, estimate_exactly)
            estimates, excess = estimate(cmdp, setting, theta, *row)
            divisor = {"none": 0, "linear": multiplier, "quadratic": multiplier**2}
            step = setting.primal_step / (1 + divisor[setting.normalize])
            step /= (1 - cmdp.discount) if natural else 1
            theta = theta + step * (estimates[0] + multiplier * estimates[1])
            if setting.parameterization == "direct":
                theta = project(theta)
            multiplier = max(multiplier - setting.dual_step * excess, 0.0)
            multiplier = min(multiplier, setting.multiplier_bound)
