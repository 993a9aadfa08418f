"""Every statement's criterion can come out each way."""

import copy
import io
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import worlds
import yaml
from scipy import stats

import pgpd_hf
from pgpd_hf import environments
from pgpd_hf.core.optima import utility_span
from replication.statements import report, sources
from replication.statements.criteria import argument_schema, make_parts
from replication.statements.declaration import load_claims
from replication.statements.evidence import (
    Contrast,
    Estimate,
    Evidence,
    TableEntry,
    Term,
    Undecidable,
)
from replication.statements.sources import as_read
from replication.statements.verdicts import COLUMNS, judge, p_values, verdict_at
from replication.study.readings import LOOK

ROOT = Path(__file__).parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/claims.schema.yaml").read_text())
CLAIMS = load_claims(ROOT / "config/claims.yaml", SCHEMA)
SIZES = ("npgpd-independent-of-sizes", "zpgpd-depends-on-sizes")
NEVER = ("zpgpd-global-convergence", "no-structural-assumptions", "no-reward-inference")
DECIDABLE = [name for name in CLAIMS["claims"] if name not in SIZES + NEVER]

N, Z = "npgpd_hf", "zpgpd_hf"
PAPER = worlds.paper()


def tilt(algorithm, column, m, *values):
    """The paper's world with one curve replaced."""
    return {**PAPER, (algorithm, m, column): list(values)}


def drifting(curve):
    """The paper's world, but a curve of ZPGPD-HF still moves at the end."""
    return worlds.shifted(PAPER, [0, 0, 0, 0, 0, 0.3], (Z, 64, curve))


# For each statement, worlds in which it is false.
FALSE = {
    "npgpd-gap-falls-fast": tilt(N, "gap", 16, 0.25, 0.24, 0.23, 0.1, 0.06, 0.06),
    "npgpd-gap-plateaus": tilt(N, "gap", 64, 0.25, 0.2, 0.18, 0.15, 0.08, 0.0),
    "npgpd-gap-most-gain-16-64": worlds.shifted(PAPER, 0.045, (N, 64, "gap")),
    "npgpd-gap-64-256-identical": worlds.shifted(PAPER, 0.03, (N, 64, "gap")),
    "npgpd-violation-similar-rate": worlds.shifted(PAPER, 0.05, (N, 16, "violation")),
    "npgpd-violation-overlaps": worlds.shifted(PAPER, 0.05, (N, 16, "violation")),
    "npgpd-feasibility-insensitive": worlds.shifted(PAPER, -0.04, (N, 256, "violation")),
    "zpgpd-gap-much-slower": tilt(N, "gap", 64, *[0.25] * 6),
    "zpgpd-gap-more-sensitive": worlds.shifted(PAPER, 0.12, (N, 16, "gap")),
    "zpgpd-gap-improves-with-m": worlds.shifted(PAPER, 0.05, (Z, 256, "gap")),
    "zpgpd-gap-16-markedly-worse": worlds.shifted(PAPER, -0.1, (Z, 16, "gap")),
    "zpgpd-gap-steady-state": drifting("gap"),
    "zpgpd-violation-64-256-close": worlds.shifted(PAPER, 0.05, (Z, 64, "violation")),
    "zpgpd-violation-64-256-end": worlds.shifted(PAPER, 0.05, (Z, 64, "violation")),
    "npgpd-global-convergence": {"joint": 0.1},
    "npgpd-converges": worlds.shifted(PAPER, 0.05, (N, 256, "violation")),
    "zpgpd-converges": worlds.shifted(PAPER, -0.06, (Z, 256, "gap")),
    "feedback-bias-decreases": {"people": 0.5},
    "zpgpd-larger-bias": {"cost": 0.2},
    "npgpd-rate-gap": {"rates": {N: -0.1}},
    "npgpd-rate-gap-theorem-steps": {"rates": {N: -0.1}},
    "npgpd-rate-violation": {"rates": {N: -0.1}},
    "npgpd-rate-violation-theorem-steps": {"rates": {N: -0.1}},
    "zpgpd-rate-gap": {"rates": {Z: 0.0}},
    "zpgpd-rate-gap-theorem-steps": {"rates": {Z: 0.0}},
    "zpgpd-rate-violation": {"rates": {Z: 0.0}},
    "zpgpd-rate-violation-theorem-steps": {"rates": {Z: 0.0}},
    "zpgpd-slower-rate": {"rates": {Z: -0.8}},
    "zpgpd-slower-rate-theorem-steps": {"rates": {Z: -0.8}},
    "npgpd-corollary-rate": {"joint": -0.3},
    "npgpd-fewer-people-first": {"growing": 0.05},
    "npgpd-needs-sa-queries": {"size": (5, 20)},
    "zpgpd-few-queries": {"size": (1, 2)},
    "horizon-bias-decays": {"decay": 1.01},
    "trajectories-of-varying-length": {"horizon": 0.06},
}
# Where no error of measurement is possible, nothing can be inconclusive.
EXACT = ("npgpd-needs-sa-queries", "zpgpd-few-queries")


