"""Which N is the paper's."""

from replication.analyses import Table
from replication.files import storage
from replication.study import algorithms

TARGET = "infer"
TABLES = {"inferred": Table()}
READS = ("trial_claims", "trial_resampled")
SHOWS = ("trial_claims", "trial_runs")
PICTURES = {"rounds": "Other N"}
CATEGORY = "Inference"
LOCAL = True


def trials_of(configs, judged):
    """Folders with a table of verdicts by N, which is the same for all algorithms of a folder."""
    found = {}
    for folder in judged:
        numbers = {*algorithms.rounds(configs[folder]).values()} if folder in configs else ()
        if len(numbers) == 1:
            found.setdefault(numbers.pop(), []).append(folder)
    return found


def check(trials):
    if len(trials) < 2:
        numbers = ", ".join(map(str, trials)) or "none"
        raise ValueError(
            f"claims.readings: at least two N expected, to choose among, got {numbers}"
        )
    if len({len(folders) for folders in trials.values()}) > 1:
        counts = ", ".join(f"{len(folders)} for {number}" for number, folders in trials.items())
        raise ValueError(
            "claims: as many readings and groups of instances expected for each N, since scores "
            f"are sums over them, got {counts}"
        )


def arguments(config, trials):
    rounds = [number for number, folders in trials.items() for _ in folders]
    return {"rounds": rounds, **config["inference"]}


def tables(trial_claims, trial_resampled, rounds, **rule):
    from replication.statements import inference, report

    tables, resampled = {}, {}
    for number, verdicts, scores in zip(rounds, trial_claims, trial_resampled, strict=True):
        table = report.of_experiment(storage.read_table(verdicts))
        tables.setdefault(number, []).append(table)
        scores = storage.read_table(scores)["score"].to_numpy()
        resampled[number] = resampled.get(number, 0) + scores
    return {"inferred": inference.infer(tables, resampled, **rule)}


def parameters(config, trials, trial_runs):
    numbers = [int(number) for number, files in trial_runs.items() for _ in files]
    return {**arguments(config, trials), "run_rounds": numbers}
