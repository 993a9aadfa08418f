"""The contract of an algorithm, for every one that the registry finds."""

import copy
import math
import pydoc
import re
import textwrap
from typing import NamedTuple

import numpy as np
import pytest
from preparing import forms, prepare, randomness
from reference import random_policies, random_process, softmax
from scipy import sparse

from pgpd_hf import ALGORITHMS, solve
from pgpd_hf.algorithms import Algorithm, State, base, get_algorithm
from pgpd_hf.algorithms.base import PrimalDual, option, require_explicit_state
from pgpd_hf.algorithms.npgpd_hf import NPGPDHF
from pgpd_hf.core.options import REQUIRED
from pgpd_hf.runs import traces

VARIANTS = [(name, form) for name in ALGORITHMS for form in forms(name)]
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
every_variant = pytest.mark.parametrize(("name", "form"), VARIANTS)


@every_algorithm
def test_registry_holds_it_under_its_name(name):
    kind = get_algorithm(name)
    assert issubclass(kind, Algorithm)
    assert kind.name == name
    assert kind.label
    assert [other.label for other in ALGORITHMS.values()].count(kind.label) == 1
    assert set(forms(name)) <= {"softmax", "direct"}


@every_algorithm
def test_every_option_has_a_line_and_a_default_within_its_range(name):
    """The line is a sentence; evaluators alone have to be given."""
    for each in get_algorithm(name).options().values():
        assert re.fullmatch(r"[A-Z][^\n]*\.", each.text), each.name
        if each.default is REQUIRED:
            assert each.name == "evaluators"
        else:
            assert each.check(each.default) == each.default


@every_algorithm
def test_help_begins_with_all_options_and_their_lines(name):
    told = pydoc.plain(pydoc.render_doc(ALGORITHMS[name])).partition("Method resolution order")[0]
    words = " ".join(told.replace("|", " ").split())
    for each in ALGORITHMS[name].options().values():
        assert f" {each.name} : " in words
        assert each.text in words


def test_registry_is_a_mapping_in_alphabetical_order():
    assert list(ALGORITHMS) == sorted(ALGORITHMS)
    assert len(ALGORITHMS) == len(list(ALGORITHMS)) >= 4
    assert "base" not in ALGORITHMS
    with pytest.raises(KeyError):
        ALGORITHMS["base"]


@every_algorithm
@pytest.mark.parametrize("rounds", [1, 3])
def test_price_is_that_of_its_effort(name, rounds):
    algorithm = prepare(name, random_process(1, 4, 3), rounds=rounds, horizon=7)
    trajectories, questions = algorithm.algorithm.effort(4, 3, rounds)
    assert algorithm.steps_per_iteration == 8 * trajectories
    assert algorithm.questions_per_iteration == questions


@every_algorithm
def test_steps_that_are_not_given_are_the_theorems_or_refused(name):
    cmdp, kind = random_process(2, 3, 2, 0.8, threshold=1.2), ALGORITHMS[name]
    options = {"primal_step": None, "dual_step": None, "iterations": 400}
    if kind.has_steps and not kind.has_theorem():
        with pytest.raises(ValueError, match=r"^primal_step, dual_step: numbers expected"):
            prepare(name, cmdp, **options)
        return
    algorithm, expected = prepare(name, cmdp, **options), (0, 0)
    if kind.has_steps:
        expected = kind.theorem_steps(cmdp, solve(cmdp), 400)
        assert min(expected) > 0
    assert (algorithm.primal_step, algorithm.dual_step) == expected


@every_algorithm
def test_estimates_are_refused_or_have_a_shape(name):
    algorithm = prepare(name, random_process(3))
    theta = algorithm.initial_parameter()
    words, normals = randomness(algorithm, 3, 1)
    if ALGORITHMS[name].estimate is Algorithm.estimate:
        with pytest.raises(TypeError, match=rf"^{name} follows no estimated directions"):
            algorithm.estimate(theta, words[0], normals[0])
        return
    estimates, excess = algorithm.estimate(theta, words[0], normals[0])
    assert estimates.shape == (2, 3, 2)
    assert np.isfinite([*estimates.ravel(), excess]).all()
    assert (theta == algorithm.initial_parameter()).all()