def verdicts(evidence):
    """Verdict by statement."""
    return judge(CLAIMS, evidence).set_index("claim")["verdict"]


def false_evidence(change):
    if "size" in change:
        # Each question is about one of more, or fewer, rounds than these runs would have.
        states, actions = change["size"]
        return Evidence([worlds.member(worlds.make_traces(PAPER), states=states, actions=actions)])
    if all(isinstance(key, str) for key in change):
        return worlds.seed_evidence(PAPER, tables=worlds.make_tables(error=0.0005, **change))
    return worlds.seed_evidence(change)


def only(*names):
    """The statements of the paper, but only some of them."""
    return CLAIMS | {"claims": {name: CLAIMS["claims"][name] for name in names}}


def changed(name, **options):
    """One statement, whose criterion has other options."""
    claim = CLAIMS["claims"][name]
    claim = claim | {"criterion": claim["criterion"] | options}
    return CLAIMS | {"claims": {name: claim}}


@pytest.fixture(scope="module")
def truth():
    return judge(CLAIMS, worlds.seed_evidence(PAPER))


@pytest.mark.parametrize("name", DECIDABLE)
def test_true_statement_is_reproduced(truth, name):
    row = truth.set_index("claim").loc[name]
    assert row["verdict"] == "reproduced"
    assert row["effect"] > 0
    assert row["low"] <= row["estimate"] <= row["high"]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("zpgpd-gap-improves-with-m", "evaluators"),
        ("npgpd-gap-most-gain-16-64", "evaluators"),
        ("horizon-bias-decays", "horizons"),
    ],
)
def test_order_in_which_increasing_numbers_are_listed_changes_nothing(truth, name, key):
    claims = changed(name, **{key: CLAIMS["claims"][name]["criterion"][key][::-1]})
    [row] = judge(claims, worlds.seed_evidence(PAPER)).to_dict("records")
    assert row["verdict"] == "reproduced"
    assert row["criterion"] == truth.set_index("claim").loc[name, "criterion"]


@pytest.mark.parametrize("name", DECIDABLE)
def test_false_statement_is_contradicted(name):
    row = judge(CLAIMS, false_evidence(FALSE[name])).set_index("claim").loc[name]
    assert row["verdict"] == "contradicted"
    assert row["effect"] < 0


@pytest.mark.parametrize("true", [True, False])
def test_noise_makes_everything_inconclusive(true):
    world = PAPER if true else FALSE["npgpd-gap-plateaus"]
    evidence = worlds.seed_evidence(world, noise=5.0, tables=worlds.make_tables(error=5.0))
    found = judge(CLAIMS, evidence).set_index("claim")
    noisy = found.loc[[name for name in DECIDABLE if name not in EXACT]]
    assert set(noisy["verdict"]) == {"inconclusive"}
    assert noisy["why"].str.match(r"on the margin: .* would decide$").all()


def test_table_has_the_columns_that_others_rely_on(truth):
    first = "claim, source, statement, criterion, estimate, low, high, verdict".split(", ")
    assert list(truth.columns) == list(COLUMNS)
    assert list(truth.columns[:8]) == first
    assert len(truth) == len(CLAIMS["claims"])


