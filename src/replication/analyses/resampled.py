"""Scores of the statements of the experiment, again on resampled units."""

from replication.analyses import Table, verdicts

TARGET = "infer"
TABLES = {"{folder}resampled": Table()}
READS = (
    *("claims", "own", "schema"),
    *("judged_traces", "judged_tables", "judged_environment", "judged_optimum"),
)
RESAMPLES = 1000


def arguments(config, readings, folder):
    margins = config["inference"]["margins"]
    return verdicts.arguments(config, readings, folder) | {"count": RESAMPLES, "margins": margins}


def tables(count, margins, **given):
    import pandas as pd

    from replication.statements.inference import of_experiment, resampled_scores

    statements, evidence = verdicts.load(**given)
    scores = resampled_scores(of_experiment(statements), evidence, count, margins)
    return {"resampled": pd.DataFrame({"score": scores})}
