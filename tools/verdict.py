"""Judge one statement: `make verdict STATEMENT=... SEEDS=...`.

The runs of the algorithms that the statement is about, with all M of the study, are a study of its
own with the statement's name. Arguments are the statement, the number of seeds, a study's file, and
options of Snakemake; seeds and file may be empty.
"""

import difflib
import math
import subprocess
import sys
from pathlib import Path

import yaml

from replication.files import storage, validation
from replication.statements.criteria import make_parts
from replication.statements.declaration import load_claims
from replication.statements.evidence import Term, Undecidable
from replication.study import admission, readings

ROOT = Path(__file__).parents[1]


def study_of(name, seeds, file):
    """What a study changes so that it has the runs of the algorithms that a statement is about."""
    if seeds and not seeds.isdecimal():
        raise ValueError(f"SEEDS: a whole number expected, got {seeds!r}")
    own = validation.read(file) if file else {}
    config = readings.overlay(admission.load_defaults(ROOT), own)
    allowed = admission.load_schema(ROOT, "config")
    keys = {key: allowed["properties"][key] for key in ("claims", "evaluators")}
    keys |= {"algorithms": {"type": "object"}}  # of which each needs keys that are added later
    validation.conform(config, {"$defs": allowed["$defs"], "properties": keys})
    more = [*map(Path, config["claims"]["statements"])]
    schema = admission.load_schema(ROOT, "claims")
    papers = load_claims(ROOT / "config/claims.yaml", schema)["claims"]
    claims = load_claims(ROOT / "config/claims.yaml", schema, more)["claims"]
    if name not in claims:
        near = difflib.get_close_matches(name, claims) or claims
        raise ValueError(f"STATEMENT: expected is one of {', '.join(near)}, got {name!r}")
    validation.conform(name, allowed["properties"]["study"], "STATEMENT")  # names a study, too
    try:
        parts = make_parts(claims[name]["criterion"])
    except Undecidable as error:
        raise ValueError(f"{name}: {error}") from None
    terms = [term for part in parts for term in part.contrast]
    tables = sorted({term.table for term in terms if not isinstance(term, Term)})
    if tables or not terms:
        where = f"the tables {', '.join(tables)}" if tables else "no run"
        raise ValueError(f"{name}: it is about {where}, and `make claims` judges it")
    if groups := sorted({term.group for term in terms if term.group}):
        raise ValueError(
            f"{name}: it is about the instances {', '.join(groups)}, and `make claims` judges it"
        )
    algorithms = {term.algorithm for term in terms}
    if lacking := sorted(it for it in algorithms if not config["algorithms"].get(it)):
        raise ValueError(f"{name}: it is about {lacking[0]}, which the study does not have")
    # With the study's own M as well, on whose race its step sizes rest.
    people = {term.evaluators for term in terms} | {*config["evaluators"]}
    study = own | {
        "study": name,
        "seeds": int(seeds or config["seeds"]),
        "evaluators": sorted(people, key=lambda it: math.inf if it is None else it),
        "algorithms": own.get("algorithms", {})
        | {other: None for other in config["algorithms"] if other not in algorithms},
    }
    asked = {} if name in papers else {name: claims[name]}
    return study, asked


def judge(name, seeds, file, *options):
    """Run the study, and print the verdict."""
    folder = Path("results", name)
    with validation.one_line((OSError, ValueError)):
        study, asked = study_of(name, seeds, file)
        statements = [str(folder / "statement.yaml")] if asked else []
        study["claims"] = study.get("claims", {}) | {"statements": statements}
        for place in statements:
            storage.write(place, yaml.safe_dump({"claims": asked}, sort_keys=False))
        storage.write(folder / "study.yaml", yaml.safe_dump(study, sort_keys=False))
    made = folder / "claims.csv"
    command = ["snakemake", str(made), *options, "--configfile", str(folder / "study.yaml")]
    if code := subprocess.run(command).returncode:
        sys.exit(code)
    [row] = storage.read_table(made).query("claim == @name").to_dict("records")
    print(f"\n{row['statement']}: {row['verdict']} with {study['seeds']} seeds")
    if row["estimate"] == row["estimate"]:
        print(f"{row['part']}: {row['estimate']:.4f}, from {row['low']:.4f} to {row['high']:.4f}")
    if isinstance(row["why"], str):
        print(row["why"])
    print(f"Table: {made}")


if __name__ == "__main__":
    judge(*sys.argv[1:])
