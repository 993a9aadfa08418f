"""Put the races of a study that are not on record into a table, with a record of their outcomes."""

import json

import pandas as pd
import yaml

from pgpd_hf.races import CHOSEN, RACED, TIED
from replication.files import storage


def outcome(scores, standing):
    """What has raced, with a standing: pairs of step sizes, or triples with a radius."""
    names = [name for name in RACED if name in scores]
    return scores.loc[scores["standing"] == standing, names].to_numpy().tolist()


with storage.job(snakemake):
    tables, record = [], {}
    for (name, about), path in zip(
        snakemake.params.subjects.items(), snakemake.input.scores, strict=True
    ):
        scores = storage.read_table(path)
        tables.append(scores.assign(race=name))
        record[name] = {
            "about": about,
            "seeds": int(scores["seeds"].max()),
            "chosen": outcome(scores, CHOSEN)[0],
            "tied": outcome(scores, TIED),
        }
    apart = json.loads(json.dumps(record))  # YAML would refer to what occurs twice
    text = yaml.safe_dump(apart, sort_keys=False, default_flow_style=None, width=100)
    storage.write_text(snakemake.output.record, text)
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    columns = dict.fromkeys(["race", *RACED, *table])  # a radius, even if it has never raced
    storage.write_table(snakemake.output.scores, table.reindex(columns=columns))