@pytest.mark.parametrize("name", SIZES + NEVER)
def test_what_nothing_decides_is_inconclusive_and_says_why(truth, name):
    row = truth.set_index("claim").loc[name]
    assert row["verdict"] == "inconclusive"
    assert row["why"].startswith("not asked by ")
    assert np.isnan(row["estimate"])
    assert np.isnan(row["p_reproduced"])


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
    # No gain to share, and no fall: that there is none at all is never shown.
    assert found["npgpd-gap-most-gain-16-64"] == "inconclusive"
    assert found["npgpd-violation-similar-rate"] == "inconclusive"
    for name in (
        "npgpd-gap-falls-fast",
        "npgpd-converges",
        "zpgpd-gap-much-slower",
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
    member = worlds.member(pd.concat(traces), utility_span=utility_span(cmdp))
    found = verdicts(Evidence([member]))
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
    found = verdicts(worlds.evidence(table))
    for name in (
        "npgpd-gap-most-gain-16-64",
        "zpgpd-gap-more-sensitive",
        "zpgpd-gap-improves-with-m",
        "zpgpd-gap-16-markedly-worse",
    ):
        assert found[name] != "reproduced", name


def test_units_do_not_matter():
    """Ten times the values in ten times the range are the same verdicts."""
    traces = worlds.make_traces(PAPER)
    large = traces.copy()
    columns = [name for name in traces if name.endswith(("gap", "violation"))]
    large[columns] *= 10
    one = judge(CLAIMS, worlds.evidence(traces))
    ten = judge(CLAIMS, Evidence([worlds.member(large, utility_span=10 * worlds.SPAN)]))
    pd.testing.assert_frame_equal(one, ten, rtol=1e-6, atol=1e-9)


def test_readings_that_only_look_differently():
    traces = worlds.make_traces(PAPER, noise=0)
    best = {"reward_value": 0.2, "unconstrained": {"reward_value": 0.3}}

    def sample(traces, column, statistic, **look):
        seen = as_read(traces, LOOK | look, best)
        return Evidence([worlds.member(seen)]).samples(Term(N, 256, column, statistic))[1]

    gap = sample(traces, "optimality_gap", "last_quarter", optimum="unconstrained")
    assert gap == pytest.approx(0.104 / (worlds.START + 0.1))
    average = sample(traces, "optimality_gap", "whole", curve="average")
    assert (average > sample(traces, "optimality_gap", "whole")).all()
    safe = worlds.make_traces(worlds.shifted(PAPER, -0.3, (N, 256, "violation")), noise=0)
    violation = "constraint_violation", "last_quarter"
    assert sample(safe, *violation, violation="positive") == pytest.approx(0)
    assert sample(safe, *violation) == pytest.approx(-0.3 / worlds.SPAN)
    seen = as_read(safe, LOOK | {"violation": "positive", "optimum": "unconstrained"}, best)
    assert (seen["mean_constraint_violation"] >= 0).all()
    assert np.allclose(seen["mean_optimality_gap"], safe["mean_optimality_gap"] + 0.1)


def test_runs_of_a_group_are_on_their_own_instances():
    options = {"name": "random", "states": 3, "actions": 2}
    runs = [
        worlds.make_traces(PAPER, 2).assign(group="small", instance=i, optimal_multiplier=i)
        for i in (1, 2)
    ]
    members = list(sources._members(pd.concat(runs), {"small": options}))
    cmdps = [environments.make(options | {"instance": i}) for i in (1, 2)]
    assert [it.utility_span for it in members] == [*map(utility_span, cmdps)]
    assert [it.multiplier for it in members] == [1, 2]


def test_identical_data_are_an_identical_row_whatever_else_is_judged():
    evidence = worlds.seed_evidence(PAPER, noise=0.05)

    def rows(claims):
        table = judge(claims, evidence).astype(object)
        return table.where(table.notna(), None).set_index("claim").to_dict("index")

    every = rows(CLAIMS)
    for name in CLAIMS["claims"]:
        assert rows(only(name)) == {name: every[name]}
    assert rows(only(*reversed(CLAIMS["claims"]))) == every


MARGINS = [name for name in DECIDABLE if "margin" in CLAIMS["claims"][name]["criterion"]]


@pytest.mark.parametrize("name", MARGINS)
@pytest.mark.parametrize("true", [True, False])
def test_verdict_at_any_margin_is_that_of_judging_with_it(name, true):
    evidence = worlds.seed_evidence(PAPER, noise=0.01) if true else false_evidence(FALSE[name])
    row = judge(only(name), evidence).iloc[0]
    edges = row[["reproduced_margin", "contradicted_margin"]].to_numpy(float)
    edges = edges[np.isfinite(edges)]
    near = np.r_[edges - 1e-6, edges + 1e-6, edges.sum() / max(len(edges), 1)]
    for margin in [0, 0.01, 0.1, 0.3, 1.0, 3.0, *near[near > 0]]:
        again = judge(changed(name, margin=float(margin)), evidence).iloc[0]
        assert verdict_at(row, margin) == again["verdict"], margin
        again = again[["reproduced_margin", "contradicted_margin"]].to_numpy(float)
        wanted = row[["reproduced_margin", "contradicted_margin"]].to_numpy(float)
        np.testing.assert_allclose(again, wanted, atol=1e-9)


def test_without_a_margin_the_verdict_is_that_of_the_row(truth):
    row = truth.set_index("claim").loc["npgpd-gap-most-gain-16-64"]
    assert verdict_at(row, 0.0) == verdict_at(row, 10.0) == "reproduced"


def safe_start(world, start=-0.04):
    """The same, but every start is safe, by 0.04, and the end by more than a margin."""
    world = copy.deepcopy(world)
    for key in world:
        if key[2] == "violation":
            world[key] = [start, *np.subtract(world[key][1:], 0.05)]
    return world


@pytest.mark.parametrize("start", [-0.04, 0.0])
def test_safe_start_does_not_make_statements_about_the_violation_fail(start):
    found = judge(CLAIMS, worlds.seed_evidence(safe_start(PAPER, start))).set_index("claim")
    row = found.loc["npgpd-violation-similar-rate"]
    assert row["verdict"] == "inconclusive"
    assert row["why"] == "the start is safe, so there is no violation to decrease"
    others = [name for name in DECIDABLE if name != row.name]
    assert set(found.loc[others, "verdict"]) == {"reproduced"}


def test_curves_of_an_instance_are_paired_and_those_of_a_seed_are_not():
    """What an instance adds to all of its curves does not blur their differences."""
    higher = [worlds.shifted(PAPER, 0.02 * i, (N, 16, "gap"), (N, 64, "gap")) for i in range(5)]
    few, many = (Contrast({Term(N, m, "optimality_gap", "last_quarter"): 1.0}) for m in (16, 64))
    members = [
        worlds.member(worlds.make_traces(world, 2, noise=0.0), instance=i)
        for i, world in enumerate(higher)
    ]
    instances = Evidence(members, unit="instance")
    assert instances.estimate(few).error == pytest.approx(0.02 * np.sqrt(2.5 / 5) / worlds.START)
    assert instances.estimate(few - many).error == pytest.approx(0, abs=1e-9)
    seeds = worlds.seed_evidence(PAPER, noise=0.05)
    errors = [seeds.estimate(contrast).error for contrast in (few, many)]
    assert seeds.estimate(few - many).error == pytest.approx(np.hypot(*errors))


def test_instances_with_a_safe_start_are_left_out_of_falls_only():
    safe = safe_start(PAPER)
    members = [
        worlds.member(worlds.make_traces(world, 2, number=i), instance=i)
        for i, world in enumerate([PAPER, safe, PAPER, safe, PAPER, PAPER])
    ]
    found = judge(CLAIMS, Evidence(members, unit="instance")).set_index("claim")
    assert found.loc["npgpd-violation-similar-rate", "verdict"] == "reproduced"
    assert found.loc["npgpd-violation-similar-rate", "units"] == 4
    assert found.loc["npgpd-violation-overlaps", "units"] == 6


@pytest.mark.parametrize("shift", [-worlds.START, -1.0])
def test_start_at_the_optimum_leaves_no_gap_to_judge(shift):
    traces = worlds.make_traces(PAPER)
    traces["optimality_gap"] += shift
    member = worlds.member(traces)
    found = judge(CLAIMS, Evidence([member])).set_index("claim")
    for name in ("npgpd-gap-falls-fast", "zpgpd-gap-more-sensitive", "npgpd-converges"):
        assert found.loc[name, "verdict"] == "inconclusive"
        why = "the start is no worse than the optimum, so there is no gap to close"
        assert found.loc[name, "why"] == why
    assert found.loc["npgpd-violation-overlaps", "verdict"] == "reproduced"


@pytest.mark.parametrize("curve", ["gap", "violation", "multiplier"])
def test_steady_state_is_one_of_all_three_curves(curve):
    found = judge(CLAIMS, worlds.seed_evidence(drifting(curve))).set_index("claim")
    row = found.loc["zpgpd-gap-steady-state"]
    assert row["verdict"] == "contradicted"
    assert row["part"].startswith(f"|fall of {curve}(64)")


def test_without_a_binding_constraint_no_multiplier_is_judged():
    member = worlds.member(worlds.make_traces(PAPER), multiplier=0.0)
    row = judge(only("zpgpd-gap-steady-state"), Evidence([member])).iloc[0]
    assert row["why"].startswith("the constraint does not bind")


@pytest.mark.parametrize(("share", "verdict"), [(0.8, "reproduced"), (0.95, "contradicted")])
def test_share_of_a_small_gain_is_judged_without_a_margin(share, verdict):
    """A gain of a hundredth, nearly all of it from 16 to 64, is what the words say."""
    small = PAPER
    for m, change in ((16, -0.05), (64, -0.0075), (256, 0.0)):
        small = worlds.shifted(small, change, (N, m, "gap"))
    evidence = worlds.seed_evidence(small, noise=0.0001)
    row = judge(changed("npgpd-gap-most-gain-16-64", share=share), evidence)
    assert row["verdict"].item() == verdict


@pytest.mark.parametrize(("rate", "verdict"), [(-0.3, "reproduced"), (-0.8, "contradicted")])
def test_rates_are_held_against_the_one_that_the_statement_names(rate, verdict):
    for name in ("npgpd-corollary-rate", "npgpd-rate-gap"):
        row = judge(changed(name, rate=rate), worlds.seed_evidence(PAPER))
        assert row["verdict"].item() == verdict


def test_what_only_the_sweeps_know_says_so():
    traces = worlds.make_traces(PAPER)
    found = judge(CLAIMS, worlds.evidence(traces, {"rates": worlds.make_rates()}))
    found = found.set_index("claim")
    why = "not asked by this run; `make claims` has it"
    for name in ("npgpd-global-convergence", "feedback-bias-decreases", "horizon-bias-decays"):
        assert found.loc[name, "why"] == why
    assert found.loc["npgpd-rate-gap", "verdict"] == "reproduced"


def test_bias_is_judged_between_each_horizon_and_the_next():
    parts = make_parts(CLAIMS["claims"]["horizon-bias-decays"]["criterion"])
    assert [part.text(0.1) for part in parts] == [
        text
        for short, long in ((10, 20), (20, 40), (40, 80))
        for text in (
            f"misread({long}) − misread({short}) > 0",
            f"|misread({long}) − γ^{long - short} misread({short})| < 0.1",
        )
    ]


@pytest.mark.parametrize(
    ("name", "curve"),
    [("horizon-bias-decays", "constraint_violation"), ("zpgpd-larger-bias", "optimality_gap")],
)
def test_entries_of_tables_are_in_the_unit_of_their_curve(name, curve):
    parts = make_parts(CLAIMS["claims"][name]["criterion"])
    assert {entry.per for part in parts for entry in part.contrast} == {curve}


def test_entries_are_read_with_their_errors_and_units():
    table = worlds.make_tables(error=0.01)
    evidence = worlds.evidence(worlds.make_traces(PAPER), table)
    where = (("sweep", "horizon"), ("algorithm", N), ("value", 10.0), ("metric", "misread"))
    entry = TableEntry("effects_means", where, "mean", "constraint_violation", 5)
    estimate = evidence.estimate(Contrast({entry: 2.0}))
    factor = 2 * worlds.DISCOUNT**5 / worlds.SPAN
    assert estimate.value == pytest.approx(factor * -0.5 * worlds.DISCOUNT**10)
    quantile = stats.t.ppf(0.975, 7)
    assert estimate.error == pytest.approx(factor * 1.96 * 0.01 / quantile)
    assert estimate.freedom == 7
    table["effects_means"].loc[:, "low"] = np.nan
    with pytest.raises(Undecidable, match=r"effects_means\.csv has no mean with an interval for"):
        evidence.estimate(Contrast({entry: 1.0}))


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ({"test": "converges"}, [{16}, {16}, {64}, {64}, {256}, {256}]),
        ({"test": "equal_across_sizes", "groups": ["a", "b"]}, [{16}, {64}, {256}]),
        ({"test": "worse"}, [{16, 64}, {16, 256}]),
        ({"test": "more_sensitive", "than": N}, [{16, 256}]),
        ({"test": "improves"}, [{16, 64}, {64, 256}, {16, 256}]),
        ({"test": "equivalent"}, [{16, 64}, {16, 256}, {64, 256}]),
    ],
)
def test_criteria_compare_the_numbers_of_people_that_they_name(test, expected):
    options = {"algorithm": Z, "column": "optimality_gap", "statistic": "whole", "margin": 0.1}
    options = {**test, **options, "evaluators": [16, 64, 256]}
    parts = make_parts({it: options[it] for it in argument_schema(test["test"])["properties"]})
    assert [{term.evaluators for term in part.contrast} for part in parts] == expected


