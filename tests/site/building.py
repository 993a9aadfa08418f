"""Results that a site is made from, in a folder of their own."""

import shutil

import pandas as pd
import yaml
from snakemake.utils import update_config

from replication.files import provenance, storage, validation
from replication.study import admission


def write_results(folder, origin=None, study="paper"):
    """Write what `make figures` leaves for the site, and the runs of one seed, from reference/.

    The reference and the configuration are those of the folder itself, or of another one.
    """
    origin = origin or folder
    results = folder / "results" / study
    results.mkdir(parents=True)
    reference = origin / "reference" / ("" if study == "paper" else study)
    curves = storage.read_table(reference / "curves.csv").assign(seeds=20)
    storage.write(results / "aggregate.parquet", curves)
    shutil.copy(reference / "claims.csv", results)
    config = admission.load_defaults(origin)
    if study != config["study"]:
        update_config(config, validation.read(origin / f"config/{study}.yaml"))
    storage.write(results / "config.yaml", yaml.safe_dump(config))
    optimum = pd.read_csv(reference / "optimum.csv", index_col="entry")["value"]
    values = {name: float(optimum[name]) for name in ("reward_value", "unconstrained.reward_value")}
    unconstrained = {"reward_value": values.pop("unconstrained.reward_value")}
    storage.write(results / "optimum.json", values | {"unconstrained": unconstrained})
    record = {
        "versions": provenance.versions(),
        "platform": provenance.machine(),
        "commit": "0" * 40,
        "time": {"started": "2026-01-01T00:00:00+00:00", "finished": "2026-01-01T00:01:30+00:00"},
        "wall_time": {"run": {"jobs": 1, "seconds": 90.0, "longest": 90.0}},
    }
    storage.write(results / "provenance.json", record)
    traces = storage.read_table(reference / "traces.csv")
    for (algorithm, people), runs in traces.groupby(["algorithm", "evaluators"]):
        place = results / f"full/runs/{algorithm}/M{people}"
        place.mkdir(parents=True)
        storage.write(place / "seeds0000-0000.parquet", runs)
