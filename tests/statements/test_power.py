"""The power of the tests, and the units they need, by formula and by simulation."""

from pathlib import Path

import numpy as np
import pytest
import worlds
import yaml
from scipy import stats

from replication.statements.declaration import load_claims
from replication.statements.power import power_table
from replication.statements.verdicts import judge

ROOT = Path(__file__).parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/claims.schema.yaml").read_text())
CLAIMS = load_claims(ROOT / "config/claims.yaml", SCHEMA)
EQUAL, STEADY = "npgpd-gap-64-256-identical", "zpgpd-gap-steady-state"


# Squared sum of the quantiles of a test with two ends and one part.
FACTOR = (stats.norm.isf(0.01 / 2) + stats.norm.isf(0.1)) ** 2


def rows(evidence, claims=CLAIMS):
    return power_table(claims, evidence).set_index("claim")


def noisy(noise, seeds=30):
    return worlds.seed_evidence(worlds.paper(), noise=noise * worlds.START, seeds=seeds)


def test_every_tested_statement_has_a_row():
    evidence = noisy(0.1)
    tested = judge(CLAIMS, evidence).query("estimate.notna() and kind != 'arithmetic'")
    assert list(power_table(CLAIMS, evidence)["claim"]) == list(tested["claim"])


def test_power_falls_with_noise_and_rises_with_the_alternative():
    quiet, loud = (rows(noisy(noise)).loc[EQUAL] for noise in (0.02, 0.3))
    assert quiet["power"] > 0.999
    freedom, distance = 58, 0.05 / loud["error"]  # of two samples with equal spread, in errors
    contradicted = stats.nct.sf(stats.t.isf(0.01 / 2, freedom), freedom, distance)
    assert loud["power"] == pytest.approx(contradicted, rel=0.01)  # the less likely verdict
    assert loud["needed"] == pytest.approx((loud["error"] / 0.05) ** 2 * 30 * FACTOR, rel=0.01)
    wider = rows(noisy(0.3), CLAIMS | {"alternative": 0.2}).loc[EQUAL]
    assert wider["alternative"] == 0.2
    assert wider["power"] > loud["power"]
    assert wider["needed"] == pytest.approx(loud["needed"] / 16, rel=0.05)


def test_of_many_parts_all_have_to_be_shown():
    evidence = noisy(0.1)
    one, nine = rows(evidence).loc[[EQUAL, STEADY]].itertuples()
    assert one.needed == np.ceil((one.error / 0.05) ** 2 * 30 * FACTOR)
    many = stats.norm.isf(0.01) + stats.norm.isf(0.1 / 9)
    contradicted = stats.norm.isf(0.01 / 18) + stats.norm.isf(0.1)
    assert nine.needed == np.ceil((max(many, contradicted) * nine.error / 0.05) ** 2 * 30)


def test_statements_about_sweeps_need_seeds_of_sweeps():
    tables = worlds.make_tables(error=0.03)
    tables["schedules"]["seeds"] = 15
    found = rows(worlds.seed_evidence(worlds.paper(), tables=tables))
    one_end = (stats.norm.isf(0.01) + stats.norm.isf(0.1)) ** 2
    for claim, seeds in (("npgpd-rate-gap", worlds.SWEEP_SEEDS), ("npgpd-fewer-people-first", 15)):
        row = found.loc[claim]
        assert (row["unit"], row["units"]) == ("seed", seeds)
        assert row["needed"] == np.ceil((row["error"] / 0.05) ** 2 * seeds * one_end)
    # Either of two parts is missed with a probability above one half.
    assert found.loc["npgpd-global-convergence", "power"] == 0
    both = found.loc["zpgpd-slower-rate"]  # of two slopes
    assert both["error"] == pytest.approx(0.03 * np.sqrt(2), rel=1e-3)
    assert both["units"] == worlds.SWEEP_SEEDS


def test_intervals_of_means_are_students_and_others_normal():
    tables = worlds.make_tables(error=0.03)
    found = rows(worlds.seed_evidence(worlds.paper(), tables=tables))
    assert found.loc["npgpd-corollary-rate", "error"] == pytest.approx(0.03, rel=1e-3)
    student = 1.96 * 0.03 / stats.t.isf(0.025, worlds.SWEEP_SEEDS - 1) / worlds.START
    mean = found.loc["zpgpd-larger-bias", "error"]
    assert mean == pytest.approx(2 * student, rel=1e-3)  # of four means


@pytest.mark.parametrize("side", [-1, 1])
def test_needed_units_decide_nine_times_of_ten(side):
    """t tests of that many normal seeds, at the alternative inside and outside the margin."""
    row = rows(noisy(0.3)).loc[EQUAL]
    spread, count = row["error"] * np.sqrt(row["units"]), int(row["needed"])
    margin = CLAIMS["claims"][EQUAL]["criterion"]["margin"]
    random, repetitions = np.random.default_rng(4), 2000
    samples = random.normal(margin + side * 0.05, spread, (repetitions, count))
    level = CLAIMS["level"] / (1 if side < 0 else 2)
    p = stats.ttest_1samp(samples, margin, axis=1).pvalue / 2
    decided = (p <= level) & (np.sign(samples.mean(1) - margin) == side)
    # A share of 0.9 would be missed by so much with probability 1e-4.
    assert decided.sum() >= stats.binom.ppf(1e-4, repetitions, 0.9)
