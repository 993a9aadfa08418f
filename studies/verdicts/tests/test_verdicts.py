"""Statements on synthetic curves where they are true, false or open, and declared error rates."""

import itertools
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from verdicts.judging import Contrast, Runs, judge, own_heights, slopes_by_seed
from verdicts.statements import (
    FIGURE,
    GAP,
    MANY,
    NP,
    STATEMENTS,
    VIOLATION,
    ZP,
    Part,
    Statement,
    chosen,
)

from pgpd_hf.statistics import loglog_slope
from pgpd_hf.tables import read_table, read_traces, write_json

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
ABOUT_FIGURE = [it for it in STATEMENTS.values() if it.source == FIGURE]
LENGTHS = {NP: 100, ZP: 5000}
# For each panel and M: the value that a curve ends with, how fast it gets there, as a share of T,
# and by how much it still moves in the last quarter. Curves begin at the first number of the panel.
TRUE = {
    (NP, GAP): (1.0, {16: (0.2, 0.05, 0), 64: (0.04, 0.05, 0), 256: (0.02, 0.05, 0)}),
    (NP, VIOLATION): (0.5, {m: (-0.1, 0.05, 0) for m in MANY}),
    (ZP, GAP): (1.0, {16: (0.4, 0.1, 0), 64: (0.2, 0.1, 0), 256: (0.15, 0.1, 0)}),
    (ZP, VIOLATION): (0.5, {16: (0.2, 0.1, 0), 64: (0.0, 0.1, 0), 256: (0.01, 0.1, 0)}),
}
HEIGHTS = {name: {GAP: 1.0, VIOLATION: 0.6} for name in LENGTHS}


def traces(place=None, change=None, seeds=20, noise=0.01):
    """Synthetic traces: curves of TRUE but for that of an algorithm, metric and M."""
    random, tables = np.random.default_rng(0), []
    for algorithm, length in LENGTHS.items():
        grid = np.unique(np.concatenate([np.linspace(0, length, 101), np.arange(101.0)]))
        for m in MANY:
            columns = {"algorithm": algorithm, "evaluators": m}
            columns["seed"] = np.repeat(range(seeds), len(grid))
            columns["iteration"] = np.tile(grid, seeds)
            for metric in (GAP, VIOLATION):
                start, ends = TRUE[algorithm, metric]
                end, share, move = change if (algorithm, metric, m) == place else ends[m]
                curve = end + (start - end) * np.exp(-grid / length / share)
                curve += move * np.clip(4 * grid / length - 3, 0, 1)
                own, turn = random.normal(0, noise, (2, seeds, 1))
                columns[metric] = (curve + own * (grid > 0) + turn * grid / length).ravel()
            tables.append(pd.DataFrame(columns))
    return pd.concat(tables)


def verdict_of(name, table, **options):
    row = judge([STATEMENTS[name]], Runs(table, HEIGHTS, **options), 0.01).iloc[0]
    return row["verdict"]


# A curve, with which values a statement is false, and at which values it is on its margin.
CASES = {
    "npgpd_gap_falls_fast": ((NP, GAP, 64), (0.04, 0.6, 0), (0.9, 0.01, 0)),
    "npgpd_gap_plateaus": ((NP, GAP, 16), (0.2, 0.05, -0.5), (0.2, 0.05, -0.2)),
    "npgpd_gap_most_gain_16_64": ((NP, GAP, 64), (0.15, 0.05, 0), (0.11, 0.05, 0)),
    "npgpd_gap_64_256_identical": ((NP, GAP, 64), (0.2, 0.05, 0), (0.12, 0.05, 0)),
    "npgpd_violation_similar_rate": ((NP, VIOLATION, 16), (0.6, 0.05, 0), (-0.1667, 0.05, 0)),
    "npgpd_violation_overlaps": ((NP, VIOLATION, 16), (-0.3, 0.05, 0), (-0.1632, 0.05, 0)),
    "npgpd_feasible_for_every_m": ((NP, VIOLATION, 256), (0.1, 0.05, 0), (0.06, 0.05, 0)),
    "zpgpd_gap_much_slower": ((NP, GAP, 16), (0.6, 0.05, 0), (0.4037, 0.05, 0)),
    "zpgpd_gap_more_sensitive": ((ZP, GAP, 16), (0.25, 0.1, 0), (0.33, 0.1, 0)),
    "zpgpd_gap_improves_with_m": ((ZP, GAP, 16), (0.19, 0.1, 0), (0.25, 0.1, 0)),
    "zpgpd_gap_16_markedly_worse": ((ZP, GAP, 16), (0.25, 0.1, 0), (0.3, 0.1, 0)),
    "zpgpd_gap_steady_state": ((ZP, GAP, 16), (0.4, 0.1, -0.5), (0.4, 0.1, -0.2)),
    "zpgpd_violation_64_256_close": ((ZP, VIOLATION, 64), (0.2, 0.1, 0), (0.0767, 0.1, 0)),
    "zpgpd_violation_64_256_end": ((ZP, VIOLATION, 64), (0.2, 0.1, 0), (0.07, 0.1, 0)),
}