@every_variant
@pytest.mark.parametrize(("states", "actions"), [(1, 2), (2, 1), (3, 2), (4, 5)])
@pytest.mark.parametrize("evaluators", [1, 16, None])
def test_iterates_are_policies_and_multipliers_stay_in_bounds(
    name, form, states, actions, evaluators
):
    cmdp = random_process(1, states, actions, 0.8, threshold=0.3)
    steps = {"primal_step": 3.0, "dual_step": 2.0, "multiplier_bound": 0.5}
    algorithm = prepare(name, cmdp, parameterization=form, evaluators=evaluators, **steps)
    count = (
        40 if ALGORITHMS[name].has_steps else 8
    )  # the others fit anew to all answers, every time
    words, normals = randomness(algorithm, 1, count)
    policies, multipliers, last = algorithm.advance(algorithm.initial_state(), words, normals)
    assert policies.shape == (count, states, actions)
    assert multipliers.shape == (count,)
    np.testing.assert_allclose(policies[0], 1 / actions, rtol=1e-15)
    np.testing.assert_allclose(policies.sum(2), 1, rtol=1e-12)
    assert (policies >= 0).all()
    assert multipliers[0] == 0
    everything = np.append(multipliers, last.multiplier)
    assert ((everything >= 0) & (everything <= 0.5)).all()
    assert np.isfinite(last.theta).all()


@every_algorithm
def test_estimator_is_an_option_of_those_who_step_by_answers_and_changes_answers_only(name):
    """Of the same questions; the printed one is the default, and M = infinity needs none."""
    cmdp, kind = random_process(4, threshold=0.3), ALGORITHMS[name]
    asks = kind.effort(3, 2, 1)[1] > 0 and kind.has_steps
    assert ("estimator" in kind.options()) == asks
    traces = {}
    for evaluators in (40, None):
        for estimator in (None, "plug-in", "unbiased"):
            given = {"estimator": estimator} if estimator else {}
            algorithm = prepare(name, cmdp, evaluators=evaluators, **given)
            words, normals = randomness(algorithm, 4, 20 if kind.has_steps else 3)
            whole = algorithm.advance(algorithm.initial_state(), words, normals)
            traces[evaluators, estimator] = whole[0].tobytes(), whole[1].tobytes()
    assert traces[40, None] == traces[40, "plug-in"]
    assert (traces[40, None] != traces[40, "unbiased"]) == asks
    assert len({traces[None, estimator] for estimator in (None, "plug-in", "unbiased")}) == 1


def assert_same_bits(ours, theirs, when):
    """Compare two results of `advance`, or states."""
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, tuple):
            assert_same_bits(one, other, when)
        else:
            assert np.array_equal(one, other), (
                f"advance gave other numbers for the same state and randomness {when}: what goes "
                "from iteration to iteration belongs in the state, not in self"
            )


@every_variant
def test_state_begins_at_the_first_parameter(name, form):
    algorithm = prepare(name, random_process(1), parameterization=form)
    policy = random_policies(1, random_process(1))
    for start in (None, policy):
        state = algorithm.initial_state(start)
        assert (state.theta == algorithm.initial_parameter(start)).all()
        assert (state.multiplier, state.iteration) == (0, 0)


@every_variant
def test_state_and_randomness_decide_everything_and_are_left_alone(name, form):
    cmdp = random_process(2)
    algorithm = prepare(name, cmdp, parameterization=form)
    words, normals = randomness(algorithm, 2, 5)
    start = algorithm.initial_state()._replace(multiplier=0.25)
    kept = copy.deepcopy((words, normals, start))
    whole = algorithm.advance(start, words, normals)
    assert_same_bits(whole, algorithm.advance(start, words, normals), "when repeated")
    fresh = prepare(name, cmdp, parameterization=form)
    assert_same_bits(whole, fresh.advance(start, words, normals), "on a fresh instance")
    assert_same_bits((words, normals, start), kept, "afterwards: it modified its arguments")


