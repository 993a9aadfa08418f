"""Record what a study was made with: versions, machine, commit, configuration, wall time."""

import argparse
import json
import os

import pandas as pd
import yaml

from pgpd_hf.support import pages, provenance, storage

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def tables(content):
    """The same for people, without the configuration."""
    plain = {
        title: pd.DataFrame(
            {
                "what": list(content[key]),
                "value": ["" if v is None else str(v) for v in content[key].values()],
            }
        )
        for title, key in (
            ("Commit", "git"),
            ("Time", "time"),
            ("Machine", "platform"),
            ("Threads of linear algebra", "threads"),
            ("Versions", "versions"),
        )
    }
    times = pd.DataFrame.from_dict(content["wall_time"], orient="index")
    return plain | {"Wall time in seconds, by rule": times.rename_axis("rule").reset_index()}


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True, help="the resolved configuration, as JSON")
    parser.add_argument("--benchmarks", required=True, help="Snakemake's files by rule, as JSON")
    parser.add_argument("--resolved", required=True, help="YAML file to write")
    parser.add_argument("--page", required=True, help="HTML file to write")
    parser.add_argument("--output", required=True, help="JSON file to write")
    arguments = parser.parse_args()

    config = json.loads(arguments.config)
    benchmarks = json.loads(arguments.benchmarks)
    content = {
        "versions": provenance.versions(),
        "platform": provenance.machine(),
        "threads": {name: os.environ.get(name) for name in THREADS},
        "git": provenance.commit("."),
        "config": config,
        "time": provenance.period(benchmarks),
        "wall_time": provenance.wall_time(benchmarks),
    }
    with storage.recording(arguments.resolved) as partial:
        partial.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    pages.write_page(arguments.page, f"How study {config['study']} was made", tables(content))
    storage.write_json(arguments.output, content)


if __name__ == "__main__":
    main()
