"""Time the engine beside NumPy and plain Python, and the plan of all jobs beside a trivial one.

Setting: environment 42, M = 64, N = 1, H = 80; processor time. `--full PATH` compares with the
engine of another clone that has a .venv: 20 runs of each in turn, the median ratio, its interval.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import timeit
from functools import partial
from pathlib import Path

import numpy as np

import pgpd_hf

CLONE = Path(__file__).resolve().parents[1]
M, H = 64, 80
CMDP = pgpd_hf.random_cmdp(states=10, actions=4, instance=42)
SIGNALS = np.stack([CMDP.reward, CMDP.utility], axis=2)
ITERATIONS = {"npgpd_hf": 15_000, "zpgpd_hf": 100_000}  # some 0.2 seconds of the engine
WORKER = f"""
import sys, time, pgpd_hf
cmdp = pgpd_hf.random_cmdp(states=10, actions=4, instance=42)
optimum = pgpd_hf.solve(cmdp)
for line in sys.stdin:
    name, iterations = line.split()
    start = time.process_time()
    pgpd_hf.run(cmdp, name, evaluators={M}, rounds=1, horizon={H}, primal_step=0.001,
        dual_step=0.01, seeds=[0], iterations=int(iterations), optimum=optimum)
    print(time.process_time() - start, flush=True)
"""


def start_engine(clone):
    """Start a process that runs algorithms with the package of a clone."""
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen([Path(clone, ".venv/bin/python"), "-c", WORKER], **pipe)


def time_engine(engine, name):
    """Seconds for each iteration of an algorithm."""
    engine.stdin.write(f"{name} {ITERATIONS[name]}\n")
    engine.stdin.flush()
    return float(engine.stdout.readline()) / ITERATIONS[name]


def sample_together(rng, policy, state, action):
    """NumPy: both returns of trajectories that take each step together."""
    choose, move = policy.cumsum(1)[:, :-1], CMDP.transition.cumsum(2)[:, :, :-1]
    returns = np.zeros((len(state), 2))
    for t in range(H + 1):
        returns += CMDP.discount**t * SIGNALS[state, action]
        state = (rng.random((len(state), 1)) >= move[state, action]).sum(1)
        action = (rng.random((len(state), 1)) >= choose[state]).sum(1)
    return returns


def sample_one_by_one(rng, policy, states, actions):
    """Plain Python: one trajectory after the other, one step after the other."""
    returns = np.zeros((len(states), 2))
    for k, (state, action) in enumerate(zip(states, actions, strict=True)):
        for t in range(H + 1):
            returns[k] += CMDP.discount**t * SIGNALS[state, action]
            state = rng.choice(CMDP.states, p=CMDP.transition[state, action])
            action = rng.choice(CMDP.actions, p=policy[state])
    return returns


def time_sampling(sample, iterations):
    """Seconds for the trajectories of an iteration of NPGPD-HF, which does more than this."""
    rng, (S, A) = np.random.default_rng(0), CMDP.reward.shape
    policy = np.full((S, A), 1 / A)
    states = np.concatenate([np.repeat(np.arange(S), A), np.arange(S), [0]])
    actions = np.concatenate([np.tile(np.arange(A), S), rng.integers(A, size=S + 1)])
    begin = time.process_time()
    for _ in range(iterations):
        sample(rng, policy, states, actions)
    return (time.process_time() - begin) / iterations


def time_plan(snakefile, folder):
    """Seconds of `snakemake --dry-run` in an empty folder: the best of three."""
    command = [sys.executable, "-P", "-m", "snakemake", "--dry-run", "--quiet", "--cores", "1"]
    command += ["--snakefile", snakefile, "--directory", folder]
    run = partial(subprocess.run, command, check=True, capture_output=True)
    return min(timeit.repeat(run, number=1, repeat=3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", metavar="PATH", help="another clone, with a .venv")
    options = parser.parse_args()
    engine = start_engine(CLONE)
    took = min(time_engine(engine, "npgpd_hf") for _ in range(5))
    numpy, python = time_sampling(sample_together, 200), time_sampling(sample_one_by_one, 2)
    print(f"An iteration of NPGPD-HF takes {took * 1e6:.1f} us. Its trajectories alone take NumPy")
    print(f"{numpy / took:,.0f} times as long, and plain Python {python / took:,.0f} times.")
    with tempfile.TemporaryDirectory() as folder:
        trivial = Path(folder, "Snakefile")
        trivial.write_text("rule all:\n    shell: 'true'\n")
        ratio = time_plan(CLONE / "Snakefile", folder) / time_plan(trivial, folder)
    print(f"The plan of all jobs takes {ratio:.2f} times as long as that of a trivial Snakefile.")
    other = start_engine(options.full) if options.full else None
    for name in ITERATIONS if other else ():
        time_engine(other, name), time_engine(engine, name)  # the first ones compile
        ratios = sorted(time_engine(engine, name) / time_engine(other, name) for _ in range(20))
        # Between the 6th and the 15th of 20 lies the median, at a level of 95.9 %.
        low, middle, high = ratios[5], sum(ratios[9:11]) / 2, ratios[14]
        print(f"{name}: {middle:.3f} of the other's time [{low:.3f}, {high:.3f}]")


if __name__ == "__main__":
    main()