def test_sum_of_entries_has_the_smallest_degrees_of_freedom():
    """This errs towards wide intervals: those of Welch and Satterthwaite are at least as large."""
    table = worlds.make_tables(error=0.01)
    evidence = worlds.evidence(worlds.make_traces(PAPER), table)
    means = table["effects_means"]
    means.loc[(means["sweep"] == "horizon") & (means["value"] == 20), "seeds"] = 5
    where = (("sweep", "horizon"), ("algorithm", N), ("metric", "misread"))
    many, few = (TableEntry("effects_means", (*where, ("value", x)), "mean") for x in (10.0, 20.0))
    for contrast in (Contrast({many: 1.0, few: -1.0}), Contrast({few: 1.0, many: -1.0})):
        estimate = evidence.estimate(contrast)
        assert (estimate.freedom, estimate.units) == (4, 5)
        errors = [0.01 * 1.96 / stats.t.ppf(0.975, freedom) for freedom in (7, 4)]
        assert estimate.error == pytest.approx(np.hypot(*errors))


def test_arithmetic_has_no_p_values_and_says_for_which_n_it_fails(truth):
    rows = truth.set_index("claim").loc[list(EXACT)]
    assert set(rows["kind"]) == {"arithmetic"}
    assert rows[["p_reproduced", "p_contradicted"]].isna().all().all()
    few, many = rows["why"]
    assert few == "by construction: 2.025 N questions per iteration / |S||A|; fails for no N"
    assert many == "by construction: 0.075 N questions per iteration / |S||A|; fails for N ≥ 14"
    more = judge(changed(EXACT[0], margin=5), worlds.seed_evidence(PAPER))
    assert more["why"].item().endswith("; fails for N ≤ 2")
    kinds = truth.set_index("claim")["kind"].drop(list(EXACT))
    assert list(kinds.index[kinds == "ours"]) == ["npgpd-converges", "zpgpd-converges"]
    assert set(kinds) == {"measured", "ours"}


