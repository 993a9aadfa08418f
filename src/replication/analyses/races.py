"""Races of the study, its readings and its groups of instances that are not on record."""

import json

import pandas as pd
import yaml

from pgpd_hf.algorithms.base import RACED
from replication.analyses import Table
from replication.files import storage
from replication.study.recorded_races import subject

TARGET = "races"
TABLES = {"races": Table(), "steps.yaml": Table()}
READS = ("new_scores",)
LOCAL = True


def arguments(new_races, calibrated):
    found = new_races.items()
    return {"subjects": {name: subject(calibrated[folder], it) for name, (folder, it) in found}}


def tables(new_scores, subjects):
    tables = [
        storage.read_table(path).assign(race=name)
        for name, path in zip(subjects, new_scores, strict=True)
    ]
    table = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
    columns = dict.fromkeys(["race", *RACED, *table])  # a radius, even if it has never raced
    apart = json.loads(json.dumps(subjects))  # YAML would refer to what occurs twice
    return {
        "races": table.reindex(columns=columns),
        "steps.yaml": yaml.safe_dump(apart, sort_keys=False, default_flow_style=None, width=100),
    }
