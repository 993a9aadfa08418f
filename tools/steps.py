"""Suggest step sizes for an experiment: the key `algorithms` of its file, to be replaced.

`make steps CONFIG=config/mine.yaml` searches by successive elimination (src/pgpd_hf/steps.py).
"""

import argparse
import os
import runpy
import textwrap
from pathlib import Path

import numpy as np
import yaml

from pgpd_hf import solve
from pgpd_hf.environments import make_environment
from pgpd_hf.steps import (
    CANDIDATES,
    CHOSEN,
    DROPPED,
    NAMES,
    TIED,
    chosen_steps,
    hardly_learns,
    search_steps,
    uniform_values,
)
from pgpd_hf.tables import one_line
from pgpd_hf.trajectories import horizon_caution

CHECKS = runpy.run_path(str(Path(__file__).parents[1] / "workflow/scripts/configuration.py"))


def in_units(cmdp, pair):
    """A gap and a violation as text, in the user's units."""
    scales = np.array(cmdp.units[:2] if cmdp.units else (1, 1))
    return " and ".join(f"{value:.3g}" for value in pair * scales)


def suggest(cmdp, optimum, config, name, threads):
    """Lines of a configuration for one algorithm."""
    options = config["algorithms"][name]
    given = {key: config[key] for key in ("evaluators", "horizon", "link")} | options
    given = {key: None if value == "theorem" else value for key, value in given.items()}
    given |= {"primal_step": None, "dual_step": None}  # are searched
    scores = search_steps(cmdp, name, **given, seeds=16, threads=threads, progress=True)
    tied = (scores["standing"] == TIED).sum()
    yield f"  # For all M; by a t test {tied} of {len(scores) - 1} other pairs may be as good."
    chosen = scores[scores["standing"] == CHOSEN].iloc[0]
    found = chosen[["positive_gap", "positive_violation"]]
    yield f"  # Positive gap and violation, as scored: {in_units(cmdp, found)};"
    yield f"  # of the uniform policy: {in_units(cmdp, uniform_values(cmdp, optimum))}."
    if hardly_learns(scores, cmdp, optimum):
        yield "  # So these hardly learn: a larger T may."
    if scores.loc[scores["standing"] != DROPPED, "at_end"].any():
        ends = [f"{key} {scores[key].min():g} to {scores[key].max():g}" for key in NAMES]
        yield f"  # Tried were {', '.join(ends)}; values beyond may be as good."
    yield as_yaml(name, options | chosen_steps(scores))


def as_yaml(name, options):
    """An algorithm with its options, as a configuration has it."""
    return textwrap.indent(yaml.safe_dump({name: options}, sort_keys=False).rstrip(), "  ")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", nargs="*", help="file of an experiment; by default the paper's")
    parser.add_argument("--cores", default="all")
    arguments = parser.parse_args()
    config, folder = CHECKS["check_files"](arguments.config)
    cmdp = make_environment(config["environment"], folder)
    optimum = solve(cmdp)
    threads = (os.cpu_count() or 1) if arguments.cores == "all" else int(arguments.cores)
    if told := horizon_caution(cmdp.discount, config["horizon"]):
        print(f"# {told} Steps are for the H of the file.")
    if optimum.multiplier == 0:
        print("# The constraint does not bind: the best policy without it is safe.")
    print("algorithms:  # in place of this key in the file")
    for name, options in config["algorithms"].items():
        if name in CANDIDATES:
            print(*suggest(cmdp, optimum, config, name, threads), sep="\n", flush=True)
        else:
            print("  # Not searched here; pgpd_hf.choose_steps does it in Python:")
            print(as_yaml(name, options))
    for name in sorted(CANDIDATES.keys() - config["algorithms"]):
        print(f"  {name}: null")


if __name__ == "__main__":
    with one_line():
        main()