@every_variant
def test_iterations_may_be_done_in_pieces(name, form):
    algorithm = prepare(name, random_process(3), parameterization=form, rounds=2)
    words, normals = randomness(algorithm, 3, 9)
    whole = algorithm.advance(algorithm.initial_state(), words, normals)
    state, parts = algorithm.initial_state(), []
    for piece in np.split(np.arange(9), [1, 1, 6]):  # 1, 0, 5 and 3 iterations
        before = state.iteration
        *part, state = algorithm.advance(state, words[piece], normals[piece])
        assert state.iteration == before + len(piece)
        parts.append(part)
    pieces = (*map(np.concatenate, zip(*parts, strict=True)), state)
    assert_same_bits(whole, pieces, "in pieces")


@every_variant
def test_state_is_explicit(name, form):
    """As runs check, with fewer iterations."""
    algorithm = prepare(name, random_process(4), parameterization=form)
    require_explicit_state(algorithm, *randomness(algorithm, 4, 9))


@every_variant
def test_policy_of_a_parameter(name, form):
    cmdp = random_process(4)
    algorithm = prepare(name, cmdp, parameterization=form)
    theta = random_policies(4, cmdp)
    kept = theta.copy()
    expected = softmax(theta) if form == "softmax" else theta
    result = algorithm.policy(theta)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    result[:] = 7
    assert (theta == kept).all()


@every_variant
def test_start_from_a_given_policy(name, form):
    cmdp = random_process(5)
    algorithm = prepare(name, cmdp, parameterization=form)
    policy = random_policies(5, cmdp)
    theta = algorithm.initial_parameter(policy.tolist())
    np.testing.assert_allclose(algorithm.policy(theta), policy, rtol=1e-14)
    words, normals = randomness(algorithm, 5, 2)
    kept = policy.copy()
    policies, _, _ = algorithm.advance(algorithm.initial_state(policy), words, normals)
    np.testing.assert_allclose(policies[0], policy, rtol=1e-14)
    assert (policy == kept).all()  # the caller's array is not the parameter


@every_variant
@pytest.mark.parametrize(
    "policy",
    [
        [[0.5, 0.5]] * 2,
        [[0.5, 0.6]] * 3,
        [[1.5, -0.5]] * 3,
        [[[0.5, 0.5]] * 3] * 2,
        "uniform",
        [[0.5, 0.5], [1.0]],
        {},
        0.5,
        [[np.nan, 1.0]] * 3,
    ],
)
def test_bad_start_is_named(name, form, policy):
    algorithm = prepare(name, random_process(6), parameterization=form)
    with pytest.raises(ValueError, match=r"^initial_policy: "):
        algorithm.initial_parameter(policy)


@every_variant
def test_start_at_a_vertex(name, form):
    algorithm = prepare(name, random_process(7), parameterization=form)
    vertex = [[1.0, 0.0]] * 3
    if form == "softmax":
        with pytest.raises(ValueError, match=r"^initial_policy: .* zero"):
            algorithm.initial_parameter(vertex)
    else:
        assert (algorithm.initial_parameter(vertex) == vertex).all()


@pytest.mark.parametrize("name", [name for name, kind in ALGORITHMS.items() if kind.has_steps])
def test_given_steps_are_used_even_if_zero(name):
    zero = {"primal_step": 0.0, "dual_step": 0.0, "multiplier_bound": 0.0}
    algorithm = prepare(name, random_process(9), **zero)
    for attribute in zero:
        assert getattr(algorithm, attribute) == 0
    words, normals = randomness(algorithm, 9, 3)
    state = algorithm.initial_state()
    before = algorithm.policy(state.theta)
    policies, multipliers, last = algorithm.advance(state, words, normals)
    np.testing.assert_allclose(policies, np.broadcast_to(before, policies.shape), rtol=1e-15)
    assert (*multipliers, last.multiplier) == (0,) * 4


