"""Put the races of a study's results on record: config/steps.yaml and reference/races.csv."""

import json
import sys
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf import study
from pgpd_hf.analyses import instances
from pgpd_hf.cases import RACED
from pgpd_hf.studies import races, readings
from pgpd_hf.studies.calibration import CHOSEN, TIED
from pgpd_hf.support import storage, validation

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# Step sizes that races have chosen, and what each race was about. `make races` writes this file,
# and all scores to reference/races.csv.
"""


def candidates(scores, standing):
    """What has raced, with a standing: pairs of step sizes, or triples with a radius."""
    names = [name for name in RACED if name in scores]
    return scores.loc[scores["standing"] == standing, names].to_numpy().tolist()


def main(results, study_file=None, prefix=""):
    config = validation.read(ROOT / "config/config.yaml")
    record, tables = {}, []
    if study_file:  # whose races are added, their names beginning with the prefix
        defaults, own = config, validation.read(Path(study_file))
        config, _ = study.settle(readings.overlay(defaults, own), ROOT, own, defaults)
        record = validation.read_yaml(ROOT / races.RECORD)
        tables = [pd.read_csv(ROOT / races.SCORES)]
    loaded = study.load_readings(config, ROOT)
    configs = readings.configurations(config, loaded) | instances.calibrations(config)
    for (folder, algorithm), raced in races.distinct(configs).items():
        if races.recorded(record, raced, algorithm):
            continue
        name = f"{prefix}{folder}{algorithm}"
        scores = storage.read_table(Path(results, f"{folder}calibration/{algorithm}.csv"))
        tables.append(scores.assign(race=name))
        record[name] = {
            "about": races.subject(raced, algorithm),
            "seeds": int(scores["seeds"].max()),
            "chosen": candidates(scores, CHOSEN)[0],
            "tied": candidates(scores, TIED),
        }
    apart = json.loads(json.dumps(record))  # YAML would refer to what occurs twice
    text = yaml.safe_dump(apart, sort_keys=False, default_flow_style=None, width=100)
    (ROOT / races.RECORD).write_text(HEAD + text, encoding="utf-8")
    table = pd.concat(tables, ignore_index=True)
    columns = dict.fromkeys(["race", *RACED, *table])  # a radius, even if it has never raced
    text = table.reindex(columns=columns).to_csv(index=False, lineterminator="\n")
    (ROOT / races.SCORES).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    with validation.one_line("error", OSError):
        main(*sys.argv[1:])
