"""Settings of all tests, and how tests of studies run Snakemake."""

import os
import subprocess
import sys

import pytest
import yaml
from hypothesis import settings

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

# Linear algebra on one thread, as in jobs of the workflow: tests share the cores.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


@pytest.fixture
def snakemake(request, tmp_path):
    """Run Snakemake on the study, on a configuration and declarations if given: code and output."""
    snakefile = request.path.parents[1] / "Snakefile"

    def snakemake(*words, config=None, declared=None):
        command = [sys.executable, "-P", "-m", "snakemake", "--cores", "2"]
        command += ["--snakefile", snakefile, *words]
        if config is not None:
            (tmp_path / "mine.yaml").write_text(yaml.safe_dump(config))
            command += ["--configfile", "mine.yaml"]
        if declared is not None:
            (tmp_path / "declared.yaml").write_text(yaml.safe_dump(declared))
            command += ["--config", "declared=declared.yaml"]
        found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return found.returncode, found.stdout + found.stderr

    return snakemake


@pytest.fixture
def jobs(snakemake):
    """How many jobs of each rule a run would start."""

    def jobs(*words, **given):
        code, output = snakemake(*words, "--dry-run", **given)
        assert code == 0, output
        lines = output.rpartition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
        return {rule: int(count) for rule, count in map(str.split, lines)}

    return jobs
