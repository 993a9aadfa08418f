"""Certificates hold on every run, and each of their terms is needed."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import CMDP, random_cmdp, run, solve
from pgpd_hf.runs import traces
from pgpd_hf.statistics import mean_interval
from replication.theory import certificates, exact, records, theorem_1
from replication.theory.bounds import predicted_violation
from replication.theory.certificates import random_certificates, run_certificates
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import make_estimates
from replication.theory.setting import Setting
from replication.theory.theorem_1 import one_step, oscillations

NATURAL = Setting(
    evaluators=16, iterations=200, rounds=2, horizon=15, primal_step=0.3, dual_step=0.1
)
ZEROTH = replace(NATURAL, primal_step=0.01, iterations=400)
SETTINGS = {"npgpd_hf": NATURAL, "zpgpd_hf": ZEROTH}


@pytest.fixture(scope="module")
def cmdp():
    return random_cmdp(states=4, actions=3, instance=7, discount=0.8, threshold=0.55)


@pytest.fixture(scope="module")
def optimum(cmdp):
    return solve(cmdp)


def record(cmdp, optimum, algorithm, seed=0, **changes):
    setting = replace(SETTINGS[algorithm], **changes)
    return records.record(setting.run(algorithm, cmdp, optimum), optimum, seed, sampled=True)


def lagrangian_gap(run_):
    cmdp, optimum = run_.algorithm.cmdp, run_.optimum
    v_r, v_g = cmdp.evaluate(run_.policies[:-1])
    weighted = run_.multipliers[:-1] * (optimum.utility_value - v_g)
    return (optimum.reward_value - v_r + weighted).mean()


def certified(draws):
    return pd.concat([random_certificates(draws, name) for name in SETTINGS], ignore_index=True)


@pytest.fixture(scope="module")
def many():
    return certified(range(60))


def test_every_certificate_holds_in_more_than_a_hundred_random_runs(many):
    # One run gives a gap and a violation.
    assert len(many) == 2 * 120
    assert many["holds"].all(), many[~many["holds"]].to_string()
    assert many.groupby("algorithm")["draw"].nunique().eq(60).all()
    for column in ("evaluators", "rounds", "horizon", "scale", "discount", "states"):
        assert many[column].nunique() > 1


def test_certificates_are_far_from_vacuous(many):
    median = many.groupby(["algorithm", "quantity"])["ratio"].median()
    assert (median < 3).all()
    assert (median >= 1).all()
    assert many["ratio"].count() > 120
    assert many.loc[many["measured"] <= 0, "ratio"].isna().all()


def test_random_runs_are_the_same_in_every_call(many):
    again = certified([3, 4])
    expected = many[many["draw"].isin([3, 4])].reset_index(drop=True)
    assert again.equals(expected)


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_record_is_the_run_of_the_engine(cmdp, optimum, algorithm):
    recorded = record(cmdp, optimum, algorithm, seed=5)
    chunks = list(traces.iterates(recorded.algorithm, 5))
    np.testing.assert_array_equal(recorded.policies, np.concatenate([c[0] for c in chunks]))
    np.testing.assert_array_equal(recorded.multipliers, np.concatenate([c[1] for c in chunks]))
    assert recorded.answered.shape == (2, recorded.algorithm.iterations, 4, 3)


def test_recorded_estimates_are_those_of_the_updates(cmdp, optimum):
    recorded = record(cmdp, optimum, "npgpd_hf")
    step = recorded.algorithm.primal_step / (1 - cmdp.discount)
    moves = step * recorded.lagrangian(recorded.answered)
    np.testing.assert_allclose(np.diff(recorded.thetas, axis=0), moves, atol=1e-10)


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_measured_values_are_those_of_a_run(cmdp, algorithm):
    setting = SETTINGS[algorithm]
    table = run_certificates(cmdp, algorithm, setting, [2, 3])
    trace = run(
        cmdp,
        algorithm,
        evaluators=setting.evaluators,
        iterations=setting.iterations,
        rounds=setting.rounds,
        horizon=setting.horizon,
        primal_step=setting.primal_step,
        dual_step=setting.dual_step,
        seeds=[2, 3],
        checkpoints=[setting.iterations - 1],
    )
    measured = table.pivot(index="seed", columns="quantity", values="measured")
    np.testing.assert_allclose(measured["gap"], trace["mean_optimality_gap"])
    np.testing.assert_allclose(measured["violation"], trace["mean_constraint_violation"])
    parts = table[list(certificates.PARTS)].sum(axis=1)
    np.testing.assert_allclose(table["certificate"], parts)
    columns = "algorithm evaluators rounds horizon iterations seed quantity measured certificate"
    assert list(table.columns) == [*columns.split(), "ratio", "holds", *certificates.PARTS]


def test_natural_certificate_of_the_lagrangian_is_an_identity(cmdp, optimum):
    recorded = record(cmdp, optimum, "npgpd_hf")
    parts = certificates._natural_primal(recorded)
    assert sum(parts.values()) == pytest.approx(lagrangian_gap(recorded), rel=1e-9)


@pytest.mark.parametrize("part", ["truncation", "sampling", "feedback", "remaining"])
def test_identity_needs_each_of_its_parts(cmdp, optimum, part):
    # Two steps only: the tails of longer ones cancel in an advantage, as the chain has mixed.
    parts = certificates._natural_primal(record(cmdp, optimum, "npgpd_hf", horizon=1))
    assert abs(parts[part]) > 1e-3 * sum(map(abs, parts.values()))


def test_zeroth_order_certificate_bounds_the_lagrangian_s_gap(cmdp, optimum):
    for seed in range(5):
        recorded = record(cmdp, optimum, "zpgpd_hf", seed=seed)
        parts = certificates._zeroth_order_primal(recorded)
        # Equal where nothing is projected, but for rounding.
        assert lagrangian_gap(recorded) <= sum(parts.values()) + 1e-12


@pytest.mark.parametrize("directions", ["sphere", "tangent"])
def test_zeroth_order_certificate_is_an_identity_while_nothing_is_projected(directions):
    cmdp = random_cmdp(states=3, actions=2, instance=2, discount=0.5, threshold=0.4)
    optimum = solve(cmdp)
    recorded = record(
        cmdp,
        optimum,
        "zpgpd_hf",
        directions=directions,
        perturbation=0.3,
        primal_step=1e-4,
        iterations=100,
    )
    assert recorded.policies.min() > 0.1
    parts = certificates._zeroth_order_primal(recorded)
    assert sum(parts.values()) == pytest.approx(lagrangian_gap(recorded), rel=1e-9)


@pytest.mark.parametrize("directions", ["sphere", "tangent"])
def test_zeroth_order_levels_lie_along_the_sampled_directions(cmdp, optimum, directions):
    recorded = record(cmdp, optimum, "zpgpd_hf", directions=directions, iterations=50)
    levels = certificates._gradient_levels(recorded, cmdp.state_occupancy(recorded.thetas[:-1]))
    flat = [level.reshape(len(level), -1) for level in levels]

    def cosines(level):
        norms = [np.linalg.norm(flat[k], axis=1) for k in (level, 3)]
        told = (norms[0] > 0) & (norms[1] > 0)  # equally many votes for both estimate zero
        assert told.sum() > 40
        return np.abs((flat[level] * flat[3]).sum(1))[told] / (norms[0] * norms[1])[told]

    for level in (1, 2, 4):
        np.testing.assert_allclose(cosines(level), 1)
    assert cosines(0).max() < 0.99


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_parts_vanish_with_their_causes(cmdp, optimum, algorithm):
    known = certificates.certificate(record(cmdp, optimum, algorithm, evaluators=None))
    finite = certificates.certificate(record(cmdp, optimum, algorithm))
    endless = certificates.certificate(record(cmdp, optimum, algorithm, horizon=150))
    for quantity in ("gap", "violation"):
        assert known[quantity]["feedback"] == 0
        assert finite[quantity]["feedback"] != 0
        assert abs(endless[quantity]["truncation"]) < 1e-10
        assert abs(finite[quantity]["truncation"]) > 1e-7


def test_sampling_part_shrinks_with_the_rounds(cmdp, optimum):
    def sampling(rounds):
        parts = [
            certificates.certificate(
                record(cmdp, optimum, "npgpd_hf", seed=seed, rounds=rounds, evaluators=None)
            )["gap"]["sampling"]
            for seed in range(4)
        ]
        return np.abs(parts).mean()

    assert sampling(100) < 0.5 * sampling(1)


def test_sampled_estimates_are_unbiased_for_truncated_returns(cmdp, optimum):
    # One policy throughout: the mean over iterations has a standard error.
    changes = {"iterations": 4000, "primal_step": 1e-12, "horizon": 0}
    recorded = record(cmdp, optimum, "npgpd_hf", **changes)
    levels = certificates.advantage_levels(recorded)
    errors = levels[2] - levels[1]
    width = errors.std(0) / np.sqrt(len(errors))
    assert (np.abs(errors.mean(0)) < 5 * width).all()
    assert np.abs(levels[1] - levels[0]).max() > 3 * width.max()


@pytest.mark.parametrize(
    "people", [{"true_link": "probit"}, {"random_answers": 0.1}, {"flipped_answers": 0.1}]
)
@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
def test_certificates_hold_however_people_vote(cmdp, algorithm, people):
    """They are about single paths; what people say enters as it was said."""
    table = run_certificates(cmdp, algorithm, replace(SETTINGS[algorithm], **people), seeds=[0, 1])
    assert table["holds"].all()


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
def test_no_certificate_for_divided_steps(cmdp, algorithm):
    setting = replace(SETTINGS[algorithm], normalize="quadratic")
    with pytest.raises(OutsideAssumptions, match=r"^normalize: none expected, got quadratic"):
        run_certificates(cmdp, algorithm, setting, seeds=[0])


def test_dual_range_enters_the_violation(cmdp):
    """At the upper end of the multiplier's range the certificate needs what was cut off."""
    setting = replace(NATURAL, multiplier_bound=0.1, dual_step=0.5)
    table = run_certificates(cmdp, "npgpd_hf", setting, range(3))
    assert table["holds"].all()
    violation = table[table["quantity"] == "violation"]
    without = 0.1 / (setting.dual_step * setting.iterations)
    assert (violation["optimisation"] > 2 * without).all()


