"""Choose the step sizes of one algorithm by a race, or take them from the one on record."""

from pgpd_hf import environments
from pgpd_hf.runs.races import chosen_steps, describe_race, race
from replication.files import storage
from replication.study import recorded_races

with storage.job(snakemake):
    recorded = snakemake.params.recorded
    if recorded:
        scores = recorded_races.load_scores(snakemake.input.scores[0], recorded)
        print(f"The race {recorded} on record ({recorded_races.RECORD}):")
    else:
        options = dict(snakemake.params.race)
        cmdps = [environments.make(environment) for environment in options.pop("environments")]
        scores = race(cmdps, **options, threads=snakemake.threads)
        print("A new race:")
    print(describe_race(scores))
    storage.write(snakemake.output.scores, scores)
    storage.write(snakemake.output.steps, chosen_steps(scores))
