"""Judge the paper's statements by the runs of one reading, or of many instances."""

import argparse
import json

import yaml

from pgpd_hf import claims, statistics, storage
from pgpd_hf.cmdp import CMDP


def read_member(options, optimum_kind):
    """Runs on one process, and what their numbers refer to."""
    process = CMDP.load(options["environment"])
    optimum = storage.read_json(options["optimum"])
    binding = options.get("binding")
    if binding is not None and binding != optimum["binding"]:
        kind = "binds" if optimum["binding"] else "does not bind"
        raise SystemExit(
            f"claims.instances.groups.{options['group']}: the constraint of instance "
            f"{options['instance']} {kind}"
        )
    shift = 0.0
    if optimum_kind == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
    return claims.Member(
        traces=statistics.read_traces(options["traces"]),
        value_bound=process.value_bound,
        pairs=process.states * process.actions,
        shift=shift,
        instance=options["instance"],
        group=options["group"],
    )


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", required=True, help="YAML file of the statements")
    parser.add_argument("--schema", required=True, help="its JSON Schema, as YAML")
    parser.add_argument("--evidence", required=True, help="runs and how to look at them, as JSON")
    parser.add_argument("--rates", help="CSV file with the slopes of the sweep over T")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    with open(arguments.schema, encoding="utf-8") as file:
        statements = claims.load_claims(arguments.claims, yaml.safe_load(file))
    options = json.loads(arguments.evidence)
    evidence = claims.Evidence(
        [read_member(member, options["optimum"]) for member in options["members"]],
        unit=options["unit"],
        curve=options["curve"],
        violation=options["violation"],
        rates=None
        if arguments.rates is None
        else storage.read_table(arguments.rates, dtype={"crowd": str}),
    )
    storage.write_table(arguments.output, claims.judge(statements, evidence))


if __name__ == "__main__":
    main()