class Estimated:
    """Evidence that has these estimates in turn, whatever is asked."""

    unit = "seed"

    def __init__(self, *estimates):
        found = itertools.cycle(estimates)
        self.estimate = lambda contrast: Estimate(*next(found))


def alike(*estimates, evaluators=(16, 64)):
    """Row of the statement that any two M differ by less than 0.1, given what is estimated."""
    test = {"test": "equivalent", "algorithm": N, "column": "optimality_gap", "statistic": "whole"}
    claim = {"source": "line 1", "statement": "alike"}
    claim["criterion"] = {**test, "evaluators": [*evaluators], "margin": 0.1}
    return judge({"level": 0.01, "claims": {"one": claim}}, Estimated(*estimates)).iloc[0]


@pytest.mark.parametrize(("value", "level"), [(0.04, 0.01), (0.16, 0.01 / 2)])
def test_number_that_would_decide_is_for_the_test_that_would(value, level):
    """Two ends share the level of "outside"; the number has two digits."""
    row = alike((value, 0.03, np.inf, 40))
    factor = (stats.norm.isf(level) + stats.norm.isf(0.1)) * 0.03 / 0.06
    assert row["verdict"] == "inconclusive"
    number = round(np.ceil(40 * factor**2), -1)
    assert row["why"] == f"on the margin: about {number:.0f} seeds would decide"
    assert row["low"] == pytest.approx(value - stats.norm.isf(0.01) * 0.03)