@pytest.mark.parametrize("name", [it.name for it in ABOUT_FIGURE])
def test_statement_is_judged_by_what_is_true(name):
    place, false, margin = CASES[name]
    assert verdict_of(name, traces()) == "reproduced"
    assert verdict_of(name, traces(place, false)) == "contradicted"
    assert verdict_of(name, traces(place, margin, seeds=6, noise=0.02)) == "inconclusive"


def simulated(contrasts, above=-math.inf, below=math.inf, paired=False):
    """Verdict of a statement whose contrasts have given samples."""

    def parts(runs, margin):
        for samples in contrasts:
            keyed = {None if paired else key: values for key, values in enumerate(samples)}
            yield Part("", Contrast(keyed), above, below)

    statement = Statement("", "", "", "", "", None, (), parts)
    return judge([statement], Runs(), 0.01).iloc[0]["verdict"]


@pytest.mark.parametrize(
    ("means", "above", "below", "wrong"),
    [
        ((0.1,), -0.1, 0.1, "reproduced"),  # on the margin, in either direction
        ((0.1,), -0.1, 0.1, "contradicted"),
        ((0.1, 0, 0), -0.1, 0.1, "reproduced"),  # a part of three is on the margin
        ((0, 0, 0), 0, math.inf, "contradicted"),  # all of them are
        ((0, 1, 1), 0, math.inf, "reproduced"),
    ],
)
def test_errors_are_as_rare_as_the_level_says(means, above, below, wrong):
    random, count = np.random.default_rng(0), 2000
    found = 0
    for _ in range(count):
        # Differences of two samples with other numbers and variances.
        contrasts = [(random.normal(it, 0.1, 20), random.normal(0, 0.05, 12)) for it in means]
        found += simulated(contrasts, above, below) == wrong
    assert found <= 0.01 * count + 4 * math.sqrt(0.01 * 0.99 * count)


def test_power_of_60_and_of_300_seeds():
    """Half a margin from the end, with standard deviations of a tenth and two tenths."""
    random, shown = np.random.default_rng(0), {}
    for seeds in (60, 300):
        drawn = random.normal([[0.05], [0]], [[0.2], [0.1]], (400, 2, seeds))
        shown[seeds] = np.mean([simulated([tuple(it)], -0.1, 0.1) == "reproduced" for it in drawn])
    assert 0.2 < shown[60] < 0.5
    assert shown[300] > 0.9


def test_runs_on_an_instance_belong_together():
    shared = np.random.default_rng(0).normal(0, 1, 50)
    samples = (0.2 + shared, -shared)  # the mean of their sum is 0.2, without any variance
    assert simulated([samples], 0, math.inf) == "inconclusive"
    for table, independent in ((traces().assign(instance=1), 1), (traces(), 2)):
        runs = Runs(table, HEIGHTS)
        assert len(runs.gap(ZP, 16, "whole") - runs.gap(NP, 16, "whole")) == independent


def test_equal_runs_are_judged_without_an_error():
    equal = np.full(5, 0.3)
    assert simulated([(equal, -equal)], 0, math.inf) == "contradicted"  # zero is not above zero
    assert simulated([(equal, -0.5 * equal)], 0, math.inf) == "reproduced"