@pytest.mark.parametrize("name", ["primal_step", "dual_step"])
@pytest.mark.parametrize("algorithm", SETTINGS)
def test_step_sizes_of_zero_have_no_certificate(cmdp, algorithm, name):
    setting = replace(SETTINGS[algorithm], **{name: 0.0}, iterations=3)
    with pytest.raises(OutsideAssumptions, match=name):
        run_certificates(cmdp, algorithm, setting, [0])


def test_softmax_zeroth_order_has_no_certificate(cmdp):
    setting = replace(ZEROTH, parameterization="softmax", iterations=3)
    with pytest.raises(OutsideAssumptions, match="zpgpd_hf with softmax"):
        run_certificates(cmdp, "zpgpd_hf", setting, [0])


def test_one_step_inequality_holds_on_every_path(cmdp, optimum):
    steps = 0
    for seed, rounds in enumerate([1, 1, 1, 10]):
        for changes in ({"evaluators": None}, {"evaluators": 4}, {"primal_step": 3.0}):
            recorded = record(cmdp, optimum, "npgpd_hf", seed=seed, rounds=rounds, **changes)
            visits = exact.visitation(cmdp, optimum.policy)
            for start in (visits, cmdp.initial):
                gain, variance, logarithm = one_step(recorded, start)
                assert (gain + variance >= logarithm - 1e-12).all()
                steps += len(gain)
    assert steps > 4000