@every_algorithm
def test_parameterization_that_it_cannot_run_with_is_refused(name):
    for form in {"softmax", "direct"} - set(forms(name)):
        with pytest.raises(ValueError, match=r"^parameterization: one of "):
            prepare(name, random_process(10), parameterization=form)


# The contract itself: what it allows, and what it finds.


class Toy(PrimalDual):
    """The policy gradient with exact values, with a step that subclasses choose."""

    name = "toy"

    def update(self, run, state, policy, words, normals):
        signal = run.cmdp.reward + state.multiplier * run.cmdp.utility
        theta = state.theta + self.step(run, state) * run.cmdp.advantages(policy, signal)
        excess = run.cmdp.evaluate(policy)[1] - run.cmdp.threshold
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))

    def step(self, run, state):
        return run.primal_step / math.sqrt(state.iteration + 1)


class MeanState(NamedTuple):
    theta: np.ndarray
    multiplier: float
    iteration: int
    mean: np.ndarray


class Mean(Toy):
    """It follows the mean of all advantages so far."""

    name = "mean"

    def initial_state(self, run, initial_policy=None):
        start = super().initial_state(run, initial_policy)
        return MeanState(*start, mean=np.zeros_like(start.theta))

    def update(self, run, state, policy, words, normals):
        advantages = run.cmdp.advantages(policy, run.cmdp.reward)
        mean = state.mean + (advantages - state.mean) / (state.iteration + 1)
        return state._replace(theta=state.theta + run.primal_step * mean, mean=mean)


class Counter(Toy):
    """A decaying step, with the iterations counted in the class."""

    name = "toy"
    count = 0

    def step(self, run, state):
        type(self).count += 1
        return run.primal_step / math.sqrt(self.count)


class PerCall(Toy):
    """A decaying step, with the iterations counted from each call on."""

    name = "toy"

    def advance(self, run, state, words, normals):
        type(self).count = 0
        return super().advance(run, state, words, normals)

    step = Counter.step


class InPlace(Toy):
    name = "toy"

    def update(self, run, state, policy, words, normals):
        state.theta[:] += run.primal_step * run.cmdp.advantages(policy, run.cmdp.reward)
        return state


class Momentum(Toy):
    """The step before is kept in the class."""

    name = "toy"
    before = 0.0

    def update(self, run, state, policy, words, normals):
        type(self).before = 0.9 * self.before + run.cmdp.advantages(policy, run.cmdp.reward)
        return state._replace(theta=state.theta + run.primal_step * self.before)


class View(Mean):
    """The state holds a view of the random words, which the caller overwrites."""

    name = "mean"

    def update(self, run, state, policy, words, normals):
        moved = state.theta + (state.mean * 2.0**-64 if state.iteration else 0.0)
        return state._replace(theta=moved, mean=words)

    def prepare(self, cmdp, optimum, iterations):
        return super().prepare(cmdp, optimum, iterations).having(words_per_iteration=2)


class InSelf(Toy):
    name = "toy"

    def step(self, run, state):
        self.count = 1


class InRun(Toy):
    name = "toy"

    def step(self, run, state):
        run.count = 1


class Uncounted(Toy):
    name = "toy"

    def advance(self, run, state, words, normals):
        policies, multipliers, after = super().advance(run, state, words, normals)
        return policies, multipliers, after._replace(iteration=0)


def ready(kind, **options):
    cmdp = random_process(11, 3, 2)
    setting = {"primal_step": 0.3, "dual_step": 0.2, **options}
    return kind(**kind.pick({"evaluators": None, **setting})).prepare(cmdp, solve(cmdp), 10)


