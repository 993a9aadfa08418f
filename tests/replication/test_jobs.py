"""What fills jobs, and what they ask for."""

from pathlib import Path

import pytest
from checking import study

from pgpd_hf import environments, random_cmdp, run
from replication import analyses
from replication.analyses import certificates_by_algorithm as certificates
from replication.analyses import verdicts
from replication.study import jobs, readings, resources
from replication.study.cases import Case, figure_cases, run_cases, run_setting

ROOT = Path(__file__).parents[2]
CONFIG = study()


def changed(own):
    """The default configuration with what a study says itself, as Snakemake merges it."""
    return readings.overlay(CONFIG, own)


def test_work_of_the_figure_has_an_item_per_seed_with_a_case_per_number_of_evaluators():
    items = figure_cases(CONFIG, "npgpd_hf", [16, None])
    assert [seed for seed, _ in items] == list(range(20))
    for seed, cases in items:
        assert cases == [
            Case("npgpd_hf", run_setting(CONFIG, "npgpd_hf", number), (seed,), "typical")
            for number in (16, None)
        ]


def test_a_job_has_one_number_of_evaluators_or_all_of_them():
    config = changed({"evaluators": [16, None], "seeds": 3})
    apart = jobs.figure_plan(config, "npgpd_hf", together=False)
    assert [*apart] == ["16", "inf"]
    for numbers, made in zip(([16], [None]), apart.values(), strict=True):
        assert made == jobs.fill_jobs(config, figure_cases(config, "npgpd_hf", numbers))
    (whole,) = jobs.figure_plan(config, "npgpd_hf", together=True).items()
    assert whole == ("16+inf", jobs.fill_jobs(config, figure_cases(config, "npgpd_hf", [16, None])))


def test_cases_of_the_figure_are_runs_of_the_streams_of_the_study():
    """Those of the hard case are the default streams of :func:`pgpd_hf.run`."""
    steps = {"iterations": 30, "primal_step": 0.3, "dual_step": 0.1}
    own = {"algorithms": {"npgpd_hf": steps}, "seeds": 3}
    named = {"default": (changed(own), {"rounds": 2, "purpose": "typical"})}
    named["hard"] = (readings.overlay(study("hard"), own), {})
    for config, options in named.values():
        (cases,) = jobs.fill_jobs(config, figure_cases(config, "npgpd_hf", [64])).values()
        found = run_cases(cases, random_cmdp(), None)
        options = {"seeds": range(3), "evaluators": 64, **steps, **options}
        assert found.equals(run(random_cmdp(), "npgpd_hf", **options))


@pytest.mark.parametrize("minutes", [0.1, 1, 10, 60])
def test_jobs_last_as_long_as_they_shall(minutes):
    config = changed({"seeds": 2000, "block": None, "job_minutes": minutes})
    for evaluators in ([64], [16, 64, 256]):
        made = jobs.fill_jobs(config, figure_cases(config, "zpgpd_hf", evaluators))
        count = len(next(iter(made.values()))) // len(evaluators)
        settings = [run_setting(config, "zpgpd_hf", m) for m in evaluators]
        once = sum(resources.run_seconds("zpgpd_hf", setting, 10, 4) for setting in settings)
        if len(made) > 1:
            assert count * once <= 60 * minutes * (1 + 1e-9)
            assert (count + 1) * once > 60 * minutes
        else:
            assert 2000 * once <= 60 * minutes


def test_a_job_has_no_more_seeds_than_a_block():
    def first(**changes):
        config = changed(changes)
        return next(iter(jobs.fill_jobs(config, figure_cases(config, "zpgpd_hf", [16]))))

    assert first(block=3) == "0000-0002"
    assert first(block=3, job_minutes=0.001) == "0000-0000"


@pytest.mark.parametrize("seeds", [21, 40, 47, 1000])
@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
def test_more_seeds_of_the_default_study_only_add_files(seeds, algorithm):
    before, after = (
        list(jobs.fill_jobs(config, figure_cases(config, algorithm, [64])))
        for config in (CONFIG, changed({"seeds": seeds}))
    )
    assert before == after[: len(before)]
    ends = [block.split("-") for block in after[len(before) :]]
    added = [seed for first, last in ends for seed in range(int(first), int(last) + 1)]
    assert added == list(range(20, seeds))