def test_of_several_parts_the_one_that_is_clearly_outside_would_decide():
    """Three of them with two ends share the level; units are those of the part with fewest."""
    estimates = (0.13, 0.03, np.inf, 40), (0.16, 0.03, np.inf, 40), (0.0, 0.03, np.inf, 30)
    row = alike(*estimates, evaluators=(16, 64, 256))
    factor = (stats.norm.isf(0.01 / 6) + stats.norm.isf(0.1)) * 0.03 / 0.06
    number = round(np.ceil(40 * factor**2), -1)
    assert row["why"] == f"on the margin: about {number:.0f} seeds would decide"
    assert row["units"] == 30


def test_as_many_as_there_are_do_not_decide():
    """With three of them a normal test would, and Student's does not."""
    row = alike((0.0, 0.02, 2, 3))
    assert row["verdict"] == "inconclusive"
    assert row["why"] == "on the margin: a few more seeds would decide"


def test_inconclusive_names_the_number_of_seeds_that_would_decide():
    """With that number of seeds nine of ten runs decide."""
    name, noise = "npgpd-gap-64-256-identical", 0.012
    world = worlds.shifted(PAPER, 0.012, (N, 64, "gap"))  # 0.08 of the start apart
    row = judge(only(name), worlds.seed_evidence(world, noise, seeds=10)).iloc[0]
    assert row["verdict"] == "inconclusive"
    number = int(row["why"].split("about ")[1].split()[0].replace(",", ""))
    # By hand: both one-sided quantiles, in standard errors of the distance from the edge.
    estimate = worlds.seed_evidence(world, noise, seeds=10).estimate(
        Contrast(
            {
                Term(N, 64, "optimality_gap", "last_quarter"): 1.0,
                Term(N, 256, "optimality_gap", "last_quarter"): -1.0,
            }
        )
    )
    quantiles = stats.norm.ppf(0.99) + stats.norm.ppf(0.9)
    expected = 10 * (quantiles * estimate.error / (0.1 - abs(estimate.value))) ** 2
    assert number == pytest.approx(expected, rel=0.06)


