"""Statements on synthetic runs on either side of each margin, tests, readings, runs of variants."""

import itertools
import json
import runpy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import stats
from verdicts.judging import Contrast, Runs, judge, own_heights, slopes_by_seed
from verdicts.statements import GAP, NP, STATEMENTS, VIOLATION, ZP, Part, chosen

from pgpd_hf import random_cmdp, run
from pgpd_hf.optimum import utility_range
from pgpd_hf.statistics import loglog_slope
from pgpd_hf.tables import read_table, write_json

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
EXPERIMENT = yaml.safe_load((FOLDER.parents[1] / "config/config.yaml").read_text())
ABOUT_FIGURE = [it for it in STATEMENTS.values() if it.source == "line 606"]
ABOUT_RATES = [it for it in STATEMENTS.values() if it not in ABOUT_FIGURE]
MANY, LATE = (16, 64, 256), "last quarter"
LENGTHS = {NP: 40, ZP: 160}
HEIGHTS = {NP: {GAP: 2.0, VIOLATION: 0.5}, ZP: {GAP: 4.0, VIOLATION: 0.5}}
# Curves in heights of their panels: a level until a share of T, and then another for each M.
TRUE = {
    (NP, GAP): (1.0, 0.1, {16: 0.2, 64: 0.04, 256: 0.02}),
    (NP, VIOLATION): (0.8, 0.1, {16: -0.2, 64: -0.2, 256: -0.2}),
    (ZP, GAP): (1.0, 0.3, {16: 0.4, 64: 0.2, 256: 0.15}),
    (ZP, VIOLATION): (0.8, 0.3, {16: 0.3, 64: 0.0, 256: 0.0}),
}
SHARES = {
    "second tenth": (1 / 10, 2 / 10),
    "first half": (0, 1 / 2),
    "third quarter": (2 / 4, 3 / 4),
    "last quarter": (3 / 4, 1),
    "last of NPGPD-HF": (3 / 16, 1 / 4),  # its last quarter, in shares of ZPGPD-HF's T
    "whole": (0, 1),
}
SIDES = ((-0.02, "reproduced"), (0, "inconclusive"), (0.02, "contradicted"))  # of a margin


def traces(shifts=None, seeds=10):
    """Synthetic traces: TRUE, but that means of curves over windows are shifted; centred noise."""
    random, tables = np.random.default_rng(0), []
    share = np.unique(np.linspace(0, 1, 81) + [[-1e-6], [0], [1e-6]])[1:-1]
    for algorithm, m in itertools.product(LENGTHS, MANY):
        columns = {"seed": np.repeat(range(seeds), len(share)), "evaluators": m}
        columns["iteration"] = np.tile(share * LENGTHS[algorithm], seeds)
        for metric in (GAP, VIOLATION):
            start, until, ends = TRUE[algorithm, metric]
            curve = np.where(share < until, start, ends[m])
            for (*place, window), shift in (shifts or {}).items():
                first, last = SHARES[window]
                if place == [algorithm, metric, m]:
                    inside = (share >= first) & (share <= last) & (share > 0)
                    curve += 2 * shift * (last - share) / (last - first) * inside
            whole, late = random.normal(0, 0.005, (2, seeds, 1))
            moves = (whole - whole.mean()) * (share > 0) + (late - late.mean()) * (share > 0.75)
            columns[metric] = (HEIGHTS[algorithm][metric] * (curve + moves)).ravel()
        tables.append(pd.DataFrame(columns).assign(algorithm=algorithm))
    return pd.concat(tables)


def judged(name, runs):
    return judge([STATEMENTS[name]], runs, 0.01).iloc[0]


