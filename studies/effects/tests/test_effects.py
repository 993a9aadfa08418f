"""What is run under which name, how phases are joined, and how slopes and outcomes are read."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from effects.effects import METRICS, compare, excess, lagrangian_gap, promised, slope_table
from effects.runs import run_case, run_schedule
from effects.sweeps import STREAMS, cases
from scipy import stats

from pgpd_hf import random_cmdp, run, solve

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
EXPERIMENT = yaml.safe_load((FOLDER.parents[1] / "config/config.yaml").read_text())
CMDP = random_cmdp(3, 2, 1, discount=0.5)
OPTIMUM = solve(CMDP)


def cases_of(sweep, algorithm):
    given = DECLARED["sweeps"][sweep]
    grid = {key: it for key, it in given["algorithms"][algorithm].items() if key != "seeds"}
    return cases(EXPERIMENT, sweep, given["varies"], algorithm, grid)


def test_names_of_random_streams_are_as_they_have_always_been():
    first = cases_of("evaluators", "zpgpd_hf")[0]
    assert first.purpose == (
        'typical: sweep people: {"directions": "sphere", "dual_step": 0.003, "evaluators": 4, '
        '"horizon": 80, "iterations": 100000, "link": "logistic", "pairs": 1, '
        '"parameterization": "direct", "perturbation": null, "primal_step": 0.001, '
        '"step_rule": "study"}'
    )
    last = cases_of("rounds", "npgpd_hf")[-1]
    assert last.purpose == (
        'typical: sweep pairs: {"dual_step": 0.1, "evaluators": null, "horizon": 80, '
        '"iterations": 2000, "link": "logistic", "pairs": 16, "primal_step": 0.1, '
        '"step_rule": "study"}'
    )


def test_no_two_cases_share_random_numbers_and_every_schedule_has_a_name():
    found = [
        (algorithm, case.purpose)
        for sweep, given in DECLARED["sweeps"].items()
        if sweep != "schedules"
        for algorithm in given["algorithms"].keys() - {"npg_pd", "pg_pd"}
        for case in cases_of(sweep, algorithm)
    ]
    assert len(set(found)) == len(found) == 117
    names = {*DECLARED["sweeps"], *DECLARED["sweeps"]["schedules"]["phases"]}
    assert names - {"schedules"} == STREAMS.keys()


def test_step_sizes_follow_their_rule():
    steps = {
        (case.curve, case.iterations): [case.options[it] for it in ("primal_step", "dual_step")]
        for name in ("npgpd_hf", "zpgpd_hf", "npg_pd")
        for case in cases_of("iterations", name)
    }
    assert steps["M = 64, theorem steps", 8000] == [None, None]
    assert steps["M = 64, study steps", 8000] == pytest.approx([0.1, 0.05])
    assert steps["M = ∞, falling steps", 48000] == pytest.approx(
        [0.001 / 0.48**0.5, 0.003 / 0.48**0.5]
    )
    assert steps["study steps", 2000] == pytest.approx([0.1, 0.1])


def test_the_corollary_bounds_truncation_and_the_evaluators_noise():
    for case in cases_of("corollary", "npgpd_hf"):
        T, M, H = case.iterations, case.options["evaluators"], case.options["horizon"]
        assert 0.9**H <= T**-0.5 < 0.9 ** (H - 1)
        assert M - 1 < T * np.log(T) <= M


def test_schedules_cost_the_same():
    schedules = DECLARED["sweeps"]["schedules"]["phases"].values()
    first, *others = (np.mean(phases, axis=0) + [0, 1] for phases in schedules)
    assert all(np.allclose(it, first, rtol=0.01) for it in others)


def test_phases_are_joined_and_a_single_one_is_a_run():
    """Averages are over iterates 0 to 40, and over 37 to 40; an early phase is longer by one."""
    steps = {"primal_step": 0.05, "dual_step": 0.1, "perturbation": 1}
    few, many = ({"evaluators": m, "horizon": h} | steps for m, h in ((2, 9), (8, 6)))
    given = {"seeds": [3], "return_policies": True}
    whole, _ = run(CMDP, "zpgpd_hf", iterations=41, purpose="any", **many, **given)
    first, last = run(CMDP, "zpgpd_hf", iterations=21, purpose="any, phase 0", **many, **given)
    given |= {"initial_policy": last[0], "initial_multiplier": first["multiplier"].iloc[-1]}
    second, _ = run(CMDP, "zpgpd_hf", iterations=20, purpose="any, phase 1", **few, **given)
    options = {"iterations": 41, "seeds": [3], "optimum": OPTIMUM} | steps
    for phases, traces in (([(8, 6)], [whole]), ([(8, 6), (2, 9)], [first, second])):
        found = run_schedule(phases, "any", CMDP, "zpgpd_hf", **options)
        values = pd.concat([it[:-1] for it in traces])
        assert len(values) == 41
        for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
            assert found[name] == pytest.approx(values[column].mean(), rel=1e-12)
            assert found[f"late_{name}"] == pytest.approx(values[column][37:].mean(), rel=1e-9)


def test_a_case_is_averaged_over_its_first_iterates():
    grid = {"evaluators": 4, "iterations": [3, 6], "perturbation": 1}
    case = cases(EXPERIMENT, "iterations", "iterations", "zpgpd_hf", grid)[1]
    found = run_case(case, CMDP, "zpgpd_hf", seeds=[0, 1], optimum=OPTIMUM)
    whole = run(CMDP, "zpgpd_hf", seeds=[0, 1], iterations=6, purpose=case.purpose, **case.options)
    gaps = whole.pivot(index="seed", columns="iteration", values="optimality_gap")
    assert np.allclose(found["gap"], gaps.loc[:, :5].mean(axis=1), rtol=1e-12)
    assert [*found["answers"]] == [3 * 6 * 4] * 2


def power_law(sweep, values, height, **labels):
    """Runs of two seeds whose numbers are powers of what varies."""
    rows = [(value, seed, height(value) * (1 + 0.1 * seed)) for value in values for seed in (0, 1)]
    table = pd.DataFrame(rows, columns=["value", "seed", "gap"])
    table = table.assign(violation=-table["gap"], lagrangian_gap=table["gap"], sweep=sweep)
    return table.assign(**{"algorithm": "npgpd_hf", "curve": None} | labels)


def test_slopes_are_the_powers_of_power_laws():
    over, inf = np.array([16, 64, 256, 1024]), [np.inf]
    runs = [power_law(name, over, lambda x: x**-0.5) for name in ("iterations", "corollary")]
    runs += [power_law("evaluators", [*over, *inf], lambda x: 3 + 5 * x**-0.8)]
    runs += [power_law("horizon", [10, 20, 30], lambda x: 0.9**x)]
    runs += [power_law("rounds", [1, 2, 4], lambda x: 1 + 1 / x, curve="M = 16")]
    runs += [power_law("rounds", [1, 2, 4], lambda x: 1 + 0 * x, curve="M = ∞")]
    table = slope_table(pd.concat(runs), 0.9).set_index(["sweep", "metric"])
    expected = {"iterations": -0.5, "corollary": -0.5, "evaluators": -0.8}
    for sweep, slope in expected.items():
        assert np.allclose(table.loc[sweep, "lagrangian_gap"]["slope"], slope)
    assert table.loc[("horizon", "safety"), "slope"].item() == pytest.approx(-1)
    assert np.allclose(table.loc[("rounds", "lagrangian_gap"), "slope"], [-1, 0])
    assert np.isnan(table.loc[("iterations", "violation"), "slope"])  # means are negative


def test_promises_are_the_theorems():
    assert promised("iterations", "npg_pd", []) == promised("corollary", "npgpd_hf", []) == -1 / 2
    assert promised("iterations", "pg_pd", []) == -1 / 4
    far = promised("evaluators", "zpgpd_hf", [10**7, 10**8])
    assert -0.5 < far < promised("evaluators", "npgpd_hf", [16, 64]) < 0


def test_excess_pairs_runs_of_a_seed():
    runs = power_law("evaluators", [4, np.inf], lambda x: 2 + 8 / x)
    found = excess(runs, np.isinf(runs["value"]), ["curve"])
    assert np.allclose(found["gap"], [2, 2.2])
    assert np.allclose(lagrangian_gap(found, 0.25), 0.75 * found["gap"])


def test_differences_of_schedules_have_welchs_intervals():
    values = np.random.default_rng(0).random(10)
    names = [f"{late}{name}" for late in ("", "late_") for name in METRICS]
    runs = pd.DataFrame(dict.fromkeys(names, values))
    runs = runs.assign(algorithm="npgpd_hf", schedule=["constant"] * 5 + ["other"] * 5)
    row = compare(runs).set_index(["schedule", "metric"]).loc[("other", "late_gap")]
    first, second = values[5:], values[:5]
    assert row["difference"] == pytest.approx(first.mean() - second.mean())
    parts = first.var(ddof=1) / 5, second.var(ddof=1) / 5
    freedom = sum(parts) ** 2 / sum(it**2 / 4 for it in parts)
    half = stats.t.ppf(0.975, freedom) * sum(parts) ** 0.5
    assert row["difference_high"] - row["difference"] == pytest.approx(half)
