"""What is run under which name, how phases are joined, and how slopes and outcomes are read."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from effects.effects import METRICS, compare, slope_table
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
    grid = {key: it for key, it in DECLARED[sweep][algorithm].items() if key != "seeds"}
    return cases(EXPERIMENT, sweep, algorithm, grid)


def test_names_of_random_streams_differ_and_are_as_they_have_always_been():
    """They tell what is run: steps, M, N, H and T of all cases."""
    names = [
        f"{algorithm}: {case.purpose}"
        for sweep, algorithms in DECLARED.items()
        if sweep != "schedules"
        for algorithm in algorithms
        for case in cases_of(sweep, algorithm)
    ]
    assert len(set(names)) == len(names) == 139
    assert hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:16] == "dda167ccd9ca5842"


def test_step_sizes_follow_their_rule():
    steps = {
        (case.curve, case.iterations): [case.options[it] for it in ("primal_step", "dual_step")]
        for name in ("npgpd_hf", "zpgpd_hf")
        for case in cases_of("iterations", name)
    }
    assert steps["M = 64, theorem steps", 8000] == [None, None]
    assert steps["M = 64, study steps", 8000] == pytest.approx([0.1, 0.05])
    falling = steps["M = ∞, falling steps", 48000]
    assert falling == pytest.approx([0.001 / 0.48**0.5, 0.003 / 0.48**0.5])


def test_the_corollary_bounds_truncation_and_the_evaluators_noise():
    for case in cases_of("corollary", "npgpd_hf"):
        T, M, H = case.iterations, case.options["evaluators"], case.options["horizon"]
        assert 0.9**H <= T**-0.5 < 0.9 ** (H - 1)
        assert M - 1 < T * np.log(T) <= M


def test_schedules_have_names_and_cost_the_same():
    schedules = DECLARED["schedules"]["npgpd_hf"]["phases"]
    assert {*DECLARED, *schedules} - {"schedules"} == STREAMS.keys()
    first, *others = (np.mean(phases, axis=0) + [0, 1] for phases in schedules.values())
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
    case = cases(EXPERIMENT, "iterations", "zpgpd_hf", grid)[1]
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


def test_slopes_are_the_powers_of_power_laws_beside_the_theorems():
    over, inf, names = np.array([16, 64, 256, 1024]), [np.inf], ("npgpd_hf", "zpgpd_hf")
    runs = [power_law("iterations", over, lambda x: x**-0.5, algorithm="pg_pd")]
    runs += [power_law("corollary", over, lambda x: x**-0.5)]
    runs += [power_law("evaluators", [*over, *inf], lambda x: 3 + 5 * x**-0.8)]
    runs += [power_law("horizon", [10, 20], lambda x: 0.9**x, algorithm=it) for it in names]
    runs += [power_law("rounds", [1, 2, 4], lambda x: 1 + 1 / x, curve="M = 16")]
    runs += [power_law("rounds", [1, 2, 4], lambda x: 1 + 0 * x, curve="M = ∞")]
    runs = pd.concat(runs)
    table, pair = slope_table(runs, 0.9).set_index(["sweep", "metric"]), ["slope", "theorem"]
    assert (table["seeds"] == 2).all()  # runs of a seed are subtracted from each other
    expected = {"iterations": (-0.5, -1 / 4), "corollary": (-0.5, -1 / 2)}
    expected["evaluators"] = -0.8, np.polyfit(np.log(over), 0.5 * np.log(np.log(over) / over), 1)[0]
    for sweep, numbers in expected.items():
        assert np.allclose(table.loc[(sweep, "lagrangian_gap"), pair], numbers)
    assert np.allclose(table.loc[("horizon", "safety"), pair], [[-1, -1], [-1, -0.5]])
    assert np.allclose(table.loc[("rounds", "lagrangian_gap"), "slope"], [-1, 0])
    assert np.isnan(table.loc[("iterations", "violation"), "slope"])  # means are negative


def test_differences_of_schedules_have_welchs_intervals():
    values = np.random.default_rng(0).random(10)
    names = [f"{late}{name}" for late in ("", "late_") for name in METRICS]
    runs = pd.DataFrame(dict.fromkeys(names, values))
    runs = runs.assign(algorithm="npgpd_hf", schedule=["constant"] * 5 + ["other"] * 5)
    row = compare(runs).set_index(["schedule", "metric"]).loc[("other", "late_gap")]
    first, second = values[5:], values[:5]
    assert row["difference"] == pytest.approx(first.mean() - second.mean())
    ends = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(tuple(ends))