def on_margins():
    """Statements, and shifts that put one part on its margin, each with the sign of what is false.

    Units are heights; ZPGPD-HF's gap is the double in those of NPGPD-HF.
    """
    for m in MANY:
        ours = TRUE[NP, GAP][2][m]
        yield "npgpd_gap_falls_fast", {(NP, GAP, m, LATE): (0.9 - ours, 1)}
        yield "npgpd_gap_falls_fast", {(NP, GAP, m, "second tenth"): ((1 - ours) / 2, 1)}
        yield "npgpd_violation_similar_rate", {(NP, VIOLATION, m, LATE): (1.0, 1)}
        yield "npgpd_feasible_for_every_m", {(NP, VIOLATION, m, LATE): (0.3, 1)}
        yield "zpgpd_gap_much_slower", {(ZP, GAP, m, "last of NPGPD-HF"): (ours / 2 - 0.75, -1)}
        for sign in (1, -1):
            yield "npgpd_gap_plateaus", {(NP, GAP, m, "third quarter"): (0.1 * sign, sign)}
            yield "zpgpd_gap_steady_state", {(ZP, GAP, m, "third quarter"): (0.1 * sign, sign)}
    for one, other in itertools.permutations(MANY, 2):
        for name, window in (("similar_rate", "first half"), ("overlaps", "whole")):
            pair = {(NP, VIOLATION, one, window): (0.05, 1)}
            yield f"npgpd_violation_{name}", pair | {(NP, VIOLATION, other, window): (-0.05, -1)}
    for sign, end in ((1, 0.12), (-1, -0.08)):
        yield "npgpd_gap_64_256_identical", {(NP, GAP, 64, LATE): (end - 0.04, sign)}
        yield "zpgpd_violation_64_256_close", {(ZP, VIOLATION, 64, "whole"): (0.1 * sign, sign)}
        yield "zpgpd_violation_64_256_end", {(ZP, VIOLATION, 64, LATE): (0.1 * sign, sign)}
    yield "npgpd_gap_most_gain_16_64", {(NP, GAP, 256, LATE): (0.18, 1)}
    yield "npgpd_gap_most_gain_16_64", {(NP, GAP, 64, LATE): (0.07, 1)}
    yield "zpgpd_gap_more_sensitive", {(ZP, GAP, 16, LATE): (-0.16, -1)}
    yield "zpgpd_gap_more_sensitive", {(NP, GAP, 256, LATE): (-0.32, -1)}
    yield "zpgpd_gap_improves_with_m", {(ZP, GAP, 64, LATE): (0.2, 1)}
    yield "zpgpd_gap_improves_with_m", {(ZP, GAP, 64, LATE): (-0.05, -1)}
    yield "zpgpd_gap_improves_with_m", {(ZP, GAP, 16, LATE): (-0.15, -1)}
    yield "zpgpd_gap_16_markedly_worse", {(ZP, GAP, 64, LATE): (0.1, 1)}
    yield "zpgpd_gap_16_markedly_worse", {(ZP, GAP, 256, LATE): (0.15, 1)}


@pytest.mark.parametrize("statement", ABOUT_FIGURE, ids=lambda it: it.name)
def test_a_statement_is_as_true_as_each_of_its_parts(statement):
    decided = set()
    for case in (it for name, it in on_margins() if name == statement.name):
        for by, verdict in SIDES:
            shifts = {place: shift + sign * by for place, (shift, sign) in case.items()}
            row = judged(statement.name, Runs(traces(shifts), HEIGHTS))
            assert row["verdict"] == verdict, shifts
        decided.add(row["part"])  # which is false
    yielded = statement.parts(Runs(traces(), HEIGHTS), statement.margin)
    assert decided == {it.label for it in yielded if isinstance(it, Part)}


def test_of_parts_that_all_hold_the_nearest_to_an_end_is_shown():
    """However small their p values are: the far part has the larger one here."""
    noise = np.tile([-1.0, 1.0], 20)
    far, near = Contrast({0: -0.4 + 0.2 * noise}), Contrast({0: 0.05 + 0.001 * noise})
    parts = [Part(name, it, -np.inf, 0.1) for name, it in (("far", far), ("near", near))]
    statement = replace(STATEMENTS["zpgpd_rate_gap_study"], parts=lambda *_: parts)
    row = judge([statement], Runs(), 0.01).iloc[0]
    assert (row["verdict"], row["part"]) == ("reproduced", "near")
    assert stats.ttest_1samp(-0.4 + 0.2 * noise, 0.1).pvalue == pytest.approx(
        2 * row["p_reproduced"]
    )


