"""Suggest step sizes for an experiment, as lines to copy into its file.

`make steps CONFIG=config/mine.yaml` searches by successive elimination (src/pgpd_hf/steps.py).
"""

import argparse
import os
import runpy
import subprocess
import sys
from pathlib import Path

from snakemake.utils import update_config

from pgpd_hf import CMDP
from pgpd_hf.steps import CANDIDATES, TIED, chosen_steps, search_steps
from pgpd_hf.tables import one_line

CLONE = Path(__file__).resolve().parents[1]
NOT_SEARCHED = ("iterations", "primal_step", "dual_step")
parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("config", nargs="?", help="file of an experiment; by default the paper's")
parser.add_argument("--seeds", type=int, default=16, help="at most, for each pair")
parser.add_argument("--cores", default="all")


def suggest(cmdp, config, name, seeds, threads):
    """Lines of a configuration for one algorithm."""
    options = config["algorithms"][name]
    given = {key: config[key] for key in ("evaluators", "horizon", "link")} | options
    given = {key: value for key, value in given.items() if key not in NOT_SEARCHED}
    given = {key: None if value == "theorem" else value for key, value in given.items()}
    how = {"iterations": options["iterations"], "seeds": seeds, "threads": threads}
    scores = search_steps([cmdp], name, progress=True, **how, **given)
    chosen, tied = chosen_steps(scores), scores[scores["standing"] == TIED]
    yield f"  {name}:  # of {len(scores)} pairs {len(tied)} are not shown to be worse"
    for key, value in chosen.items():
        at_end = {scores[key].min(), scores[key].max()} & {value, *tied[key]}
        told = "  # some of these pairs are at an end of the grid" if at_end else ""
        yield f"    {key}: {value:.12g}{told}"


with one_line():
    arguments = parser.parse_args()
    own = [arguments.config] if arguments.config else []
    configuration = runpy.run_path(str(CLONE / "workflow/scripts/configuration.py"))
    config = configuration["read"](configuration["DEFAULT"])
    for path in own:
        update_config(config, configuration["read"](path))
    configuration["check"](config, [*own, configuration["DEFAULT"]])
    make = [sys.executable, "-P", "-m", "snakemake", "--snakefile", CLONE / "Snakefile"]
    make += ["environment", "--cores", "1", *(["--configfile", *own] if own else [])]
    made = subprocess.run(make, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode:
        sys.exit(f"{made.stdout}\nerror: the environment was not made")
    cmdp = CMDP.load(f"results/{config['name']}/environment.npz")
    threads = (os.cpu_count() or 1) if arguments.cores == "all" else int(arguments.cores)
    print("algorithms:")
    for name in [name for name in config["algorithms"] if name in CANDIDATES]:
        print(*suggest(cmdp, config, name, arguments.seeds, threads), sep="\n", flush=True)