def test_how_many_may_be_wrong_is_said_once_for_the_table(truth):
    tested = truth["p_reproduced"].notna().sum()
    assert tested == len(DECIDABLE) - len(EXACT)
    says = report.expected_errors(truth)
    assert says.startswith(f"{tested} cells were tested, each at level 0.01 in either direction:")
    assert f"at most {0.01 * tested:.2g} wrongly called reproduced" in says
    twice = pd.concat([truth.assign(reading="a"), truth.assign(reading="b")])
    assert f"{2 * tested} cells" in report.as_text(twice)


def test_verdicts_are_counted_and_missing_ones_explained_in_words():
    found = {"verdict": ["reproduced", "inconclusive", "reproduced"], "estimate": [0.2, None, 0.1]}
    table = pd.DataFrame({**found, "why": ["", "no run has M = 64", ""]})
    short = "Of 3 statements 2 are reproduced, 0 contradicted and 1 inconclusive"
    assert report.in_short(table) == short
    assert report.undecided(table) == ["No estimate for 1 of them: no run has M = 64."]


def test_standing_of_a_statement_depends_on_all_its_readings():
    verdicts = {
        "robust": ["reproduced", "inconclusive"],
        "depends on the reading": ["reproduced", "contradicted"],
        "refuted": ["contradicted", "inconclusive"],
        "open": ["inconclusive", "inconclusive"],
    }
    rows = [
        {"claim": kind, "statement": kind.upper(), "reading": reading, "verdict": verdict}
        for kind, found in verdicts.items()
        for reading, verdict in zip("AB", found, strict=True)
    ]
    table = report.standing(pd.DataFrame(rows)).set_index("claim")
    assert (table["kind"] == table.index).all()
    assert list(table["statement"]) == [kind.upper() for kind in verdicts]
    assert list(table["reproduced"]) == [["A"], ["A"], [], []]
    assert list(table["contradicted"]) == [[], ["B"], ["A"], []]
    assert list(table["inconclusive"]) == [["B"], [], ["B"], ["A", "B"]]


def test_contrasts_are_added_weight_by_weight():
    few, many = Contrast(few=1.0), Contrast(many=1.0)
    assert few - 0.25 * (few - many) == {"few": 0.75, "many": 0.25}
    assert few - many - few == {"few": 0.0, "many": -1.0}
    assert few == {"few": 1.0}


def test_slopes_of_infinitely_many_evaluators_are_found_by_none():
    rates = worlds.make_rates()
    rates.loc[rates["evaluators"].isna(), ["slope", "low", "high"]] = [-0.1, -0.2, 0.0]
    by_file = pd.read_csv(io.StringIO(rates.to_csv(index=False)))

    def slope(m):
        where = (("algorithm", N), ("step_rule", "study"), ("evaluators", m), ("metric", "gap"))
        return Contrast({TableEntry("rates", where, "slope"): 1.0})

    for table in (rates, by_file):
        evidence = worlds.evidence(worlds.make_traces(PAPER), {"rates": table})
        slopes = [evidence.estimate(slope(m)).value for m in (256, None)]
        assert slopes == pytest.approx([-0.6, -0.1])
    with pytest.raises(Undecidable, match=r"rates\.csv has no row with .*evaluators 64"):
        evidence.estimate(slope(64))
    twice = worlds.evidence(worlds.make_traces(PAPER), {"rates": pd.concat([rates, rates])})
    with pytest.raises(Undecidable, match=r"rates\.csv has several rows with .*evaluators 256"):
        twice.estimate(slope(256))


def test_curve_is_not_continued_beyond_its_end(monkeypatch):
    """ZPGPD-HF is not slower where it was run for less time than NPGPD-HF."""
    monkeypatch.setitem(worlds.LENGTHS, Z, 500)
    name = "zpgpd-gap-much-slower"
    row = judge(CLAIMS, worlds.seed_evidence(PAPER)).set_index("claim").loc[name]
    assert row["verdict"] == "inconclusive"
    assert row["why"] == "not asked by this run: zpgpd_hf ends before T of npgpd_hf"


