"""Say in a few lines how a study ended."""

import pandas as pd

from pgpd_hf import statistics
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.evaluators import evaluators_text
from pgpd_hf.races import describe_race
from pgpd_hf.runs import METRICS
from replication.files import storage
from replication.statements import report


def describe(about, optimum, aggregate, races, verdicts, fresh):
    """Lines that a person reads at the end of a run; `about` is what the rule says of the study."""
    kind = "binds" if optimum["binding"] else "does not bind"
    yield f"Study {about.study}: V_r* = {optimum['reward_value']:.4f}; the constraint {kind}"
    yield f"(lambda* = {optimum['multiplier']:.3f}, Slater slack xi = {optimum['slack']:#.3g})."
    yield ""
    yield f"{'last iterate':<16}{'M':>6}   {'optimality gap':<27} constraint violation"
    last = aggregate.groupby("algorithm")["iteration"].transform("max") == aggregate["iteration"]
    for _, row in aggregate[last].iterrows():
        label = get_algorithm(row["algorithm"]).label
        evaluators = evaluators_text(None if pd.isna(row["evaluators"]) else row["evaluators"])
        gap, violation = (statistics.with_interval(row, metric) for metric in METRICS)
        yield f"{label:<16}{evaluators:>6}   {gap:<26}  {violation}"
    yield ""
    seeds = aggregate["seeds"].iloc[0]
    for algorithm, scores in races.items():
        yield f"Step sizes of {get_algorithm(algorithm).label}: {describe_race(scores)}"
    labels = {get_algorithm(name).label: n for name, n in about.rounds.items()}
    asked = ", ".join(f"N = {n} for {label}" for label, n in labels.items())
    yield f"Rounds of trajectories per iteration, which the paper does not give: {asked}."
    if seeds == 1:
        yield "Values of one seed: intervals take two or more."
    else:
        yield f"Means over {seeds} seeds with {statistics.LEVEL:.0%} intervals."
    yield ""
    found = report.of_experiment(verdicts)
    yield f"Does it reproduce? {report.in_short(found)} with these seeds:"
    for _, row in found.iterrows():
        told = fresh.get(row["claim"], "")
        yield f"  {row['verdict']:<13}{row['statement']:<43}{told}".rstrip()
    yield from report.undecided(found)
    if fresh:
        yield f"On the right: verdicts on fresh data ({report.CONFIRMATION})."
    else:
        yield "These verdicts are not confirmed on fresh data."
    yield f"Why: {about.page}."
    own = "" if about.study == "paper" else " CONFIG=... with the study's file"
    yield f"With more seeds, other readings and other environments: make claims{own}."
    yield from about.left_out
    yield ""
    yield f"Figures: {about.figures}/figure1.pdf. Notebooks and tables: results/{about.study}/."


with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    aggregate, verdicts = map(storage.read_table, (source.aggregate, source.verdicts))
    races = {name: storage.read_table(path) for name, path in params.races.items()}
    fresh = {}
    for path in source.confirmation:
        fresh = report.on_fresh_data(verdicts, storage.read_table(path))
    optimum = storage.read_json(source.optimum)
    lines = describe(params, optimum, aggregate, races, verdicts, fresh)
    storage.write_text(snakemake.output[0], "\n".join(lines) + "\n")
