"""Time the engine beside its peers and print one table: ``python -m benchmarks``."""

import argparse
import itertools
import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks import agreement, report
from benchmarks.contestants import ENGINE, PEERS, Absent, Running
from benchmarks.task import Task
from pgpd_hf import random_cmdp, solve

LENGTHS = {"npgpd_hf": 1000, "zpgpd_hf": 50_000}  # T of the paper's experiment
STEPS = {"npgpd_hf": (0.3, 0.1), "zpgpd_hf": (0.001, 0.003)}
ROUNDS = (1, 10)
SEEDS = (1, 20, 200)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="per timed run (default 0.5)")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each (default 3)")
    arguments = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    with tempfile.TemporaryDirectory() as folder:
        contestants, absent = compare(Path(folder))
        processes = [
            Running(contestant, used)
            for contestant, used in itertools.product(contestants, sorted({1, cores}))
        ]
        rows = []
        for algorithm, rounds, seeds in itertools.product(LENGTHS, ROUNDS, SEEDS):
            print(f"timing {algorithm}, N = {rounds}, {seeds} seeds ...", file=sys.stderr)
            path = Path(folder) / f"{algorithm}-{rounds}.npz"
            task = paper_task(algorithm, rounds)
            task.save(path)
            times = time_case(processes, path, task, seeds, arguments.seconds, arguments.repeats)
            rows += report.rows(task, seeds, times)
        for process in processes:
            process.close()
    print(machine(cores))
    print()
    print(report.table(rows, [peer.label for peer in PEERS]))
    for label, reason in absent.items():
        print(f"\n{label}: not measured, {reason}.")


def paper_task(algorithm, rounds):
    """Make the task of the paper's size, with 64 evaluators and the paper study's environment."""
    cmdp = random_cmdp()
    primal_step, dual_step = STEPS[algorithm]
    return Task(
        algorithm=algorithm,
        transition=cmdp.transition,
        reward=cmdp.reward,
        utility=cmdp.utility,
        initial=cmdp.initial,
        discount=cmdp.discount,
        threshold=cmdp.threshold,
        scale=cmdp.scale,
        evaluators=64,
        rounds=rounds,
        horizon=80,
        primal_step=primal_step,
        dual_step=dual_step,
        multiplier_bound=2 / ((1 - cmdp.discount) * solve(cmdp).slack),
        perturbation=1.0,
    )


def compare(folder):
    """Refuse to time a peer that computes something else; say which ones can run.

    These are the engine and all peers that run here; also why the others do not, by label.
    """
    tasks = list(agreement.small_tasks())
    paths = [folder / f"small-{index}.npz" for index in range(len(tasks))]
    for task, path in zip(tasks, paths, strict=True):
        task.save(path)

    def samples(contestant):
        running = Running(contestant, cores=1)
        seeds = range(1000 if contestant.seeds_matter else 300)
        try:
            return [running.run(path, seeds, agreement.ITERATIONS)[1] for path in paths]
        finally:
            running.close()

    ours = samples(ENGINE)
    contestants, absent = [ENGINE], {}
    for peer in PEERS:
        print(f"comparing {peer.label} with the engine ...", file=sys.stderr)
        try:
            theirs = samples(peer)
        except Absent as reason:
            absent[peer.label] = str(reason)
            continue
        if not peer.complete:
            theirs = ours  # nothing to compare
        for task, a, b in zip(tasks, ours, theirs, strict=True):
            wrong = agreement.disagreements(a, b, len(tasks) * len(PEERS))
            if wrong:
                where = f"{task.algorithm}, N = {task.rounds}"
                sys.exit(f"error: {peer.label} and the engine differ ({where}): {wrong[0]}")
        contestants.append(peer)
    return contestants, absent


def time_case(processes, path, task, seeds, seconds, repeats):
    """Median seconds per environment step in one case, by label and number of cores.

    After a warm-up of each contestant all run in turn, several times over.
    """
    measured = {}
    for turn in range(repeats + 1):
        for process in processes:
            if process.cores > 1 and seeds == 1:
                continue  # one run is sequential
            # A plain loop takes as long for each seed, so that one per core is enough.
            contestant = process.contestant
            count = seeds if contestant.seeds_matter else min(seeds, process.cores)
            iterations = contestant.iterations(task, count / process.cores, seconds)
            iterations = min(iterations, LENGTHS[task.algorithm])
            taken, _ = process.run(path, range(count), iterations)
            if turn > 0:
                per_step = taken / (count * iterations * task.steps_per_iteration)
                measured.setdefault((contestant.label, process.cores), []).append(per_step)
    return {key: statistics.median(values) for key, values in measured.items()}


def machine(cores):
    """One line about what the numbers were measured on."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return f"{model}, {cores} cores, {platform.system()}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