def test_heights_are_those_of_mean_curves_and_the_smaller_counts():
    table = pd.DataFrame(
        {
            "algorithm": np.repeat([NP, ZP], 8),
            "evaluators": np.tile(np.repeat([16, 64], 4), 2),
            "seed": np.tile([0, 0, 1, 1], 4),
            "iteration": np.tile([0, 1], 8),
            GAP: [4, 0, 4, 2, 4, 5, 4, 3, 8, 0, 8, 2, 8, 8, 8, 8],
            VIOLATION: np.zeros(16),
        }
    ).astype({GAP: float})
    assert own_heights(table) == {NP: {GAP: 3, VIOLATION: 0}, ZP: {GAP: 7, VIOLATION: 0}}
    runs = Runs(table)
    assert runs.gap(ZP, 16, "start").estimate()[0] == pytest.approx(8 / 7)
    assert runs.gap(ZP, 16, "start", beside=NP).estimate()[0] == pytest.approx(8 / 3)
    rows = judge([*STATEMENTS.values()], runs, 0.01)
    assert (rows["verdict"] == "not asked").all()  # no M = 256
    assert rows["unit"].eq("own").all()
    assert "M = 256" in rows.set_index("statement").loc["zpgpd_gap_steady_state", "why"]


def test_a_safe_start_is_not_asked_about():
    table = traces()
    table[VIOLATION] -= 1
    assert verdict_of("npgpd_violation_similar_rate", table) == "not asked"
    assert verdict_of("npgpd_feasible_for_every_m", table) == "reproduced"


def test_slopes_are_those_of_means_with_their_errors():
    random = np.random.default_rng(0)
    T = np.repeat([100, 200, 400], 2000)
    gap = T**-0.5 * random.gamma(4, 0.25, len(T))
    table = pd.DataFrame({"T": T, "seed": np.tile(range(2000), 3), "mean_optimality_gap": gap})
    table = table.assign(algorithm=NP, step_rule="study", mean_constraint_violation=-1.0)
    slopes = slopes_by_seed(table, 0.0)
    groups = [gap[T == it] for it in (100, 200, 400)]
    slope, low, high = loglog_slope([100, 200, 400], groups)
    contrast = Runs(slopes=slopes).slope(NP, "study", "lagrangian_gap")
    value, error, _ = contrast.estimate()
    assert value == pytest.approx(slope, abs=1e-9)
    assert 2 * 1.96 * error == pytest.approx(high - low, rel=0.1)
    rows = judge([*STATEMENTS.values()], Runs(slopes=slopes), 0.01).set_index("statement")
    assert rows.loc["npgpd_rate_gap_study", "verdict"] == "reproduced"
    assert "not positive" in rows.loc["npgpd_rate_violation_study", "why"]
    assert rows.loc["zpgpd_slower_rate_study", "verdict"] == "not asked"


