"""Every statement's criterion can come out each way."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import worlds
import yaml
from scipy import stats

import pgpd_hf
from pgpd_hf.claims import Evidence, Member, Undecidable, judge, load_claims
from pgpd_hf.claims.evidence import Contrast, Estimate, Slope, Term
from pgpd_hf.claims.verdicts import COLUMNS, holm, test_part

ROOT = Path(__file__).parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/claims.schema.yaml").read_text())
CLAIMS = load_claims(ROOT / "config/claims.yaml", SCHEMA)
SIZES = ("npgpd-independent-of-sizes", "zpgpd-depends-on-sizes")
NEVER = ("horizon-bias-decays", "trajectories-of-varying-length")
DECIDABLE = [name for name in CLAIMS["claims"] if name not in SIZES + NEVER]

N, Z = "npgpd_hf", "zpgpd_hf"
PAPER = worlds.paper()


def tilt(algorithm, column, m, *values):
    """The paper's world with one curve replaced."""
    return {**PAPER, (algorithm, m, column): list(values)}


# For each statement, a world in which it is false.
FALSE = {
    "npgpd-gap-falls-fast": tilt(N, "gap", 16, 0.25, 0.24, 0.23, 0.1, 0.06, 0.06),
    "npgpd-gap-plateaus": tilt(N, "gap", 64, 0.25, 0.2, 0.18, 0.15, 0.08, 0.0),
    "npgpd-gap-most-gain-16-64": worlds.shifted(PAPER, 0.045, (N, 64, "gap")),
    "npgpd-gap-64-256-identical": worlds.shifted(PAPER, 0.03, (N, 64, "gap")),
    "npgpd-violation-similar-rate": worlds.shifted(PAPER, 0.04, (N, 16, "violation")),
    "npgpd-violation-overlaps": worlds.shifted(PAPER, 0.05, (N, 16, "violation")),
    "npgpd-feasibility-insensitive": worlds.shifted(PAPER, -0.03, (N, 256, "violation")),
    "zpgpd-gap-much-slower": tilt(N, "gap", 64, *[0.25] * 6),
    "zpgpd-gap-more-sensitive": worlds.shifted(PAPER, 0.12, (N, 16, "gap")),
    "zpgpd-gap-improves-with-m": worlds.shifted(PAPER, 0.05, (Z, 256, "gap")),
    "zpgpd-gap-16-markedly-worse": worlds.shifted(PAPER, -0.1, (Z, 16, "gap")),
    "zpgpd-gap-steady-state": tilt(Z, "gap", 16, 0.25, 0.24, 0.23, 0.2, 0.15, 0.1),
    "zpgpd-violation-64-256-close": worlds.shifted(PAPER, 0.05, (Z, 64, "violation")),
    "zpgpd-violation-64-256-end": worlds.shifted(PAPER, 0.05, (Z, 64, "violation")),
    "npgpd-converges": worlds.shifted(PAPER, 0.05, (N, 256, "violation")),
    "zpgpd-converges": worlds.shifted(PAPER, -0.06, (Z, 256, "gap")),
    "feedback-bias-decreases": worlds.shifted(PAPER, 0.02, (N, 256, "gap")),
    "zpgpd-larger-bias": worlds.shifted(PAPER, 0.12, (N, 16, "gap")),
    "npgpd-rate-gap": {N: -0.1},
    "npgpd-rate-violation": {N: -0.1},
    "zpgpd-rate-gap": {Z: 0.0},
    "zpgpd-rate-violation": {Z: 0.0},
    "zpgpd-slower-rate": {Z: -0.8},
    "npgpd-needs-sa-queries": {"pairs": 100},
    "zpgpd-few-queries": {"pairs": 2},
}
# Where no error of measurement is possible, nothing can be inconclusive.
EXACT = ("npgpd-needs-sa-queries", "zpgpd-few-queries")


def verdicts(evidence):
    """Verdict by statement."""
    return judge(CLAIMS, evidence).set_index("claim")["verdict"]


def false_evidence(change, **options):
    if "pairs" in change:
        return Evidence([Member(worlds.make_traces(PAPER), 1.0, change["pairs"])])
    if set(change) <= {N, Z}:
        return worlds.seed_evidence(PAPER, rates=worlds.make_rates(change), **options)
    return worlds.seed_evidence(change, **options)