@pytest.mark.parametrize("kind", [Toy, Mean])
def test_decaying_steps_and_memory_are_possible(kind):
    algorithm = ready(kind)
    words, normals = randomness(algorithm, 11, 7)
    require_explicit_state(algorithm, words, normals)
    policies, multipliers, last = algorithm.advance(algorithm.initial_state(), words, normals)
    assert (policies.shape, multipliers.shape, last.iteration) == ((7, 3, 2), (7,), 7)
    theta = np.zeros((3, 2))
    steps = []
    for t in range(7):
        np.testing.assert_allclose(policies[t], softmax(theta), rtol=1e-12)
        signal = algorithm.cmdp.reward + (multipliers[t] if kind is Toy else 0) * (
            algorithm.cmdp.utility
        )
        steps.append(algorithm.cmdp.advantages(softmax(theta), signal))
        mean = np.mean(steps, axis=0) if kind is Mean else steps[-1] / math.sqrt(t + 1)
        theta = theta + 0.3 * mean
    np.testing.assert_allclose(last.theta, theta, rtol=1e-12)


def test_examples_of_the_documentation_are_complete():
    blocks = re.findall(r"::\n\n((?:    .*\n|\n)+)", base.__doc__)
    for block, name in zip(blocks, ("Decaying", "Averaged", "Clipped"), strict=True):
        scope = {}
        exec(textwrap.dedent(block), scope)
        assert scope[name].name == name.lower()
        algorithm = ready(scope[name])
        words, normals = randomness(algorithm, 16, 5)
        require_explicit_state(algorithm, words, normals)
        policies, _, _ = algorithm.advance(algorithm.initial_state(), words, normals)
        rewards, _ = algorithm.cmdp.evaluate(policies)
        if algorithm.questions_per_iteration:  # its steps are noisy
            rewards = rewards[[0, -1]]
        assert (np.diff(rewards) > 0).all()
    # On the random numbers of its parent, whose steps a small limit makes smaller.
    plain = ready(NPGPDHF)
    own, _, _ = plain.advance(plain.initial_state(), words, normals)
    np.testing.assert_allclose(policies, own, rtol=1e-12)
    short = ready(scope["Clipped"], largest=0.01)
    *_, last = short.advance(short.initial_state(), words, normals)
    assert 0.01 < abs(last.theta).max() <= 0.05 + 1e-12


@pytest.mark.parametrize("kind", [Counter, PerCall, InPlace, Momentum, View])
def test_state_elsewhere_is_refused_in_one_line(kind):
    algorithm = ready(kind)
    with pytest.raises(ValueError, match=r"^algorithm: update of (toy|mean) gave other") as error:
        require_explicit_state(algorithm, *randomness(algorithm, 12, 3))
    assert "\n" not in str(error.value)
    assert "belongs in the state, not in self" in str(error.value)
    pieces = kind in (PerCall, View)
    assert ("one iteration at a time" in str(error.value)) == pieces


@pytest.mark.parametrize(("kind", "place"), [(InSelf, "field 'count'"), (InRun, "'count' of a")])
def test_options_and_what_is_prepared_cannot_be_assigned(kind, place):
    algorithm = ready(kind)
    with pytest.raises(ValueError, match=r"^algorithm: update of toy: cannot assign to") as error:
        require_explicit_state(algorithm, *randomness(algorithm, 12, 3))
    assert place in str(error.value)
    assert "belongs in the state, not in self" in str(error.value)