@pytest.mark.parametrize("statement", ABOUT_RATES, ids=lambda it: it.name)
def test_a_rate_is_as_true_as_its_exponent(statement):
    name, noise = statement.name, np.tile([-0.01, 0.01], 10)
    metric = "violation" if "violation" in name else "lagrangian_gap"
    end, sign = (-0.3, -1) if "slower" in name else ({NP: -0.4, ZP: -0.15}[statement.about], 1)
    keys = [*itertools.product((NP, ZP), ("study", "theorem"), ("lagrangian_gap", "violation"))]
    for by, verdict in SIDES:
        slopes = dict.fromkeys(keys, noise - 0.3)  # of what is not asked about
        slopes[statement.about, name.rpartition("_")[2], metric] = end + sign * by + noise
        assert judged(name, Runs(slopes=slopes))["verdict"] == verdict


def test_verdicts_and_intervals_are_those_of_welchs_test():
    """Few values with a large variance, and many with a small one; two parts with two ends each."""
    random = np.random.default_rng(0)
    few, many = random.normal(1.2, 0.5, 4), random.normal(0, 0.1, 40)
    parts = 2 * [Part("", Contrast({0: few, 1: -many}), -0.2, 0.3)]
    statement = replace(STATEMENTS["zpgpd_rate_gap_study"], parts=lambda *_: parts)
    above = stats.ttest_ind(few + 0.2, many, equal_var=False, alternative="greater").pvalue
    below = stats.ttest_ind(few - 0.3, many, equal_var=False, alternative="less").pvalue
    both = {"reproduced": max(above, below), "contradicted": 4 * min(1 - above, 1 - below)}
    row = judge([statement], Runs(), 0.01).iloc[0]
    ends = stats.ttest_ind(few, many, equal_var=False).confidence_interval(0.98)
    assert (row["low"], row["high"]) == pytest.approx(tuple(ends))
    for verdict, p in both.items():
        assert row[f"p_{verdict}"] == pytest.approx(p)
        without, shown = (judge([statement], Runs(), it * p).iloc[0] for it in (0.999, 1.001))
        assert without["verdict"] != shown["verdict"] == verdict


def test_errors_are_rare_and_what_is_true_is_found():
    """On the margin with 12 seeds, and half a margin inside with 60 and with 300."""
    random, found = np.random.default_rng(0), {}
    for mean, seeds in ((0.1, 12), (0.05, 60), (0.05, 300)):
        rows = []
        for drawn in random.normal([[mean], [0]], [[0.2], [0.1]], (1000, 2, seeds)):
            parts = [Part("", Contrast(dict(enumerate(drawn))), -0.1, 0.1)]
            statement = replace(STATEMENTS["zpgpd_rate_gap_study"], parts=lambda *_, it=parts: it)
            rows.append(judge([statement], Runs(), 0.01))
        found[seeds] = pd.concat(rows)["verdict"].value_counts(normalize=True)
    wrong = found[12].drop("inconclusive")  # as rare as the level, by four standard errors
    assert (wrong <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 1000)).all()
    assert 0.2 < found[60]["reproduced"] < 0.5 < 0.9 < found[300]["reproduced"]


def test_heights_are_those_of_mean_curves_and_what_is_missing_is_not_asked():
    table = traces()
    for it, independent in ((table.assign(instance=1), 1), (table, 2)):  # an instance is one draw
        runs = Runs(it, HEIGHTS)
        assert len(runs.gap(ZP, 16, "whole") - runs.gap(NP, 16, "whole")) == independent
    found = [own_heights(table)[name][metric] for name, metric in TRUE]
    assert found == pytest.approx([0.98 * 2, 1.0 * 0.5, 0.85 * 4, 0.8 * 0.5])
    rows = judge(ABOUT_FIGURE, Runs(table[table["evaluators"] < 256]), 0.01)
    assert {*rows["verdict"]} == {"not asked"}
    assert "M = 256" in rows["why"].iloc[0]
    table[VIOLATION] -= 1  # the first policy is safe
    runs = Runs(table, HEIGHTS)
    assert judged("npgpd_violation_similar_rate", runs)["verdict"] == "not asked"
    assert judged("npgpd_feasible_for_every_m", runs)["verdict"] == "reproduced"