@pytest.fixture(scope="module")
def truth():
    return judge(CLAIMS, worlds.seed_evidence(PAPER))


@pytest.mark.parametrize("name", DECIDABLE)
def test_true_statement_is_reproduced(truth, name):
    row = truth.set_index("claim").loc[name]
    assert row["verdict"] == "reproduced"
    assert row["effect"] > 0
    assert row["low"] <= row["estimate"] <= row["high"]


@pytest.mark.parametrize("name", DECIDABLE)
def test_false_statement_is_contradicted(name):
    row = judge(CLAIMS, false_evidence(FALSE[name])).set_index("claim").loc[name]
    assert row["verdict"] == "contradicted"
    assert row["effect"] < 0


@pytest.mark.parametrize("true", [True, False])
def test_noise_makes_everything_inconclusive(true):
    rates = worlds.make_rates(error=5.0)
    world = PAPER if true else FALSE["npgpd-gap-plateaus"]
    found = verdicts(worlds.seed_evidence(world, noise=5.0, rates=rates))
    assert set(found[[name for name in DECIDABLE if name not in EXACT]]) == {"inconclusive"}


def test_table_has_the_columns_that_others_rely_on(truth):
    first = "claim, source, statement, criterion, estimate, low, high, verdict".split(", ")
    assert list(truth.columns) == list(COLUMNS)
    assert list(truth.columns[:8]) == first
    assert len(truth) == len(CLAIMS["claims"])


@pytest.mark.parametrize("name", SIZES + NEVER)
def test_what_nothing_decides_is_inconclusive_and_says_why(truth, name):
    row = truth.set_index("claim").loc[name]
    assert row["verdict"] == "inconclusive"
    assert "not decided: " in row["criterion"]
    assert np.isnan(row["estimate"])


def test_sizes_are_decided_by_instances():
    larger = worlds.shifted(PAPER, 0.06, *((Z, m, "gap") for m in worlds.EVALUATORS))
    found = verdicts(worlds.instance_evidence(PAPER, larger))
    assert list(found[list(SIZES)]) == ["reproduced", "reproduced"]
    other = worlds.shifted(PAPER, 0.06, *((N, m, "gap") for m in worlds.EVALUATORS))
    other = worlds.shifted(other, -0.06, *((Z, m, "gap") for m in worlds.EVALUATORS))
    found = verdicts(worlds.instance_evidence(PAPER, other))
    assert list(found[list(SIZES)]) == ["contradicted", "contradicted"]
    found = verdicts(worlds.instance_evidence(PAPER, larger, noise=5.0))
    assert list(found[list(SIZES)]) == ["inconclusive", "inconclusive"]


def test_algorithm_that_never_moves_contradicts():
    """Without its update an algorithm stays where it starts."""
    still = {key: [points[0]] * 6 if key[0] == Z else points for key, points in PAPER.items()}
    found = verdicts(worlds.seed_evidence(still))
    for name in (
        "zpgpd-gap-more-sensitive",
        "zpgpd-gap-improves-with-m",
        "zpgpd-gap-16-markedly-worse",
        "zpgpd-converges",
    ):
        assert found[name] == "contradicted", name
    still = {key: [points[0]] * 6 if key[0] == N else points for key, points in PAPER.items()}
    found = verdicts(worlds.seed_evidence(still))
    for name in (
        "npgpd-gap-falls-fast",
        "npgpd-gap-most-gain-16-64",
        "npgpd-violation-similar-rate",
        "npgpd-converges",
        "zpgpd-gap-much-slower",
        "zpgpd-larger-bias",
    ):
        assert found[name] == "contradicted", name


def test_real_runs_without_updates_contradict():
    cmdp = pgpd_hf.random_cmdp()
    traces = [
        pgpd_hf.run(
            cmdp, name, evaluators=m, seeds=range(3), iterations=20, primal_step=0, dual_step=0
        )
        for name in (N, Z)
        for m in worlds.EVALUATORS
    ]
    found = verdicts(Evidence([Member(pd.concat(traces), cmdp.value_bound, worlds.PAIRS)]))
    assert found["npgpd-gap-falls-fast"] == "contradicted"
    assert found["zpgpd-gap-16-markedly-worse"] == "contradicted"
    assert found["zpgpd-gap-much-slower"] == "contradicted"


