"""Means over seeds with intervals, and slopes on logarithmic axes."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import CMDP, aggregate, random_cmdp, run
from pgpd_hf.runs import VALUES
from pgpd_hf.statistics import loglog_slope
from pgpd_hf.tables import one_line, read_json, read_traces, write_table


def test_aggregate_has_a_row_for_each_curve_and_iteration_whatever_the_order():
    options = {"seeds": range(4), "iterations": 5, "checkpoints": [0, 5], "horizon": 3}
    options |= {"primal_step": 0.1, "dual_step": 0.1}
    curves = ("zpgpd_hf", 16), ("npgpd_hf", 64), ("npgpd_hf", None)
    traces = [run(random_cmdp(), name, evaluators=m, **options) for name, m in curves]
    trace = pd.concat(traces, ignore_index=True)
    curve = aggregate(trace)
    assert curve["algorithm"].tolist() == ["zpgpd_hf"] * 2 + ["npgpd_hf"] * 4
    assert curve["evaluators"].fillna(0).tolist() == [16, 16, 64, 64, 0, 0]
    assert curve[["iteration", "seeds"]].to_numpy().tolist() == [[0, 4], [5, 4]] * 3
    for name in VALUES[:-2]:  # the last two are the same for all seeds
        samples = traces[1].query("iteration == 5")[name]
        interval = stats.t.interval(0.95, 3, samples.mean(), stats.sem(samples))
        row = curve[[name, f"{name}_low", f"{name}_high"]].iloc[3]
        assert row.tolist() == pytest.approx([samples.mean(), *interval], rel=1e-12)
    shuffled = trace.iloc[::-1].sort_values("algorithm", ascending=False, kind="stable")
    pd.testing.assert_frame_equal(aggregate(shuffled), curve, check_exact=True)
    assert aggregate(traces[0].query("seed == 2"))["multiplier_low"].isna().all()


def test_damaged_table_is_refused_in_one_line(tmp_path):
    """What is left of a job that was killed: a row, or a part of one, or another table."""
    trace = run(random_cmdp(), "npg_pd", seeds=[1, 2], iterations=9, primal_step=1, dual_step=1)
    path, other = tmp_path / "seeds0001-0002.csv", tmp_path / "seeds0003-0003.csv"
    write_table(trace, path)
    write_table(trace[10:].assign(seed=3).rename(columns={"multiplier": "weight"}), other)
    pd.testing.assert_frame_equal(read_traces([path]), trace, check_exact=True)
    whole = path.read_text()
    for wrong in (whole, whole[: whole.rindex(",")], whole[: whole.rindex("\n", 0, -1) + 1]):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"seeds.*\.csv: damaged, .* expected; remove it\Z"):
            read_traces([path, other])
    with pytest.raises(ValueError, match=r"\.csv: damaged, JSON expected; remove it\Z"):
        read_json(path)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("CMDP(0, 0, 0, 0, 2, 0)", "error: transition: shape (any, any, any) expected, got ()"),
        ("\nraise ValueError('no\\nshape')", "error: mine.py, line 2: ValueError: no shape"),
        ("\n1 / 0", "error: mine.py, line 2: ZeroDivisionError: division by zero"),
        ("\n(", "SyntaxError: '(' was never closed (mine.py, line 2)"),
        ("\nimport json\njson.loads('{')", "error: mine.py, line 3: JSONDecodeError: "),
        ("raise KeyboardInterrupt", "Interrupted."),
    ],
)
def test_scripts_end_with_one_line(capsys, code, told):
    with pytest.raises(SystemExit) as ended, one_line():
        exec(compile(code, "mine.py", "exec"), {"CMDP": CMDP})
    assert told in str(ended.value)
    assert ("Traceback" in capsys.readouterr().err) == ("line" in told and "mine" in told)


def test_slope_of_a_power_is_its_exponent():
    positions, random = [100, 200, 400, 800], np.random.default_rng(0)
    power = [[3 * t**-0.4] * 2 for t in positions]
    assert loglog_slope(positions, power) == pytest.approx((-0.4, -0.4, -0.4))
    noisy = [random.normal(t**-0.5, 0.2 * t**-0.5, size=20) for t in positions]
    slope, low, high = loglog_slope(positions, noisy)
    means = [np.mean(group) for group in noisy]
    assert slope == pytest.approx(np.polyfit(np.log(positions), np.log(means), 1)[0])
    error = 0.2 / np.sqrt(20 * 4 * np.var(np.log(positions)))  # of the slope, by propagation
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.3)
    assert low < slope < high
    assert np.isnan(loglog_slope(positions, [[1], [2], [-1], [3]])).all()
