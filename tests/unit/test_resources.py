"""Sizes of jobs, and what they ask for."""

import copy
import re
from pathlib import Path

import pytest
import yaml

from pgpd_hf import ALGORITHMS, resources
from pgpd_hf.analyses import sensitivity
from pgpd_hf.studies import configuration, variants

ROOT = Path(__file__).parents[2]
CONFIG = yaml.safe_load((ROOT / "config/config.yaml").read_text())
SETTING = {"iterations": 1000, "pairs": 1, "horizon": 80}
JOB = {"algorithm": "zpgpd_hf", "evaluators": "64", "first": "0000", "last": "0009"}


def changed(**keys):
    """The default configuration with other values at its first level."""
    return {**copy.deepcopy(CONFIG), **keys}


def numbers(blocks):
    """All seeds of some blocks."""
    ends = [block.split("-") for block in blocks]
    return [seed for first, last in ends for seed in range(int(first), int(last) + 1)]


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize("larger", [{"iterations": 2000}, {"states": 20}, {"actions": 8}])
def test_more_work_takes_longer(algorithm, larger):
    sizes = {"states": 10, "actions": 4}
    more = {key: larger.get(key, value) for key, value in sizes.items()}
    once = resources.run_seconds(algorithm, SETTING, **sizes)
    assert resources.run_seconds(algorithm, {**SETTING, **larger}, **more) > once


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
@pytest.mark.parametrize("larger", [{"pairs": 2}, {"horizon": 160}])
def test_sampling_more_takes_longer_for_those_who_sample(algorithm, larger):
    setting = {**SETTING, "iterations": 10**6}
    once = resources.run_seconds(algorithm, setting, 10, 4)
    assert resources.run_seconds(algorithm, {**setting, **larger}, 10, 4) > 1.2 * once


def test_steps_dominate_as_counted_by_hand():
    """N (S + S A + 1) trajectories of H + 1 steps, 2 S A + 1 questions."""
    setting = {"iterations": 1, "pairs": 3, "horizon": 9}
    expected = 3 * 51 * 10 * resources.STEP + 3 * 81 * resources.QUESTION
    rest = resources.RUN + resources.ITERATION + 40 * resources.ENTRY
    found = resources.run_seconds("npgpd_hf", setting, 10, 4, evaluated=False)
    assert found == pytest.approx(expected + rest)