@pytest.mark.parametrize("number", range(5))
def test_shuffled_labels_reproduce_nothing_about_m(number):
    traces = worlds.make_traces(PAPER)
    random = np.random.default_rng(number)
    runs = traces.groupby(["algorithm", "evaluators", "seed"]).ngroup()
    shuffled = []
    for _, group in traces.groupby("algorithm"):
        keys = runs[group.index].unique()
        labels = [(m, seed) for m in worlds.EVALUATORS for seed in range(20)]
        order = random.permutation(len(keys))
        new = {key: labels[k] for key, k in zip(keys, order, strict=True)}
        group = group.assign(
            evaluators=[new[key][0] for key in runs[group.index]],
            seed=[new[key][1] for key in runs[group.index]],
        )
        shuffled.append(group)
    table = pd.concat(shuffled, ignore_index=True)
    found = verdicts(Evidence([Member(table, 1.0, worlds.PAIRS)], rates=worlds.make_rates()))
    for name in (
        "npgpd-gap-most-gain-16-64",
        "zpgpd-gap-more-sensitive",
        "zpgpd-gap-improves-with-m",
        "zpgpd-gap-16-markedly-worse",
        "feedback-bias-decreases",
    ):
        assert found[name] != "reproduced", name


def test_units_do_not_matter():
    """Ten times the values in ten times the range are the same verdicts."""
    traces = worlds.make_traces(PAPER)
    large = traces.copy()
    columns = [name for name in traces if name.endswith(("gap", "violation"))]
    large[columns] *= 10
    one = judge(CLAIMS, Evidence([Member(traces, 1.0, worlds.PAIRS)]))
    ten = judge(CLAIMS, Evidence([Member(large, 10.0, worlds.PAIRS)]))
    pd.testing.assert_frame_equal(one, ten, rtol=1e-6, atol=1e-9)


def test_readings_that_only_look_differently():
    traces = worlds.make_traces(PAPER, noise=0)
    member = Member(traces, 1.0, worlds.PAIRS, shift=0.1)
    term = Term(N, 256, "optimality_gap", "last_quarter")
    assert Evidence([member]).samples(term)[1] == pytest.approx(0.104)
    whole = Term(N, 256, "optimality_gap", "whole")
    plain = Member(traces, 1.0, worlds.PAIRS)
    average = Evidence([plain], curve="average").samples(whole)[1]
    assert (average > Evidence([plain]).samples(whole)[1]).all()
    safe = worlds.shifted(PAPER, -0.3, (N, 256, "violation"))
    member = Member(worlds.make_traces(safe, noise=0), 1.0, worlds.PAIRS)
    term = Term(N, 256, "constraint_violation", "last_quarter")
    assert Evidence([member], violation="positive").samples(term)[1] == pytest.approx(0)
    assert Evidence([member]).samples(term)[1] == pytest.approx(-0.3)


def test_contrasts_are_added_weight_by_weight():
    few, many = Contrast(few=1.0), Contrast(many=1.0)
    assert few - 0.25 * (few - many) == {"few": 0.75, "many": 0.25}
    assert few - many - few == {"few": 0.0, "many": -1.0}
    assert few == {"few": 1.0}


def test_slopes_of_infinitely_many_evaluators_are_found_by_none():
    rates = worlds.make_rates()
    rates.loc[rates["evaluators"].isna(), ["slope", "low", "high"]] = [-0.1, -0.2, 0.0]
    by_file = pd.read_csv(io.StringIO(rates.to_csv(index=False)))
    for table in (rates, by_file):
        evidence = Evidence([Member(worlds.make_traces(PAPER), 1.0, worlds.PAIRS)], rates=table)
        slopes = [
            evidence.estimate(Contrast({Slope(N, "study", m, "gap"): 1.0})).value
            for m in (256, None)
        ]
        assert slopes == pytest.approx([-0.6, -0.1])
    with pytest.raises(Undecidable, match="no runs of npgpd_hf with M = 64"):
        evidence.estimate(Contrast({Slope(N, "study", 64, "gap"): 1.0}))