def test_tables_of_a_study_without_finite_m_are_not_measured():
    traces = worlds.make_traces(PAPER).query("evaluators == 16").reset_index(drop=True)
    traces["evaluators"] = pd.array([pd.NA] * len(traces), dtype="Int64")
    with pytest.raises(Undecidable, match=r"^not asked by this run: it has no finite M$"):
        worlds.evidence(traces)._unit_of("optimality_gap")


def test_single_runs_are_counted(truth):
    shares = truth.set_index("claim")["single"]
    assert shares["zpgpd-gap-16-markedly-worse"] == 1.0
    noisy = judge(CLAIMS, worlds.seed_evidence(PAPER, noise=0.05)).set_index("claim")["single"]
    assert 0 < noisy["npgpd-gap-64-256-identical"] < 1


def test_statistics_are_means_over_the_windows_that_they_are_named_after():
    """Of a gap that is the share of the run that is over, in units of that of the start."""
    world = tilt(N, "gap", 16, *np.add(worlds.KNOTS, worlds.START))
    evidence = worlds.seed_evidence(world, noise=0)
    middles = {"start": 0, "second_tenth": 0.15, "first_half": 0.25, "third_quarter": 0.625}
    for name, middle in (middles | {"last_quarter": 0.875, "whole": 0.5}).items():
        values = evidence.samples(Term(N, 16, "optimality_gap", name))[1]
        assert values == pytest.approx(1 + middle / worlds.START)


def test_missing_runs_are_undecidable():
    traces = worlds.make_traces(PAPER)
    evidence = worlds.evidence(traces[traces["evaluators"] != 64])
    with pytest.raises(Undecidable, match="npgpd_hf was not run with M = 64"):
        evidence.samples(Term(N, 64, "optimality_gap", "whole"))
    assert verdicts(evidence)["npgpd-gap-64-256-identical"] == "inconclusive"


def test_one_seed_has_no_interval():
    row = judge(CLAIMS, worlds.seed_evidence(PAPER, seeds=1)).set_index("claim")
    assert "one seed has no interval" in row.loc["npgpd-gap-plateaus", "why"]


def test_contrast_is_welchs_test():
    traces = worlds.make_traces(PAPER, noise=0.02)
    evidence = worlds.evidence(traces[traces["evaluators"].eq(16) | traces["seed"].lt(12)])
    terms = [Term(N, m, "optimality_gap", "last_quarter") for m in (16, 64)]
    first, second = (evidence.samples(term)[1] for term in terms)
    estimate = evidence.estimate(Contrast(zip(terms, (1.0, -1.0), strict=True)))
    welch = stats.ttest_ind(first, second, equal_var=False, alternative="greater")
    assert estimate.units == 12  # of the curve that has fewest
    inside, outside = p_values(estimate, 0, np.inf)
    assert inside == pytest.approx(welch.pvalue)
    assert outside == pytest.approx(1 - welch.pvalue)
    interval = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert estimate.interval(0.025) == pytest.approx((interval.low, interval.high))


def test_numbers_of_one_run_are_subtracted_seed_by_seed():
    traces = worlds.make_traces(PAPER, noise=0.02)
    evidence = worlds.evidence(traces)
    terms = [Term(N, 16, "optimality_gap", when) for when in ("third_quarter", "last_quarter")]
    first, second = (evidence.samples(term)[1] for term in terms)
    paired = stats.ttest_rel(first, second, alternative="greater")
    estimate = evidence.estimate(Contrast(zip(terms, (1.0, -1.0), strict=True)))
    inside, _ = p_values(estimate, 0, np.inf)
    assert inside == pytest.approx(paired.pvalue, abs=1e-9)


def test_equivalence_is_two_one_sided_tests():
    estimate = Estimate(0.005, 0.004, 30, 31)
    inside, outside = p_values(estimate, -0.02, 0.02)
    assert inside == pytest.approx(stats.t.sf((0.02 - 0.005) / 0.004, 30))
    assert outside == 1.0
    assert p_values(Estimate(0.0, 0.1, 30, 31), -0.02, 0.02)[0] > 0.3


@pytest.mark.parametrize(
    ("value", "expected"), [(0.01, (0.0, 1.0)), (0.02, (1.0, 0.0)), (0.03, (1.0, 0.0))]
)
def test_without_error_the_edge_is_outside(value, expected):
    assert p_values(Estimate(value, 0.0, np.inf, 2), -0.02, 0.02) == expected