class Returning(Toy):
    """What an update returns is given."""

    name = "toy"

    def update(self, run, state, policy, words, normals):
        return state._replace(**self.changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"theta": np.zeros((3, 2), np.float32)}, "theta as float32 of shape (3, 2); float64 of"),
        ({"theta": np.zeros((3, 2), complex)}, "theta as complex128 of shape (3, 2); float64 of"),
        ({"theta": np.zeros(3)}, "theta as float64 of shape (3,); float64 of shape (3, 2) exp"),
        ({"theta": [[0.0] * 2] * 3}, "theta as list of shape (3, 2); float64 of shape (3, 2) exp"),
        ({"multiplier": np.nan}, "the multiplier nan; a number in [0, 1.5] expected"),
        ({"multiplier": -5.0}, "the multiplier -5.0; a number in [0, 1.5] expected"),
        ({"multiplier": 1.6}, "the multiplier 1.6; a number in [0, 1.5] expected"),
    ],
)
@pytest.mark.parametrize("iterations", [1, 10])
def test_what_an_update_must_not_return_is_refused_in_one_line(
    monkeypatch, changes, message, iterations
):
    cmdp = random_process(11, 3, 2)
    algorithm = Returning(primal_step=0.3, dual_step=0.2, multiplier_bound=1.5)
    monkeypatch.setattr(Returning, "changes", changes, raising=False)
    monkeypatch.setattr(traces, "_CHECKED", set())
    with pytest.raises(ValueError, match=r"^algorithm: update of toy returned ") as error:
        traces.run(cmdp, algorithm, seeds=[0], iterations=iterations)
    assert message in str(error.value)


@pytest.mark.parametrize("iterations", [1, 10])
def test_update_that_returns_no_state_is_refused_in_one_line(monkeypatch, iterations):
    """As one does that forgets to return."""
    monkeypatch.setattr(Toy, "update", lambda *arguments: None)
    monkeypatch.setattr(traces, "_CHECKED", set())
    with pytest.raises(ValueError, match=r"^algorithm: update of toy returned None; a State expe"):
        traces.run(
            random_process(11, 3, 2),
            Toy(primal_step=0.3, dual_step=0.2),
            seeds=[0],
            iterations=iterations,
        )


def test_state_without_what_it_began_with_is_refused():
    class Forgetful(Mean):
        name = "forgetful"

        def update(self, run, state, policy, words, normals):
            return State(*super().update(run, state, policy, words, normals)[:3])

    algorithm = ready(Forgetful)
    with pytest.raises(ValueError, match=r"^algorithm: update of forgetful .* a MeanState expect"):
        algorithm.advance(algorithm.initial_state(), *randomness(algorithm, 18, 1))


class Undefined(Toy):
    """A multiplier that is no number, and is used in the next iteration."""

    name = "toy"

    def update(self, run, state, policy, words, normals):
        following = super().update(run, state, policy, words, normals)
        return following._replace(multiplier=np.nan)


def test_multiplier_that_is_no_number_is_refused_before_it_is_used():
    algorithm = Undefined(primal_step=0.3, dual_step=0.2)
    message = "^algorithm: update of toy returned the multiplier nan; a number in "
    with pytest.raises(ValueError, match=message):
        traces.run(random_process(11, 3, 2), algorithm, seeds=[0], iterations=10)


NO_POLICY = (
    "^algorithm: update of toy returned no policy .*theta is float64.*, or primal_step: 0.3 is"
)


def test_theta_that_is_no_number_is_told_with_its_algorithm_and_type(monkeypatch):
    changes = {"theta": np.full((3, 2), np.nan)}
    monkeypatch.setattr(Returning, "changes", changes, raising=False)
    algorithm = Returning(primal_step=0.3, dual_step=0.2)
    with pytest.raises(ValueError, match=NO_POLICY):
        traces.run(random_process(11, 3, 2), algorithm, seeds=[0], iterations=10)


def test_iterations_that_are_not_counted_are_refused():
    algorithm = ready(Uncounted)
    with pytest.raises(ValueError, match=r"iteration 0 after 3 iterations from 0$"):
        require_explicit_state(algorithm, *randomness(algorithm, 13, 3))