def test_one_step_inequality_needs_its_variance(cmdp, optimum):
    recorded = record(cmdp, optimum, "npgpd_hf", rounds=1, evaluators=None)
    gain, variance, logarithm = one_step(recorded, cmdp.initial)
    assert (gain < logarithm).mean() > 0.2
    # Of the right size: not even a fiftieth of it would do on every path.
    assert (gain + variance / 50 < logarithm).any()


def near_tie(copies, advantage, discount):
    """Two actions of nearly equal value in every state; the next reward is a coin flip."""
    transition = np.empty((2 * copies, 2, 2 * copies))
    for action, sign in enumerate((-1, 1)):
        transition[:, action, :copies] = (1 + sign * advantage) / (2 * copies)
        transition[:, action, copies:] = (1 - sign * advantage) / (2 * copies)
    reward = np.zeros((2 * copies, 2))
    reward[:copies] = 1
    return CMDP(transition, reward, reward, np.full(2 * copies, 1 / (2 * copies)), discount, 0.0)


AT_TIES = {"horizon": 16, "primal_step": 0.05, "dual_step": 0.0, "multiplier_bound": 0.0}


@pytest.fixture(scope="module")
def tie():
    """NPGPD-HF at near-ties, people known: measured gap, and what the bounds need."""
    cmdp = near_tie(4, 0.01, 1 / 3)
    optimum = solve(cmdp)
    iterations = 32000
    trace = run(
        cmdp,
        "npgpd_hf",
        evaluators=None,
        iterations=iterations,
        seeds=range(40),
        checkpoints=[iterations - 1],
        **AT_TIES,
    )
    setting = Setting(evaluators=None, iterations=iterations, **AT_TIES)
    estimates = make_estimates(cmdp, setting)
    step = setting.primal_step
    _, (start, _) = theorem_1.primal_regrets(estimates, step, 0.0, iterations, 0.0)
    # The noise does not depend on the policy, to first order: a short run tells its size.
    algorithm = replace(setting, iterations=1000).run("npgpd_hf", cmdp, optimum)
    noise = [(oscillations(records.record(algorithm, optimum, k)) ** 2).mean() for k in range(2)]
    first = np.tile([1.0, 0.0], (8, 1))
    worst, best = cmdp.evaluate(np.stack([first, 1 - first]))[0]
    return {
        "measured": mean_interval(trace["mean_optimality_gap"]),
        "without": start / iterations + estimates.primal_bias / (1 - cmdp.discount),
        "variance": step / (8 * (1 - cmdp.discount) ** 3) * np.mean(noise),
        "largest": best - worst,
    }


