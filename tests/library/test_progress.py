"""Progress is told to whoever asks, and changes no result."""

from dataclasses import replace

import pandas as pd
import pytest

import pgpd_hf
from pgpd_hf.runs import races

CMDP = pgpd_hf.random_cmdp(3, 2, 1)
PHASES = [{"iterations": 30, "evaluators": 4}, {"iterations": 20}]
SETTING = {"evaluators": 8, "primal_step": 0.1, "dual_step": 0.1}
CANDIDATES = {"primal_step": [0.1, 0.3], "dual_step": [0.1]}


class Told(list):
    """A function that remembers what it is told."""

    def __call__(self, done, total):
        self.append((done, total))


def run(**given):
    return pgpd_hf.run(CMDP, "npgpd_hf", **{"seeds": range(5), **SETTING, **given})


@pytest.mark.parametrize("length", [{"iterations": 3000}, {"phases": PHASES}])
@pytest.mark.parametrize("threads", [1, 3])
def test_all_iterations_of_a_run_are_counted(length, threads):
    told = Told()
    trace = run(**length, threads=threads, progress=told)
    total = 5 * trace["iteration"].max()
    assert told == sorted(told)
    assert told[0] == (0, total)
    assert told[-1] == (total, total)
    assert len(told) > 5
    pd.testing.assert_frame_equal(trace, run(**length))


def test_all_runs_of_a_race_are_counted(monkeypatch):
    told, tables = Told(), []
    chosen_steps = races.chosen_steps

    def remember(table):
        tables.append(table)
        return chosen_steps(table)

    monkeypatch.setattr(races, "chosen_steps", remember)
    given = {"evaluators": 8, "iterations": 20, "candidates": CANDIDATES, "seeds": 12}
    steps = pgpd_hf.choose_steps(CMDP, "npgpd_hf", **given, progress=told)
    assert told == sorted(told)
    assert told[-1] == (tables[0]["seeds"].sum(),) * 2
    assert steps == pgpd_hf.choose_steps(CMDP, "npgpd_hf", **given)


def test_bar_is_on_the_error_stream_and_only_where_it_is_asked_for(capfd):
    run(iterations=20)
    assert capfd.readouterr() == ("", "")
    run(iterations=20, progress=True)
    output, error = capfd.readouterr()
    assert output == ""
    assert "100%" in error
    assert "100/100" in error
    assert "iterations/s" in error


@pytest.mark.parametrize("progress", [None, 1, "bar", [print]])
def test_something_else_is_refused(progress):
    with pytest.raises(ValueError, match=r"^progress: True, False or a function"):
        run(iterations=20, progress=progress)


def test_race_takes_an_algorithm_as_an_object():
    named = {"evaluators": 8, "rounds": 2, "estimator": "unbiased"}
    algorithm = pgpd_hf.NPGPDHF(**named)
    given = {"iterations": 20, "candidates": CANDIDATES, "seeds": 3}
    steps = pgpd_hf.choose_steps(CMDP, algorithm, **given)
    assert steps == pgpd_hf.choose_steps(CMDP, "npgpd_hf", **given, **named)
    assert replace(algorithm, **steps).primal_step == steps["primal_step"]
    with pytest.raises(ValueError, match=r"^rounds: an option of the algorithm, NPGPDHF"):
        pgpd_hf.choose_steps(CMDP, algorithm, **given, rounds=3)


def test_race_without_evaluators_names_them():
    with pytest.raises(ValueError, match=r"^evaluators: needed by npgpd_hf"):
        pgpd_hf.choose_steps(CMDP, "npgpd_hf", iterations=5)


def test_exact_method_races_without_evaluators():
    steps = pgpd_hf.choose_steps(CMDP, "npg_pd", iterations=20, candidates=CANDIDATES, seeds=2)
    assert set(steps) == {"primal_step", "dual_step"}