@pytest.mark.parametrize(("count", "size"), [(1, 1), (20, 10), (7, 3), (3, 100)])
def test_blocks_hold_every_seed_once(count, size):
    blocks = resources.blocks(count, size)
    assert numbers(blocks) == list(range(count))
    assert len(blocks) == -(-count // size)


def test_more_seeds_leave_whole_blocks_as_they_are():
    assert resources.blocks(25, 10)[:2] == resources.blocks(20, 10)


@pytest.mark.parametrize("minutes", [0.1, 1, 10, 60])
def test_jobs_last_as_long_as_they_shall(minutes):
    study = changed(seeds=100000, block=None, job_minutes=minutes)
    for evaluators in ("64", "16+64+256"):
        first, *_ = resources.run_blocks(study, "zpgpd_hf", evaluators)
        count = len(numbers([first]))
        once = len(evaluators.split("+")) * resources.run_seconds(
            "zpgpd_hf", {"horizon": 80, **study["algorithms"]["zpgpd_hf"]}, 10, 4
        )
        assert count * once <= 60 * minutes < (count + 1) * once


def test_a_job_has_no_more_seeds_than_a_block():
    assert resources.run_blocks(changed(block=3), "npgpd_hf", "16")[0] == "0000-0002"
    longer = changed(block=3, job_minutes=0.001)
    assert resources.run_blocks(longer, "zpgpd_hf", "16")[0] == "0000-0000"


@pytest.mark.parametrize("seeds", [21, 40, 47, 1000])
@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
def test_more_seeds_of_the_default_study_only_add_files(seeds, algorithm):
    before = resources.run_blocks(CONFIG, algorithm, "64")
    after = resources.run_blocks(changed(seeds=seeds), algorithm, "64")
    assert before == after[: len(before)]
    assert numbers(after[len(before) :]) == list(range(20, seeds))


def test_exact_methods_run_once():
    assert resources.sweep_blocks(CONFIG, "length", "npg_pd") == ["0000-0000"]
    assert numbers(resources.sweep_blocks(CONFIG, "length", "npgpd_hf")) == list(range(6))


@pytest.mark.parametrize(
    ("minutes", "seeds", "count"), [(0.001, 5, 35), (0.4, 5, None), (0.8, 5, None), (1000, 2, 1)]
)
def test_blocks_of_a_grid_hold_every_run_once(minutes, seeds, count):
    grid = {**CONFIG["grid"], "instances": 7, "seeds": seeds}
    study = changed(job_minutes=minutes, block=None, grid=grid)
    blocks = resources.grid_blocks(study, "zpgpd_hf")
    runs = [
        (instance, seed)
        for instances, block in blocks
        for instance in numbers([instances])
        for seed in numbers([block])
    ]
    assert sorted(runs) == [(instance, seed) for instance in range(7) for seed in range(seeds)]
    assert len(runs) == len(set(runs))
    assert len(blocks) == count if count else 1 < len(blocks) < 35


def test_no_instance_of_a_group_is_left_out_or_run_twice():
    study = changed(job_minutes=0.5)
    listed = [7, 3, 12345, 20, 9, 4]
    study["claims"]["instances"]["groups"]["binding"]["numbers"] = listed
    study = variants.list_groups(study)["binding"]
    blocks = resources.instance_blocks(study, "binding", "zpgpd_hf")
    assert blocks[0].startswith("0003-")
    assert 1 < len(blocks) < len(listed)
    found = []
    for block in blocks:
        first, last = block.split("-")
        found += resources.instances(study, {"group": "binding", "first": first, "last": last})
    assert found == sorted(listed)


def test_switched_off_group_has_no_jobs():
    study = changed()
    study["claims"]["instances"]["groups"]["slack"]["numbers"] = []
    assert resources.instance_blocks(study, "slack", "npgpd_hf") == []


def split_work(study):
    """Work over many settings: configuration, rule, what names the work, its blocks."""
    for algorithm in study["algorithms"]:
        blocks = resources.rate_blocks(study, algorithm)
        yield study, "run_rates", {"algorithm": algorithm}, blocks
        for group, part in variants.list_groups(study).items():
            blocks = resources.instance_blocks(part, group, algorithm)
            yield part, "instance_runs", {"algorithm": algorithm, "group": group}, blocks
        for axis in sensitivity.AXES:
            blocks = resources.sensitivity_blocks(study, algorithm, axis)
            yield study, "sensitivity", {"algorithm": algorithm, "axis": axis}, blocks


def durations(study, rule, work, blocks):
    """Seconds that each block is expected to take, once it has started."""
    ends = [dict(zip(("first", "last"), block.split("-"), strict=True)) for block in blocks]
    return [resources.seconds(rule, study, work | end) - resources.START for end in ends]


@pytest.mark.parametrize("minutes", [0.1, 0.5, 1, 10])
def test_blocks_last_as_long_as_they_shall_and_hold_all_of_the_work(minutes):
    parts = list(split_work(changed(job_minutes=minutes)))
    wholes = list(split_work(changed(job_minutes=10**5)))
    assert any(len(blocks) > 1 for *_, blocks in parts) == (minutes < 10)
    for part, whole in zip(parts, wholes, strict=True):
        (total,) = durations(*whole)
        assert sum(durations(*part)) == pytest.approx(total), part[1:]
        *work, blocks = part
        firsts = durations(*work, [f"{block[:4]}-{block[:4]}" for block in blocks])
        assert max(durations(*part)) <= max(60 * minutes, *firsts) * (1 + 1e-9), part[1:]


def test_default_study_splits_only_what_takes_more_than_a_minute():
    found = {
        (rule, *work.values()): len(blocks)
        for _, rule, work, blocks in split_work(CONFIG)
        if len(blocks) > 1
    }
    assert found == {
        ("instance_runs", "zpgpd_hf", "binding"): 3,
        ("instance_runs", "zpgpd_hf", "large"): 2,
        ("sensitivity", "zpgpd_hf", "steps"): 2,
    }


def test_a_job_of_twice_the_seeds_is_expected_to_take_twice_as_long():
    work = resources.seconds("simulate", CONFIG, JOB) - resources.START
    twice = resources.seconds("simulate", CONFIG, {**JOB, "last": "0019"}) - resources.START
    assert twice == pytest.approx(2 * work)


def test_every_attempt_asks_for_more():
    for ask in (resources.minutes, resources.megabytes):
        once = ask("simulate", CONFIG, JOB)
        assert [ask("simulate", CONFIG, JOB, attempt) for attempt in (1, 2, 3)] == [
            once,
            2 * once,
            3 * once,
        ]


def test_requests_have_a_margin():
    long = {**JOB, "last": "9999"}
    asked = 60 * resources.minutes("simulate", CONFIG, long)
    assert asked >= resources.TIME_MARGIN * resources.seconds("simulate", CONFIG, long)
    assert resources.minutes("simulate", CONFIG, JOB) == resources.LEAST_MINUTES


def test_memory_follows_the_largest_process():
    usual = resources.megabytes("simulate", CONFIG, JOB)
    environment = {**CONFIG["environment"], "states": 500}
    # 500 x 500 x 4 probabilities, for which 170 MB were measured.
    larger = resources.megabytes("simulate", changed(environment=environment), JOB)
    assert larger - usual > resources.MEMORY_MARGIN * 170
    study = changed()
    study["sweeps"]["states"]["algorithms"]["zpgpd_hf"]["states"] = [5, 500, 20]
    job = {**JOB, "sweep": "states"}
    assert resources.megabytes("run_sweep", study, job) == larger
    assert resources.megabytes("run_sweep", study, {**job, "sweep": "actions"}) < larger


def test_memory_follows_what_is_kept_of_each_iterate():
    usual = resources.megabytes("certify", CONFIG, JOB)
    study = changed()
    study["certificates"]["iterations"]["zpgpd_hf"] *= 100
    # Six tables of 40 numbers, each of them twice.
    assert resources.megabytes("certify", study, JOB) - usual > 1e6 * 40 * 96 / 1e6
    study["schedules"]["algorithms"]["zpgpd_hf"]["iterations"] *= 100
    assert resources.megabytes("run_schedules", study, JOB) > 1.5 * resources.megabytes(
        "run_schedules", CONFIG, JOB
    )


def test_joining_many_runs_takes_memory():
    asked = resources.megabytes("verdicts", changed(seeds=10000), {})
    assert asked > 3 * resources.megabytes("verdicts", CONFIG, {})


def test_size_of_an_environment_from_a_file_is_read_from_it(tmp_path):
    process = configuration.environment(CONFIG)
    process.save(tmp_path / "mine.npz")
    environment = {**CONFIG["environment"], "file": str(tmp_path / "mine.npz"), "states": 10**6}
    found = resources.seconds("simulate", changed(environment=environment), JOB)
    assert found == resources.seconds("simulate", CONFIG, JOB)


def test_every_rule_that_simulates_is_estimated_from_its_work():
    jobs = {
        "calibrate": {"algorithm": "npgpd_hf"},
        "simulate": JOB,
        "run_rates": {**JOB, "algorithm": "npgpd_hf"},
        "run_sweep": {**JOB, "sweep": "people"},
        "run_schedules": JOB,
        "run_grid": {**JOB, "first_instance": "0000", "last_instance": "0003"},
        "instance_runs": {**JOB, "group": "binding"},
        "certify": {"algorithm": "npgpd_hf"},
        "bound": {"setting": "paper"},
    }
    jobs |= {
        f"sensitivity {axis}": {**JOB, "axis": axis, "first": "0000", "last": "0001"}
        for axis in sensitivity.AXES
    }
    other = resources.START + resources.NOTEBOOK
    for name, job in jobs.items():
        assert resources.seconds(name.partition(" ")[0], CONFIG, job) != other, name


@pytest.mark.parametrize(
    "path", sorted((ROOT / "workflow/rules").glob("*.smk")), ids=lambda path: path.stem
)
def test_every_rule_is_local_or_asks_for_its_own_resources(path):
    for rule in re.split(r"(?m)^(?:use )?rule ", path.read_text())[1:]:
        name = rule.partition(":")[0]
        if name.endswith(" with"):  # asks for what the rule asks for from which it is made
            continue
        asks = f'runtime=runtime("{name}")' in rule and f'mem_mb=memory("{name}")' in rule
        assert ("localrule: True" in rule) != asks, name