def test_slopes_are_those_of_means_with_their_errors():
    """Averages fall as 1/sqrt(T): the Lagrangian gap, and violations, half below zero."""
    random, lengths = np.random.default_rng(0), np.array([100, 200, 400])
    T = np.repeat(lengths, 2000)
    falling = T**-0.5 * random.gamma(4, 0.25, len(T))
    excess = np.where(random.random(len(T)) < 0.5, 2 * falling, -1.0)
    table = pd.DataFrame({"T": T, "seed": np.tile(range(2000), 3), "algorithm": NP})
    table = table.assign(step_rule="study", mean_constraint_violation=excess)
    slopes = slopes_by_seed(table.assign(mean_optimality_gap=falling - 3 * excess), 3)
    for metric, values in (("lagrangian_gap", falling), ("violation", excess.clip(min=0))):
        slope, low, high = loglog_slope(lengths, [values[T == it] for it in lengths])
        value, error, _ = Runs(slopes=slopes).slope(NP, "study", metric).estimate()
        assert value == pytest.approx(slope, abs=1e-9)
        assert 2 * 1.96 * error == pytest.approx(high - low, rel=0.1)
    runs = Runs(slopes=slopes_by_seed(table.assign(mean_optimality_gap=-1), 0))
    assert "not positive" in judged("npgpd_rate_gap_study", runs)["why"]
    assert judged("zpgpd_slower_rate_study", runs)["verdict"] == "not asked"


def test_declaration_is_complete():
    controls = {it for statement in ABOUT_FIGURE for it in statement.fails_on}
    assert controls == DECLARED["controls"].keys()
    assert [it.margin for it in chosen("npgpd_gap_plateaus", 0.3)] == [0.3]
    assert all(statement.fails_on and statement.refuted_by for statement in ABOUT_FIGURE)


@pytest.fixture
def script(monkeypatch):
    """Function that runs a script of the study, with arguments as in its workflow."""

    def run_script(name, **given):
        words = [name]
        for key, it in given.items():
            told = it if isinstance(it, list) else [json.dumps(it) if isinstance(it, dict) else it]
            words += [f"--{key}", *map(str, told)]
        monkeypatch.setattr(sys, "argv", words)
        runpy.run_path(str(FOLDER / name))

    return run_script


def test_wrong_data_and_readings_are_judged_as_declared(tmp_path, script):
    right = traces()
    start = right.groupby(["algorithm", "seed"])[[GAP, VIOLATION]].transform("first")
    flat, of_256 = right.assign(**start), right["evaluators"] == 256
    exact = right.groupby(["algorithm", "iteration"])[[GAP, VIOLATION]].transform("mean")
    tables = {
        "default": right,
        "no-primal-step": flat,
        "votes-flipped": right.assign(**{GAP: 2 * start[GAP] - right[GAP]}),
        "exact-gradients": right.assign(**exact),  # the same for all M and seeds
        "multiplier-frozen": right.assign(**{VIOLATION: 1 - right[VIOLATION]}),
        "random-256": pd.concat([right[~of_256], flat[of_256]]),
    }
    for name, table in tables.items():
        path = tmp_path / name / "both/seeds0000-0009.csv"
        path.parent.mkdir(parents=True)
        means = {f"mean_{it}": 0.5 * table[it] for it in (GAP, VIOLATION)}
        table.assign(**means).to_csv(path, index=False)
    readings = ["default", "running-average", "positive-violation", "unconstrained-optimum"]
    setting = {key: DECLARED[key] for key in ("level", "controls")}
    setting |= {"heights": {"default": HEIGHTS}, "names": [*DECLARED["controls"], *readings]}
    optimum, path = tmp_path / "optimum.json", tmp_path / "verdicts.csv"
    write_json({"reward_value": 0.5, "unconstrained": {"reward_value": 1.3}}, optimum)
    files = [*tmp_path.glob("*/*/*.csv")]
    script("judge.py", setting=setting, optimum=optimum, runs=files, table=path)
    table = read_table(path)
    assert [*table["data"].value_counts()] == [14] * len(setting["names"])
    controls = table[~table["data"].isin(readings)].groupby("has_to_fail")["verdict"].unique()
    assert set(controls[True]) == {"contradicted"}
    assert set(controls[False]) > {"reproduced"}
    table = table.set_index(["statement", "data"])
    feasible = table.loc["npgpd_feasible_for_every_m"].loc[readings]
    sensitive = table.loc["zpgpd_gap_more_sensitive"].loc[["votes-flipped", *readings]]
    assert [*feasible["estimate"]] == pytest.approx([-0.2, -0.1, 0, -0.2])
    assert [*sensitive["estimate"]] == pytest.approx([-0.68, 0.32, 0.16, 0.32, 0.32])
    assert [*sensitive["ratio_npgpd_hf"]] == pytest.approx([10, 10, 10, 10, 0.6 / 0.42])


