"""Put the races of a study's results on record: config/steps.yaml and reference/races.csv."""

import json
import sys
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf import study
from pgpd_hf.analyses import instances
from pgpd_hf.cases import STEPS
from pgpd_hf.studies import races, readings
from pgpd_hf.studies.calibration import CHOSEN, TIED
from pgpd_hf.support import storage, validation

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# Step sizes that races have chosen, and what each race was about. `make races` writes this file,
# and all scores to reference/races.csv.
"""


def pairs(scores, standing):
    """Pairs of steps with a standing."""
    return scores.loc[scores["standing"] == standing, [*STEPS]].to_numpy().tolist()


def main(results, study_file=None):
    config = validation.read(ROOT / "config/config.yaml")
    record, tables = {}, []
    if study_file:  # whose races are added
        config = readings.overlay(config, validation.read(Path(study_file)))
        record, tables = {**races.load_record(ROOT)}, [pd.read_csv(ROOT / races.SCORES)]
    loaded = study.load_readings(config, ROOT)
    configs = readings.configurations(config, loaded) | instances.calibrations(config)
    for (folder, algorithm), raced in races.distinct(configs).items():
        if races.recorded(record, raced, algorithm):
            continue
        name = f"{folder}{algorithm}"
        scores = storage.read_table(Path(results, f"{folder}calibration/{algorithm}.csv"))
        tables.append(scores.assign(race=name)[["race", *scores]])
        record[name] = {
            "about": races.subject(raced, algorithm),
            "seeds": int(scores["seeds"].max()),
            "chosen": pairs(scores, CHOSEN)[0],
            "tied": pairs(scores, TIED),
        }
    apart = json.loads(json.dumps(record))  # YAML would refer to what occurs twice
    text = yaml.safe_dump(apart, sort_keys=False, default_flow_style=None, width=100)
    (ROOT / races.RECORD).write_text(HEAD + text, encoding="utf-8")
    table = pd.concat(tables, ignore_index=True).to_csv(index=False, lineterminator="\n")
    (ROOT / races.SCORES).write_text(table, encoding="utf-8")


if __name__ == "__main__":
    with validation.one_line("error", OSError):
        main(*sys.argv[1:])