def test_theorem_1_needs_the_variance_term(tie):
    """With it the bound (step 3.5) holds and is not vacuous; without it, it is violated."""
    _, low, high = tie["measured"]
    without, largest = tie["without"], tie["largest"]
    full = without + tie["variance"]
    assert high <= full < largest
    assert without < low
    # Of the right size: a fiftieth of it would not do.
    assert without + tie["variance"] / 50 < low


def test_gap_falls_below_the_variance_term(tie):
    """The proof needs the term, the gap does not keep it: four times the T, a quarter of the gap.

    The two statements about means of gaps err in 1 of 1000 samples each, and the seeds are fixed.
    """
    iterations = 128000
    trace = run(
        near_tie(4, 0.01, 1 / 3),
        "npgpd_hf",
        evaluators=None,
        iterations=iterations,
        seeds=range(12),
        checkpoints=[iterations // 4 - 1, iterations - 1],
        **AT_TIES,
    )
    early, late = trace["mean_optimality_gap"].to_numpy().reshape(-1, 2).T
    assert mean_interval(late, 0.998)[2] < tie["variance"] / 10
    assert mean_interval(late - 0.3 * early, 0.998)[2] < 0
    _, low, high = mean_interval(late / early)
    assert low < 1 / 4 < high


def test_variance_term_shrinks_with_the_rounds(cmdp, optimum):
    changes = {"evaluators": None, "horizon": 40, "primal_step": 0.01}
    few, many_ = (
        np.mean(
            [
                (oscillations(record(cmdp, optimum, "npgpd_hf", seed, rounds=n, **changes)) ** 2)
                for seed in range(2)
            ]
        )
        for n in (1, 20)
    )
    assert few == pytest.approx(20 * many_, rel=0.3)


@pytest.mark.parametrize("evaluators", [16, 256, None])
def test_violation_is_the_last_multiplier_over_the_dual_step(evaluators):
    """Under Theorem 1's dual step feasibility does not depend on M, to first order."""
    cmdp = random_cmdp(instance=1)
    optimum = solve(cmdp)
    iterations = 4000
    setting = Setting(evaluators=evaluators, iterations=iterations)
    algorithm = setting.run("npgpd_hf", cmdp, optimum)
    chunks = list(traces.iterates(algorithm, 0))
    multipliers = np.concatenate([chunk[1] for chunk in chunks])
    policies = np.concatenate([chunk[0] for chunk in chunks])[:-1]
    violation = cmdp.threshold - cmdp.evaluate(policies)[1].mean()
    identity = predicted_violation(multipliers[-1], algorithm.dual_step, iterations)
    assert violation == pytest.approx(identity, rel=0.25)
    forecast = predicted_violation(optimum.multiplier, algorithm.dual_step, iterations)
    assert forecast == pytest.approx(
        optimum.multiplier / ((1 - cmdp.discount) * np.sqrt(iterations))
    )
    assert 0.4 < violation / forecast < 2


def test_multiplier_oscillates_even_without_people():
    """So that the forecast with lambda* has the right order and not the right constant."""
    cmdp = random_cmdp(instance=1)
    optimum = solve(cmdp)
    ratios = []
    for iterations in (1000, 16000):
        algorithm = Setting(evaluators=None, iterations=iterations).run("npg_pd", cmdp, optimum)
        trace = run(
            cmdp,
            "npg_pd",
            evaluators=None,
            iterations=iterations,
            seeds=[0],
            checkpoints=[iterations - 1],
        )
        forecast = predicted_violation(optimum.multiplier, algorithm.dual_step, iterations)
        ratios.append(trace["mean_constraint_violation"].iloc[0] / forecast)
    assert ratios[0] == pytest.approx(0.673, abs=0.01)
    assert ratios[1] == pytest.approx(1.703, abs=0.01)


def test_certificate_below_what_is_measured_does_not_hold(cmdp, optimum, monkeypatch):
    low = {quantity: dict.fromkeys(certificates.PARTS, -1.0) for quantity in ("gap", "violation")}
    monkeypatch.setattr(certificates, "certificate", lambda run: low)
    setting = Setting(evaluators=16, iterations=3, horizon=5, primal_step=0.1, dual_step=0.1)
    table = run_certificates(cmdp, "npgpd_hf", setting, [0], optimum)
    assert table["holds"].tolist() == [False, False]
