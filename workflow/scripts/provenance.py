"""Record what a study was made with: versions, machine, commit, configuration, wall time."""

import os
from pathlib import Path

import yaml

from replication.files import provenance, storage

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

with storage.job(snakemake):
    config, benchmarks = snakemake.params.config, snakemake.params.benchmarks
    content = {
        "versions": provenance.versions(),
        "platform": provenance.machine(),
        "threads": {name: os.environ.get(name) for name in THREADS},
        "commit": provenance.commit(Path(__file__).parents[2]),
        "time": provenance.period(snakemake.params.made),
        "wall_time": provenance.wall_time(benchmarks),
    }
    storage.write(snakemake.output.config, yaml.safe_dump(config, sort_keys=False))
    storage.write(snakemake.output.provenance, {**content, "config": config})