def plans(config):
    """Work of all analyses, by analysis and part."""
    return {
        (name, part): items
        for name, analysis in analyses.find().items()
        for part, items in analysis.plan(config).items()
    }


@pytest.mark.parametrize("minutes", [0.1, 0.5, 10])
def test_jobs_of_analyses_hold_all_of_the_work_and_are_not_too_long(minutes):
    config = changed({"job_minutes": minutes})
    for place, items in plans(config).items():
        made = jobs.fill_jobs(config, items)
        assert [case for cases in made.values() for case in cases] == [
            case for _, cases in items for case in cases
        ]
        longest = max(resources.seconds(cases, (10, 4)) for _, cases in items)
        for cases in made.values():
            most = max(60 * minutes, longest) * (1 + 1e-9)
            assert resources.seconds(cases, (10, 4)) <= most, place


def as_made(options):
    """An environment as races name it."""
    name, arguments = environments.split(options)
    return {"name": name, **arguments}


@pytest.mark.parametrize(
    ("config", "iterations", "rounds", "late"),
    [(CONFIG, 2000, 2, {"late": 0.5}), (study("hard"), 1000, 1, {})],
    ids=["default", "hard"],
)
def test_race_scores_all_reported_numbers_of_evaluators(config, iterations, rounds, late):
    assert jobs.race(config, "npgpd_hf") == {
        "environments": [as_made(config["environment"])],
        "algorithm": "npgpd_hf",
        "setting": {
            "iterations": iterations,
            "rounds": rounds,
            "horizon": 80,
            "link": "logistic",
        },
        "evaluators": [16, 64, 256],
        "candidates": config["calibration"]["candidates"]["npgpd_hf"],
        "seeds": config["calibration"]["seeds"],
        "runs": config["calibration"]["runs"],
        **late,
    }


def test_longer_races_ask_for_more_time():
    unlimited = {"calibration": {"runs": None}}
    seconds = jobs.race_seconds(changed(unlimited), "npgpd_hf")
    once = sum(
        resources.run_seconds("npgpd_hf", run_setting(CONFIG, "npgpd_hf", number), 10, 4)
        for number in CONFIG["evaluators"]
    )
    assert seconds >= 9 * 8 * once  # the first stage of nine pairs
    for longer in ({"seeds": 256}, {"candidates": {"npgpd_hf": {"primal_step": [1, 2, 3, 4]}}}):
        own = readings.overlay(unlimited, {"calibration": longer})
        assert jobs.race_seconds(changed(own), "npgpd_hf") > seconds
    assert jobs.race_seconds(CONFIG, "npgpd_hf") == pytest.approx(24 * once)


def test_certified_runs_have_their_own_length():
    told = certificates.arguments(CONFIG, "zpgpd_hf")
    assert [setting["evaluators"] for setting in told["settings"]] == CONFIG["evaluators"]
    assert {setting["iterations"] for setting in told["settings"]} == {10000}
    assert told["seeds"] == 4


def test_certificates_ask_for_more_the_more_iterates_there_are():
    longer = changed({"certificates": {"iterations": {"zpgpd_hf": 10**6}}})
    for ask in (certificates.seconds, certificates.megabytes):
        assert ask(longer, "zpgpd_hf") > 10 * ask(CONFIG, "zpgpd_hf")
    # Six tables of 40 numbers for each iterate, each of them twice.
    assert certificates.megabytes(longer, "zpgpd_hf") > 1e6 * 40 * 96 / 1e6


def test_everything_that_is_judged_has_a_title():
    config = changed({"claims": {"readings": ["ten-rounds"]}})
    config["claims"]["instances"]["groups"] = {
        "binding": {"numbers": [1]},
        "small": {"numbers": [2]},
        "slack": {"numbers": [3], "title": "slack constraint"},
    }
    assert verdicts.judged(config, readings.load(config, ROOT)) == {
        "full/": "default",
        "readings/ten-rounds/": "N = 10",
        "instances/binding/": "binding",
        "instances/slack/": "slack constraint",
    }
