import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.analyses import rates
from pgpd_hf.studies import configuration


@pytest.fixture(scope="module")
def averages():
    tables = []
    for iterations in (20, 40):
        for people in (16, None):
            trace = run(
                random_cmdp(), "npgpd_hf", evaluators=people, seeds=range(3), iterations=iterations
            )
            trace["iterations"] = iterations
            trace["step_rule"] = "theorem"
            tables.append(trace)
    return rates.final_averages(pd.concat(tables, ignore_index=True))


def test_average_is_over_the_first_T_iterates(averages):
    every = run(
        random_cmdp(), "npgpd_hf", evaluators=16, seeds=[1], iterations=20, checkpoints=range(21)
    )
    expected = every["optimality_gap"].iloc[:20].mean()
    chosen = averages.query("crowd == '16' and iterations == 20 and seed == 1")
    assert chosen["gap"].item() == pytest.approx(expected, abs=1e-14)


def test_violation_is_the_positive_part_of_the_average(averages):
    assert (averages["violation"] >= 0).all()


def test_tables_have_a_row_per_case(averages):
    assert len(rates.mean_averages(averages)) == 2 * 2 * 2
    slopes = rates.slopes(averages)
    assert list(slopes["crowd"]) == ["16", "16", "inf", "inf"]
    assert set(slopes["promised"]) == {-0.5}


def test_dual_step_of_a_sweep_falls_with_the_root_of_T():
    setting = {"iterations": 100, "primal_step": 0.3, "dual_step": 0.2}
    longer = configuration.sweep_setting(setting, 400, "study")
    assert (longer["primal_step"], longer["dual_step"]) == (0.3, pytest.approx(0.1))
    theorem = configuration.sweep_setting(setting, 400, "theorem")
    assert (theorem["primal_step"], theorem["dual_step"]) == (None, None)
