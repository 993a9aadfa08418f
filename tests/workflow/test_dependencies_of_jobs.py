"""Records of results name the files of the packages that their jobs load: no fewer, and no more."""

from collections import defaultdict


def test_records_name_what_jobs_and_the_kernels_of_their_notebooks_load(finished_and_loaded):
    _, _, processes = finished_and_loaded
    missing, unused, told = defaultdict(set), defaultdict(set), 0
    for number, job in processes.items():
        if "rule" in job:
            kernels = [other for other in processes.values() if str(other["parent"]) == number]
            loaded = {file for process in (job, *kernels) for file in process["loaded"]}
            missing[job["rule"]] |= loaded.difference(job["recorded"])
            if kernels or not job["page"]:  # a slow kernel is killed and says nothing
                unused[job["rule"]] |= set(job["recorded"]) - loaded
                told += job["page"]
    assert {"environment", "calibrate", "aggregate", "bounds_by_setting", "figure"} <= set(missing)
    assert told > 3
    assert {name: sorted(files) for name, files in missing.items() if files} == {}
    assert {name: sorted(files) for name, files in unused.items() if files} == {}
