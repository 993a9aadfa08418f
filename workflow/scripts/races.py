"""Put the races of a study that are not on record into a table, beside what they are about."""

import json

import pandas as pd
import yaml

from pgpd_hf.races import RACED
from replication.files import storage

with storage.job(snakemake):
    subjects, paths = snakemake.params.subjects, snakemake.input.scores
    tables = [
        storage.read_table(path).assign(race=name)
        for name, path in zip(subjects, paths, strict=True)
    ]
    apart = json.loads(json.dumps(subjects))  # YAML would refer to what occurs twice
    text = yaml.safe_dump(apart, sort_keys=False, default_flow_style=None, width=100)
    storage.write_text(snakemake.output.record, text)
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    columns = dict.fromkeys(["race", *RACED, *table])  # a radius, even if it has never raced
    storage.write_table(snakemake.output.scores, table.reindex(columns=columns))
