"""Suggest step sizes for an experiment, as lines to copy into its file.

`make steps CONFIG=config/mine.yaml` searches by successive elimination (src/pgpd_hf/steps.py).
"""

import argparse
import os
import runpy
from pathlib import Path

import numpy as np

from pgpd_hf import solve
from pgpd_hf.environments import make_environment
from pgpd_hf.steps import (
    CANDIDATES,
    CHOSEN,
    DROPPED,
    NAMES,
    TIED,
    chosen_steps,
    search_steps,
    violation_weight,
)
from pgpd_hf.tables import one_line
from pgpd_hf.trajectories import horizon_caution

CHECKS = Path(__file__).resolve().parents[1] / "workflow/scripts/configuration.py"
HARDLY = 0.9  # share of the uniform policy's score


def in_units(cmdp, pair):
    """A gap and a violation as text, in the user's units."""
    scales = np.array(cmdp.units[:2] if cmdp.units else (1, 1))
    return " and ".join(f"{value:.3g}" for value in pair * scales)


def suggest(cmdp, config, name, threads):
    """Lines of a configuration for one algorithm."""
    options = config["algorithms"][name]
    given = {key: config[key] for key in ("evaluators", "horizon", "link")} | options
    given = {key: None if value == "theorem" else value for key, value in given.items()}
    given |= {"primal_step": None, "dual_step": None}  # are searched
    scores = search_steps(cmdp, name, **given, seeds=16, threads=threads, progress=True)
    tied = (scores["standing"] == TIED).sum()
    yield f"  # For all M; by a t test {tied} of {len(scores) - 1} other pairs may be as good."
    chosen = scores[scores["standing"] == CHOSEN].iloc[0]
    optimum, uniform = solve(cmdp), np.full_like(cmdp.reward, 1 / cmdp.actions)
    v_r, v_g = cmdp.evaluate(uniform)
    usual = np.maximum([optimum.reward_value - v_r, cmdp.threshold - v_g], 0)
    found = chosen[["positive_gap", "positive_violation"]]
    yield f"  # Positive gap and violation, as scored: {in_units(cmdp, found)};"
    yield f"  # of the uniform policy: {in_units(cmdp, usual)}."
    if chosen["score"] > HARDLY * (usual @ [1, violation_weight(optimum)]):
        yield "  # So these hardly learn: a larger T may."
    if scores.loc[scores["standing"] != DROPPED, "at_end"].any():
        ends = [f"{key} {scores[key].min():g} to {scores[key].max():g}" for key in NAMES]
        yield f"  # Tried were {', '.join(ends)}; values beyond may be as good."
    yield f"  {name}:"
    yield f"    iterations: {options['iterations']}"
    for key, value in chosen_steps(scores).items():
        yield f"    {key}: {value:.12g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", nargs="*", help="file of an experiment; by default the paper's")
    parser.add_argument("--cores", default="all")
    arguments = parser.parse_args()
    config, folder = runpy.run_path(str(CHECKS))["check_files"](arguments.config)
    cmdp = make_environment(config["environment"], folder)
    threads = (os.cpu_count() or 1) if arguments.cores == "all" else int(arguments.cores)
    if told := horizon_caution(cmdp.discount, config["horizon"]):
        print(f"# {told}")
    print("algorithms:")
    for name in config["algorithms"]:
        if name in CANDIDATES:
            print(*suggest(cmdp, config, name, threads), sep="\n", flush=True)
        else:
            print(f"  # {name}: not searched here; pgpd_hf.choose_steps does it in Python")


if __name__ == "__main__":
    with one_line():
        main()