def test_update_of_a_variant_takes_the_place_of_its_parents_kernel():
    class Variant(NPGPDHF):
        name = "variant"

        def update(self, run, state, policy, words, normals):
            (reward, _), _ = run.estimate(state.theta, words, normals)
            return state._replace(theta=state.theta + reward)

    algorithm = ready(Variant, horizon=3)
    words, normals = randomness(algorithm, 14, 2)
    *_, last = algorithm.advance(algorithm.initial_state(), words, normals)
    first, _ = algorithm.estimate(np.zeros((3, 2)), words[0], normals[0])
    second, _ = algorithm.estimate(first[0], words[1], normals[1])
    assert (last.theta == first[0] + second[0]).all()


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf", "zpg"])
def test_estimate_that_compiled_iterations_would_not_call_is_refused(name):
    """Whatever it returned, the numbers would be the parent's."""
    estimate = {"name": "variant", "estimate": lambda self, *arguments: None}
    with pytest.raises(TypeError, match=r"^class Variant: a method 'update' expected beside 'est"):
        type("Variant", (ALGORITHMS[name],), estimate)
    type("Variant", (ALGORITHMS[name],), estimate | {"update": lambda self, *arguments: None})
    type("Variant", (ALGORITHMS["episodic_npgpd_hf"],), estimate)  # whose update calls it


@pytest.mark.parametrize("wrong", ["a", [0.0], None])
def test_multiplier_that_is_no_number_is_refused(wrong):
    class Wrong(PrimalDual):
        name = "wrong"

        def update(self, run, state, policy, words, normals):
            return state._replace(multiplier=wrong)

    with pytest.raises(ValueError, match=r"^algorithm: update of wrong returned the multiplier "):
        traces.run(
            random_process(1), Wrong(primal_step=0.1, dual_step=0.1), seeds=[0], iterations=2
        )


def test_class_in_place_of_an_object_is_refused():
    with pytest.raises(ValueError, match=r"^algorithm: an object expected: NPGPDHF\(\.\.\.\), got"):
        traces.run(random_process(1), NPGPDHF, seeds=[0], iterations=2)


def test_option_of_two_types_is_refused():
    with pytest.raises(TypeError, match=r"^width: one type, or one and None, expected, got "):

        class Wide(NPGPDHF):
            name = "wide"
            width: int | float = option(1, "Both.")


@pytest.mark.parametrize("parent", [NPGPDHF, PrimalDual])
def test_class_without_a_name_of_its_own_is_refused(parent):
    """Its results would be taken for its parent's."""

    class Nameless(parent):
        def update(self, run, state, policy, words, normals):
            return state

    with pytest.raises(TypeError, match=r"^class Nameless: name = '...' expected, by which its "):
        ready(Nameless)


def test_label_streams_rate_and_limit_are_not_inherited():
    class Variant(NPGPDHF):
        name = "variant"

    assert (Variant.label, Variant.streams) == ("variant", "variant")
    assert (Variant.rate, Variant.limit_of) == (None, None)


def test_common_random_numbers_give_a_variant_without_difference_the_same_bits():
    class WithMomentum(NPGPDHF):
        name = "with_momentum"
        streams = "npgpd_hf"
        momentum: float = option(0.0, "Share of the step before.", at_least=0, at_most=1)

        def initial_state(self, run, initial_policy=None):
            start = super().initial_state(run, initial_policy)
            return MeanState(*start, mean=np.zeros_like(start.theta))

        def update(self, run, state, policy, words, normals):
            (reward, utility), excess = run.estimate(state.theta, words, normals)
            step = run.primal_step / (1 - run.cmdp.discount)
            moved = self.momentum * state.mean + step * (reward + state.multiplier * utility)
            multiplier = run.dual_update(state.multiplier, excess)
            return state._replace(theta=state.theta + moved, multiplier=multiplier, mean=moved)

    cmdp = random_process(11, 3, 2, threshold=1.2)
    options = {"evaluators": 16, "horizon": 5, "primal_step": 0.3, "dual_step": 0.2}
    plain = traces.run(cmdp, NPGPDHF(**options), seeds=[0, 1], iterations=20)
    for momentum in (0, 0.5):
        other = traces.run(
            cmdp, WithMomentum(momentum=momentum, **options), seeds=[0, 1], iterations=20
        )
        same = [column for column in plain if (plain[column] == other[column]).all()]
        assert ("reward_value" in same) == (momentum == 0)
        assert same == [*plain.columns[1:]] if momentum == 0 else "multiplier" not in same