def test_single_runs_are_counted(truth):
    shares = truth.set_index("claim")["single"]
    assert shares["zpgpd-gap-16-markedly-worse"] == 1.0
    noisy = judge(CLAIMS, worlds.seed_evidence(PAPER, noise=0.05)).set_index("claim")["single"]
    assert 0 < noisy["npgpd-gap-64-256-identical"] < 1


def test_missing_runs_are_undecidable():
    traces = worlds.make_traces(PAPER)
    evidence = Evidence([Member(traces[traces["evaluators"] != 64], 1.0, worlds.PAIRS)])
    with pytest.raises(Undecidable, match="npgpd_hf was not run with M = 64"):
        evidence.samples(Term(N, 64, "optimality_gap", "whole"))
    assert verdicts(evidence)["npgpd-gap-64-256-identical"] == "inconclusive"


def test_one_seed_has_no_interval():
    row = judge(CLAIMS, worlds.seed_evidence(PAPER, seeds=1)).set_index("claim")
    assert "one seed has no interval" in row.loc["npgpd-gap-plateaus", "criterion"]


def test_contrast_is_welchs_test():
    traces = worlds.make_traces(PAPER, noise=0.02)
    evidence = Evidence([Member(traces, 1.0, worlds.PAIRS)])
    terms = [Term(N, m, "optimality_gap", "last_quarter") for m in (16, 64)]
    first, second = (evidence.samples(term)[1] for term in terms)
    estimate = evidence.estimate(Contrast(zip(terms, (1.0, -1.0), strict=True)))
    welch = stats.ttest_ind(first, second, equal_var=False, alternative="greater")
    inside, outside = test_part(estimate, 0, np.inf)
    assert inside == pytest.approx(welch.pvalue)
    assert outside == pytest.approx(1 - welch.pvalue)
    interval = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert estimate.interval(0.025) == pytest.approx((interval.low, interval.high))


def test_numbers_of_one_run_are_subtracted_seed_by_seed():
    traces = worlds.make_traces(PAPER, noise=0.02)
    evidence = Evidence([Member(traces, 1.0, worlds.PAIRS)])
    terms = [Term(N, 16, "optimality_gap", when) for when in ("third_quarter", "last_quarter")]
    first, second = (evidence.samples(term)[1] for term in terms)
    paired = stats.ttest_rel(first, second, alternative="greater")
    estimate = evidence.estimate(Contrast(zip(terms, (1.0, -1.0), strict=True)))
    inside, _ = test_part(estimate, 0, np.inf)
    assert inside == pytest.approx(paired.pvalue, abs=1e-9)


def test_equivalence_is_two_one_sided_tests():
    estimate = Estimate(0.005, 0.004, 30)
    inside, outside = test_part(estimate, -0.02, 0.02)
    assert inside == pytest.approx(stats.t.sf((0.02 - 0.005) / 0.004, 30))
    assert outside == 1.0
    assert test_part(Estimate(0.0, 0.1, 30), -0.02, 0.02)[0] > 0.3


@pytest.mark.parametrize(
    ("value", "expected"), [(0.01, (0.0, 1.0)), (0.02, (1.0, 0.0)), (0.03, (1.0, 0.0))]
)
def test_without_error_the_edge_is_outside(value, expected):
    assert test_part(Estimate(value, 0.0, np.inf), -0.02, 0.02) == expected


def test_holm_is_the_textbook():
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([0.5, np.nan, 0.9]), [1.0, np.nan, 1.0])
    assert holm([]).size == 0


def test_null_verdicts_are_rare():
    """At the edge of a margin, a statement is wrongly called reproduced no more than the level."""
    random = np.random.default_rng(1)
    count = 0
    for _ in range(2000):
        sample = random.normal(0.02, 0.03, 20)
        error = sample.std(ddof=1) / np.sqrt(20)
        count += test_part(Estimate(sample.mean(), error, 19), 0.02, np.inf)[0] <= 0.025
    assert stats.binomtest(count, 2000, 0.025).pvalue > 0.001
