"""Judge the paper's statements by the runs of one reading."""

import argparse
import json

from pgpd_hf import claims, statistics
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", required=True, help="YAML file of the statements")
    parser.add_argument("--schema", required=True, help="its JSON Schema, as YAML")
    parser.add_argument("--reading", required=True, help="how to look at the runs, as JSON")
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--optimum", required=True, help="JSON file of its optimum")
    parser.add_argument("--traces", nargs="+", required=True, help="Parquet files of the runs")
    parser.add_argument("--rates", help="CSV file with the slopes of the sweep over T")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    schema = configuration.read_yaml(arguments.schema)
    statements = claims.load_claims(arguments.claims, schema)
    reading = json.loads(arguments.reading)
    process = CMDP.load(arguments.environment)
    optimum = storage.read_json(arguments.optimum)
    shift = 0.0
    if reading["optimum"] == "unconstrained":
        shift = optimum["unconstrained"]["reward_value"] - optimum["reward_value"]
    member = claims.Member(
        traces=statistics.read_traces(arguments.traces),
        value_bound=process.value_bound,
        pairs=process.states * process.actions,
        shift=shift,
    )
    rates = None
    if arguments.rates is not None:
        rates = storage.read_table(arguments.rates, dtype={"crowd": str})
    evidence = claims.Evidence(
        [member], curve=reading["curve"], violation=reading["violation"], rates=rates
    )
    storage.write_table(arguments.output, claims.judge(statements, evidence))


if __name__ == "__main__":
    main()
