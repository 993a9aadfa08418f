"""What jobs ask for: time from their work, memory from the size of their environment."""

import pytest

from pgpd_hf import ALGORITHMS
from replication.study import resources
from replication.study.cases import Case

SETTING = {"iterations": 1000, "rounds": 1, "horizon": 80}


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize("larger", [{"iterations": 2000}, {"states": 20}, {"actions": 8}])
def test_more_work_takes_longer(algorithm, larger):
    sizes = {"states": 10, "actions": 4}
    more = {key: larger.get(key, value) for key, value in sizes.items()}
    once = resources.run_seconds(algorithm, SETTING, **sizes)
    assert resources.run_seconds(algorithm, {**SETTING, **larger}, **more) > once


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
@pytest.mark.parametrize("larger", [{"rounds": 2}, {"horizon": 160}, {"evaluators": 10**5}])
def test_sampling_more_takes_longer_for_those_who_sample(algorithm, larger):
    setting = {**SETTING, "iterations": 10**6}
    once = resources.run_seconds(algorithm, setting, 10, 4)
    assert resources.run_seconds(algorithm, {**setting, **larger}, 10, 4) > 1.2 * once


@pytest.mark.parametrize("algorithm", ["npg_pd", "pg_pd"])
@pytest.mark.parametrize("larger", [{"rounds": 2}, {"horizon": 160}])
def test_exact_methods_sample_nothing(algorithm, larger):
    once = resources.run_seconds(algorithm, SETTING, 10, 4)
    assert resources.run_seconds(algorithm, {**SETTING, **larger}, 10, 4) == once


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_iterations_take_time(algorithm):
    seconds = resources.run_seconds(algorithm, {"iterations": 9, "rounds": 1, "horizon": 7}, 4, 3)
    assert seconds > resources.RUN


def test_model_is_counted_by_hand():
    """N (S + S A + 1) trajectories of H + 1 steps, N (2 S A + 1) questions."""
    found = resources.run_seconds("npgpd_hf", {"iterations": 7, "rounds": 3, "horizon": 9}, 10, 4)
    iteration = resources.ITERATION + 3 * 51 * 10 * resources.STEP + 3 * 81 * resources.QUESTION
    iteration += 40 * resources.ENTRY + 100 * resources.EVALUATION
    assert found == pytest.approx(resources.RUN + 7 * iteration)
    exact = resources.run_seconds("npg_pd", {"iterations": 7, "rounds": 3, "horizon": 9}, 10, 4)
    iteration = resources.EXACT_ITERATION + 40 * resources.EXACT_ENTRY + 100 * resources.EVALUATION
    assert exact == pytest.approx(resources.RUN + 7 * iteration)


def test_cases_take_the_time_of_all_their_runs():
    once = resources.run_seconds("npgpd_hf", SETTING, 10, 4)
    case, three = (Case("npgpd_hf", SETTING, tuple(range(seeds))) for seeds in (1, 3))
    assert resources.seconds([], (10, 4)) == 0
    assert resources.seconds([case], (10, 4)) == once
    assert resources.seconds([three, case], (10, 4)) == pytest.approx(4 * once)


def test_time_of_a_case_is_that_of_its_own_environment():
    case = Case("npgpd_hf", SETTING, (0,), environment={"states": 40, "actions": 4})
    expected = resources.run_seconds("npgpd_hf", SETTING, 40, 4)
    assert resources.seconds([case], (10, 4)) == expected


def test_phases_take_the_time_of_their_own_lengths_and_horizons():
    phases = [{"iterations": 400, "horizon": 20}, {"iterations": 600, "horizon": 160}]
    case = Case("zpgpd_hf", SETTING | {"phases": phases}, (0, 1))
    expected = 2 * sum(
        resources.run_seconds("zpgpd_hf", SETTING | phase, 10, 4) for phase in phases
    )
    assert resources.seconds([case], (10, 4)) == pytest.approx(expected)


def test_calibrated_steps_do_not_hinder_the_estimate():
    setting = SETTING | {"primal_step": "calibrated", "dual_step": "calibrated"}
    assert resources.seconds([Case("npgpd_hf", setting, (0,))], (10, 4)) > 0


@pytest.mark.parametrize("work", [0, 100, 1e4, 1e6])
def test_time_that_is_asked_for_has_a_margin(work):
    asked = 60 * resources.minutes(work)
    assert asked >= resources.TIME_MARGIN * (resources.START + work)
    assert asked <= max(
        60 * resources.LEAST_MINUTES, resources.TIME_MARGIN * (resources.START + work) + 60
    )
    assert isinstance(resources.minutes(work), int)


def test_more_work_asks_for_no_less():
    asked = [resources.minutes(work) for work in range(0, 5000, 50)]
    assert asked == sorted(asked)
    assert asked[0] == resources.LEAST_MINUTES < asked[-1]


@pytest.mark.parametrize(
    "ask",
    [lambda k: resources.minutes(1e4, k), lambda k: resources.megabytes(10, 4, attempt=k)],
    ids=["minutes", "megabytes"],
)
def test_every_attempt_asks_for_as_much_again(ask):
    assert [ask(attempt) for attempt in (1, 2, 3)] == [ask(1), 2 * ask(1), 3 * ask(1)]


def test_memory_follows_the_transition_probabilities():
    # 500 x 500 x 4 probabilities, for which 170 MB were measured.
    usual, larger = resources.megabytes(10, 4), resources.megabytes(500, 4)
    assert larger - usual > resources.MEMORY_MARGIN * 170
    assert usual >= resources.MEMORY_MARGIN * resources.JOB
    assert isinstance(usual, int)


def test_memory_follows_what_else_the_job_keeps():
    usual, more = resources.megabytes(10, 4), resources.megabytes(10, 4, 1000)
    assert more - usual == pytest.approx(1000 * resources.MEMORY_MARGIN, abs=1)
