"""Record what a study was made with: versions, machine, commit, configuration, wall time."""

import os

import pandas as pd
import yaml

from pgpd_hf.support import pages, provenance, storage

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TITLES = {
    "git": "Commit",
    "time": "Time",
    "platform": "Machine",
    "threads": "Threads of linear algebra",
    "versions": "Versions",
}


def tables(content):
    """The same for people, without the configuration."""
    plain = {
        title: pd.DataFrame(content[key].items(), columns=["what", "value"])
        for key, title in TITLES.items()
    }
    times = pd.DataFrame.from_dict(content["wall_time"], orient="index")
    return plain | {"Wall time in seconds, by rule": times.rename_axis("rule").reset_index()}


with storage.job(snakemake):
    config, benchmarks = snakemake.params.config, snakemake.params.benchmarks
    content = {
        "versions": provenance.versions(),
        "platform": provenance.machine(),
        "threads": {name: os.environ.get(name) for name in THREADS},
        "git": provenance.commit("."),
        "config": config,
        "time": provenance.period(benchmarks),
        "wall_time": provenance.wall_time(benchmarks),
    }
    with storage.recording(snakemake.output.config) as partial:
        partial.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    title = f"How study {config['study']} was made"
    pages.write_page(snakemake.output.page, title, tables(content))
    storage.write_json(snakemake.output.provenance, content)
