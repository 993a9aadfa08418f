"""Suggest step sizes for an experiment: the key `algorithms` of its file, to be replaced.

`make steps CONFIG=config/mine.yaml` searches by successive elimination (src/pgpd_hf/steps.py).
"""

import argparse
import os
import runpy
import textwrap
import warnings
from pathlib import Path

import yaml

from pgpd_hf import choose_steps
from pgpd_hf.environments import make_environment
from pgpd_hf.steps import CANDIDATES
from pgpd_hf.tables import one_line
from pgpd_hf.trajectories import horizon_caution

CHECKS = runpy.run_path(str(Path(__file__).parents[1] / "workflow/scripts/configuration.py"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", nargs="*", help="file of an experiment; by default the paper's")
    parser.add_argument("--cores", default="all")
    arguments = parser.parse_args()
    config, folder = CHECKS["check_files"](arguments.config)
    cmdp = make_environment(config["environment"], folder)
    threads = (os.cpu_count() or 1) if arguments.cores == "all" else int(arguments.cores)
    common = {key: config[key] for key in ("evaluators", "horizon", "link")}
    if caution := horizon_caution(cmdp.discount, config["horizon"]):
        print(f"# {caution} Other steps may suit it.")
    print("algorithms:  # in place of this key in the file; steps are for all M")
    for name, options in config["algorithms"].items():
        if name in CANDIDATES:
            given = {key: None if it == "theorem" else it for key, it in options.items()} | common
            with warnings.catch_warnings(record=True, action="always") as told:
                found = choose_steps(cmdp, name, **given, seeds=16, threads=threads, progress=True)
            options = options | found
            for warning in told:
                print(f"  # pgpd_hf.choose_steps: {warning.message}")
        else:
            print("  # Not searched here; pgpd_hf.choose_steps does it in Python:")
        text = yaml.safe_dump({name: options}, sort_keys=False)
        print(textwrap.indent(text, "  "), end="", flush=True)
    for name in sorted(CANDIDATES.keys() - config["algorithms"]):
        print(f"  {name}: null")


if __name__ == "__main__":
    with one_line():
        main()