@pytest.mark.parametrize(
    ("name", "margin", "told"),
    [
        ("npgpd_gap", None, "STATEMENT: one of npgpd_gap_falls_fast, "),
        ("npgpd_gap_plateaus", -0.1, "MARGIN: a number of at least 0 expected, got -0.1"),
        ("npgpd_gap_plateaus", math.nan, "MARGIN: a number of at least 0"),
        ("npgpd_gap_most_gain_16_64", 0.1, "MARGIN: a STATEMENT that has a margin expected"),
        (None, 0.1, "MARGIN: a STATEMENT that has a margin expected"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(name, margin, told):
    with pytest.raises(ValueError, match=told) as error:
        chosen(name, margin)
    assert "\n" not in str(error.value)


def test_a_margin_of_ones_own_moves_the_interval():
    runs = Runs(traces((NP, GAP, 16), (0.2, 0.05, -0.2)), HEIGHTS)
    row = judge(chosen("npgpd_gap_plateaus", 0.3), runs, 0.01).iloc[0]
    assert (row["verdict"], row["above"], row["below"]) == ("reproduced", -0.3, 0.3)


def test_declaration_is_complete():
    controls = {it for statement in ABOUT_FIGURE for it in statement.fails_on}
    assert controls == DECLARED["controls"].keys()
    assert all(statement.fails_on and statement.refuted_by for statement in ABOUT_FIGURE)
    assert len(ABOUT_FIGURE) == 14
    for panels in DECLARED["heights"].values():
        assert [*panels] == [NP, ZP]
        assert all([*it] == [GAP, VIOLATION] and min(it.values()) > 0 for it in panels.values())


def script(name, *arguments):
    """Run a script of the study, as the workflow does."""
    command = [sys.executable, "-sP", FOLDER / name, *arguments]
    environment = os.environ | {"PYTHONPATH": str(FOLDER.parent)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_wrong_data_fail_the_statements_that_have_to(tmp_path):
    def write(name, table):
        for algorithm, part in table.groupby("algorithm"):
            path = tmp_path / "runs" / name / algorithm / "seeds0000-0019.csv"
            path.parent.mkdir(parents=True)
            part.to_csv(path, index=False)

    right = traces()
    start = right.groupby(["algorithm", "seed"])[[GAP, VIOLATION]].transform("first")
    flat, of_256 = right.assign(**start), right["evaluators"] == 256
    write("default", right)
    write("no-primal-step", flat)
    write("votes-flipped", right.assign(**{GAP: 2 - right[GAP]}))
    exact = right.groupby(["algorithm", "iteration"])[[GAP, VIOLATION]].transform("mean")
    write("exact-gradients", right.assign(**exact))  # the same for all M and seeds
    write("multiplier-frozen", right.assign(**{VIOLATION: 1 - right[VIOLATION]}))
    write("random-256", pd.concat([right[~of_256], flat[of_256]]))
    setting = {key: DECLARED[key] for key in ("level", "controls")}
    setting |= {"heights": {"default": HEIGHTS}, "names": [*DECLARED["controls"]]}
    write_json({"multiplier": 0.3}, tmp_path / "optimum.json")
    files = [*tmp_path.glob("runs/*/*/*.csv")]
    result = script(
        "judge.py",
        *("--setting", json.dumps(setting), "--optimum", tmp_path / "optimum.json"),
        *("--runs", *files, "--table", tmp_path / "controls.csv"),
    )
    assert result.returncode == 0, result.stderr
    table = read_table(tmp_path / "controls.csv")
    assert len(table) == 14 * len(DECLARED["controls"])
    assert set(table[table["has_to_fail"]]["verdict"]) == {"contradicted"}
    assert set(table[~table["has_to_fail"]]["verdict"]) > {"reproduced"}


EXPERIMENT = {
    "purpose": "typical",
    "horizon": 4,
    "link": "logistic",
    "evaluators": [16, 256],
    "environment": {"states": 4, "actions": 2, "discount": 0.5, "threshold": 0.55, "instance": 3},
    "algorithms": {NP: {"iterations": 6, "primal_step": 0.1, "dual_step": 0.1}},
}


def runs_of(tmp_path, variant, first, last):
    path = tmp_path / f"seeds{first:04d}-{last:04d}.csv"
    given = {"--experiment": json.dumps(EXPERIMENT), "--variant": json.dumps(variant)}
    given |= {"--algorithm": NP, "--table": path}
    words = itertools.chain(*given.items(), ("--block", str(first), str(last)))
    result = script("runs.py", *words)
    assert result.returncode == 0, result.stderr
    return read_traces([path])


def test_runs_differ_in_what_a_variant_says(tmp_path):
    usual = runs_of(tmp_path, {}, 0, 1)
    changed = runs_of(tmp_path, {"only": 256, "all": {"random_answers": 1}}, 0, 1)
    same = (usual[GAP] == changed[GAP]).groupby(usual["evaluators"]).all()
    assert same.to_dict() == {16: True, 256: False}
    exact = runs_of(tmp_path, {"exact": True}, 0, 1)
    keys = ["algorithm", "evaluators", "seed", "iteration"]
    assert exact[keys].equals(usual[keys])
    assert (exact.groupby("iteration")[GAP].nunique() == 1).all()


def test_fresh_instances_are_the_first_that_bind(tmp_path):
    variant = {"purpose": "unseen", "seeds": 2, "first": 10, "instances": 4}
    table = runs_of(tmp_path, variant, 2, 3)
    found = table.groupby("seed")["instance"].unique().explode().to_dict()
    whole = runs_of(tmp_path, variant, 0, 3)
    assert whole[whole["seed"] >= 2].reset_index(drop=True).equals(table)
    numbers = whole["instance"].unique()
    assert [*numbers] == sorted(numbers)
    assert found == {2: numbers[2], 3: numbers[3]}