def test_algorithm_without_an_update_cannot_iterate():
    class Nothing(Algorithm):
        name = "nothing"

    algorithm = ready(Nothing)
    with pytest.raises(ValueError, match="algorithm: Nothing has no method 'update'"):
        algorithm.advance(algorithm.initial_state(), *randomness(algorithm, 15, 1))


def test_option_of_another_type_is_refused():
    with pytest.raises(TypeError, match=r"^values: a bool, int, float or str expected, got "):

        class Listing(Toy):
            name = "listing"
            values: list = option((1, 2), "Values.")


class Borrowed(base.PrimalDualHF):
    """Reads as NPGPD-HF does, but does not say how much."""

    name = "borrowed"

    def estimate(self, run, theta, words, normals):
        return NPGPDHF.estimate(self, run, theta, words, normals)


@pytest.mark.parametrize("rounds", [1, 1000])
def test_estimates_do_not_read_beyond_the_words_that_effort_gives(rounds):
    steps = {"primal_step": 0.1, "dual_step": 0.1}
    with pytest.raises(ValueError, match=r"^words: fewer than the estimate reads; effort has to"):
        traces.run(
            random_process(11, 3, 2),
            Borrowed(evaluators=8, rounds=rounds, **steps),
            seeds=[0],
            iterations=2,
        )


@pytest.mark.parametrize(
    "name", [it for it, kind in ALGORITHMS.items() if kind.estimate is not Algorithm.estimate]
)
def test_too_little_randomness_is_refused(name):
    algorithm = prepare(name, random_process(3))
    words, normals = randomness(algorithm, 5, 1)
    theta = algorithm.initial_state().theta
    with pytest.raises(ValueError, match=r"^words: fewer"):
        algorithm.estimate(theta, words[0, :-1], normals[0])
    with pytest.raises(ValueError, match=r"^theta: shape \(\d+, \d+\) expected, got \(1, "):
        algorithm.estimate(theta[:1], words[0], normals[0])


@pytest.mark.parametrize("name", ["zpgpd_hf", "zpg"])
def test_too_few_normal_numbers_are_refused(name):
    algorithm = prepare(name, random_process(3))
    words, normals = randomness(algorithm, 5, 1)
    with pytest.raises(ValueError, match=r"^normals: one number for each state and action"):
        algorithm.advance(algorithm.initial_state(), words, normals[:, :-1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"theta": np.zeros((1, 2))}, r"theta as float64 of shape \(1, 2\); float64 of shape \(3"),
        ({"multiplier": -1.0}, r"the multiplier -1.0; a number in \[0, "),
        ({"multiplier": 1j}, "the multiplier 1j; a number expected"),
        (None, "{}; a NamedTuple with theta, multiplier, iteration expected"),
    ],
)
def test_first_state_is_checked(changes, message):
    class Begun(Toy):
        name = "begun"

        def initial_state(self, run, initial_policy=None):
            start = super().initial_state(run, initial_policy)
            return {} if changes is None else start._replace(**changes)

    algorithm = ready(Begun)
    words, normals = randomness(algorithm, 5, 2)
    with pytest.raises(ValueError, match=f"^algorithm: initial_state of begun returned {message}"):
        require_explicit_state(algorithm, words, normals)


def test_sparse_parts_of_states_are_compared_by_their_entries():
    one = sparse.eye_array(3, format="csr")
    other = 2 * one
    assert base._same((one, 1.0), (one.copy(), 1.0))
    assert not base._same((one, 1.0), (other, 1.0))
    assert not base._same((other, 1.0), (one, 1.0))
    assert not base._same((one,), (sparse.csr_array((2, 3)),))
