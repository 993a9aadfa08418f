"""Judge the paper's statements by runs on many random instances."""

import argparse
from pathlib import Path

import pandas as pd

from pgpd_hf import claims, statistics
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


def read_members(group, optima, traces):
    """Instances of a group with their runs, which are in folders below that of the group."""
    table = pd.concat(storage.read_table(path) for path in optima if path.parent.name == group)
    runs = statistics.read_traces(path for path in traces if path.parents[2].name == group)
    return [
        claims.Member(
            traces=runs[runs["instance"] == instance.instance],
            value_bound=instance.value_bound,
            pairs=instance.states * instance.actions,
            instance=instance.instance,
            group=group,
        )
        for instance in table.itertuples()
    ]


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", required=True, help="YAML file of the statements")
    parser.add_argument("--schema", required=True, help="its JSON Schema, as YAML")
    parser.add_argument("--groups", nargs="+", required=True, help="the judged one first")
    parser.add_argument(
        "--optima", type=Path, nargs="+", required=True, help="CSV file of each group"
    )
    parser.add_argument(
        "--traces", type=Path, nargs="+", required=True, help="Parquet files of their runs"
    )
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    schema = configuration.read_yaml(arguments.schema)
    statements = claims.load_claims(arguments.claims, schema)
    members = [
        member
        for group in arguments.groups
        for member in read_members(group, arguments.optima, arguments.traces)
    ]
    evidence = claims.Evidence(members, unit="instance")
    storage.write_table(arguments.output, claims.judge(statements, evidence))


if __name__ == "__main__":
    main()
