"""Say in a few lines how a study ended."""

import argparse

import pandas as pd

from pgpd_hf import statistics
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.figures import panels
from pgpd_hf.support import storage


def describe(study, aggregate, optimum, figures):
    """Lines that a person reads at the end of a run."""
    kind = "binds" if optimum["binding"] else "does not bind"
    yield f"Study {study}: V_r* = {optimum['reward_value']:.4f}; the constraint {kind}"
    yield f"(lambda* = {optimum['multiplier']:.3f}, Slater slack xi = {optimum['slack']:.3f})."
    yield ""
    yield f"{'last iterate':<16}{'M':>6}   {'optimality gap':<27} constraint violation"
    last = aggregate.groupby("algorithm")["iteration"].transform("max") == aggregate["iteration"]
    for _, row in aggregate[last].iterrows():
        people = "inf" if pd.isna(row["evaluators"]) else row["evaluators"]
        cells = [
            f"{row[metric]:+.4f} [{row[f'{metric}_low']:+.4f}, {row[f'{metric}_high']:+.4f}]"
            for metric in panels.METRIC_LABELS
        ]
        yield f"{get_algorithm(row['algorithm']).label:<16}{people:>6}   {'  '.join(cells)}"
    yield ""
    seeds = aggregate["seeds"].iloc[0]
    yield f"Means over {seeds} seeds with {statistics.LEVEL:.0%} intervals."
    yield f"Figures: {figures}/figure1.pdf. Notebooks and tables: results/{study}/."


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--aggregate", required=True, help="Parquet file")
    parser.add_argument("--optimum", required=True, help="JSON file")
    parser.add_argument("--figures", required=True, help="folder")
    parser.add_argument("--output", required=True, help="text file to write")
    arguments = parser.parse_args()

    lines = describe(
        arguments.study,
        storage.read_table(arguments.aggregate),
        storage.read_json(arguments.optimum),
        arguments.figures,
    )
    with storage.recording(arguments.output) as partial:
        partial.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