SMALL = {"iterations": 6, "horizon": 4, "primal_step": 0.1, "dual_step": 0.1}


@pytest.fixture
def runs_of(tmp_path, script):
    """Function from a variant to its runs of NPGPD-HF."""

    def run_variant(variant, first, last, options=SMALL):
        experiment, path = EXPERIMENT | {"algorithms": {NP: options}}, tmp_path / "runs.csv"
        given = {"experiment": experiment, "variant": variant, "block": [first, last]}
        script("runs.py", **given, algorithm=NP, table=path)
        return read_table(path)

    return run_variant


def gaps_of(purpose, evaluators, seeds=(0, 1), environment=None, **options):
    """Gaps of runs that the library makes."""
    cmdp = random_cmdp(**EXPERIMENT["environment"] | (environment or {}))
    given = SMALL | {"evaluators": evaluators, "purpose": purpose, "seeds": seeds} | options
    return [*run(cmdp, NP, **given)["optimality_gap"]]


def test_runs_differ_in_what_a_variant_says(runs_of):
    def gaps(**variant):
        return [[*it] for _, it in runs_of(variant, 0, 1).groupby("evaluators")[GAP]]

    assert gaps() == [gaps_of("typical", m) for m in MANY]
    cmdp = {"threshold": 0.6}
    variant = {"purpose": "unseen", "environment": cmdp, "only": 256, ZP: {"rounds": 3}}
    changed = gaps(**variant, all={"rounds": 2, "dual_step": 1}, **{NP: {"dual_step": "theorem"}})
    assert changed[:2] == [gaps_of("unseen", m, environment=cmdp) for m in (16, 64)]
    assert changed[2] == gaps_of("unseen", 256, environment=cmdp, rounds=2, dual_step=None)
    exact = gaps(exact=True)
    assert exact == [exact[0][:7] * 2] * 3  # the same for all M and seeds


def test_fresh_instances_are_the_first_that_bind_with_random_numbers_of_their_own(runs_of):
    table = runs_of({"purpose": "unseen", "seeds": 2, "first": 10, "instances": 4}, 2, 3)
    environments = [EXPERIMENT["environment"] | {"instance": it} for it in range(10, 30)]
    ranges = [utility_range(random_cmdp(**it)) for it in environments]
    binding = [it for it, (unsafe, safest) in enumerate(ranges, 10) if unsafe < 0.55 < safest]
    for place in (2, 3):
        found = table[(table["seed"] == place) & (table["evaluators"] == 16)]
        assert [*found["instance"].unique()] == binding[place : place + 1]
        environment = {"instance": binding[place]}
        gaps = gaps_of(f"unseen, instance {binding[place]}", 16, environment=environment)
        assert [*found[GAP]] == pytest.approx(np.reshape(gaps, (2, 7)).mean(0), rel=1e-12)


def test_verdicts_in_a_committed_table_come_out_again(runs_of):
    table = runs_of({}, 0, 19, EXPERIMENT["algorithms"][NP])
    about = [it for it in ABOUT_FIGURE if it.about == NP]
    found = judge(about, Runs(table, DECLARED["heights"]["default"]), DECLARED["level"])
    readings = read_table(FOLDER / "tables/readings.csv")
    committed = readings[readings["data"] == "figure"].iloc[: len(about)]
    names, numbers = ["statement", "verdict", "part"], ["estimate", "low", "high"]
    assert (found[names].to_numpy() == committed[names].to_numpy()).all()
    np.testing.assert_allclose(found[numbers], committed[numbers], rtol=1e-6)


def test_levels_of_violations_differ_by_more_than_the_margin():
    """By the older form of "insensitive", which compared them (docs/choices.md), it would fail.

    Over the last quarter, between the ends of both intervals, and in the mean by a quarter.
    """
    table = read_table(FOLDER / "tables/environments.csv").query("algorithm == @NP")
    height = np.ptp(table[VIOLATION])
    few, many = (
        table[table["evaluators"] == M].set_index("iteration").loc[1500:] for M in (16, 256)
    )
    assert ((many[VIOLATION] - few[VIOLATION]).mean() / height) > 0.25
    assert ((many[f"{VIOLATION}_low"] - few[f"{VIOLATION}_high"]) / height > 0.1).all()
