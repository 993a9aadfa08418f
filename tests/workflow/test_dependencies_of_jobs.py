"""Every rule declares the files of the package that its jobs load: no fewer, and no more."""

from collections import defaultdict

import pytest


@pytest.fixture(scope="module")
def rules(finished_and_loaded):
    """By rule, files that a job loads but does not declare, and those that no job loads."""
    _, _, processes = finished_and_loaded
    missing, unused = defaultdict(set), {}
    for number, job in processes.items():
        if "rule" in job:
            kernels = [other for other in processes.values() if str(other["parent"]) == number]
            loaded = {file for process in (job, *kernels) for file in process["loaded"]}
            missing[job["rule"]] |= loaded.difference(job["declared"])
            # What one job of a rule does not need, another one may.
            rest = set(job["declared"]) - loaded
            unused[job["rule"]] = unused.get(job["rule"], rest) & rest
    return missing, unused


def test_jobs_load_nothing_that_their_rule_does_not_declare(rules):
    missing, _ = rules
    assert {"environment", "calibrate", "aggregate", "bounds_by_setting", "figure"} <= set(missing)
    assert {name: sorted(files) for name, files in missing.items() if files} == {}


def test_rules_declare_nothing_that_no_job_loads(rules):
    _, unused = rules
    assert {name: sorted(files) for name, files in unused.items() if files} == {}
