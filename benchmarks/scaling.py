"""Cost and memory of the engine against each size of a study: ``python -m benchmarks.scaling``.

One size is varied at a time around the paper's experiment. Each point is measured in a process of
its own, whose peak memory belongs to it alone. Writes a table and a plot to docs/.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf import random_cmdp, run
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.optima import Optimum
from pgpd_hf.core.policies import uniform_policy
from pgpd_hf.runs.traces import iterates
from replication.figures import style

DOCS = Path(__file__).parent.parent / "docs"
BASE = {"states": 10, "actions": 4, "horizon": 80, "rounds": 1, "evaluators": 64, "seeds": 1}
AXES = {
    "states": [10, 30, 100, 300, 1000],
    "actions": [2, 4, 8, 16, 50],
    "horizon": [20, 40, 80, 160, 320, 640],
    "rounds": [1, 2, 5, 10, 20, 50],
    "evaluators": [1, 4, 16, 64, 256, 1024],
    "seeds": [1, 2, 5, 10, 20, 50],
    "iterations": [250, 500, 1000, 2000, 4000, 8000],
}
# Of the whole run for large sizes: sampling is linear in H and N (and, for NPGPD-HF, in |S| and
# |A|), choosing an action in |A|, the projection quadratic in |A|, the exact values cubic in |S|.
EXPECTED = {"states": 3, "actions": 2, "evaluators": 0}  # 1 for the others
ALGORITHMS = ("npgpd_hf", "zpgpd_hf")
LABELS = {
    "states": r"states $|S|$",
    "actions": r"actions $|A|$",
    "horizon": r"horizon $H$",
    "rounds": r"rounds $N$",
    "evaluators": r"evaluators $M$",
    "seeds": "seeds",
    "iterations": r"iterations $T$",
}
COLORS = {"npgpd_hf": "#000000", "zpgpd_hf": "#757575"}
SECONDS = 0.15  # that a measured run has to take


def measure(algorithm, sizes):
    """Measure one point, in this process: seconds of an iteration without set-up, and megabytes.

    Sizes are like `BASE`; with "iterations", the whole run of that length is timed. `simulation` is
    the time without the exact values.
    """
    sizes = dict(sizes)
    states, actions, seeds = (sizes.pop(name) for name in ("states", "actions", "seeds"))
    length = sizes.pop("iterations", None)
    cmdp = random_cmdp(states=states, actions=actions)
    # The time does not depend on the optimum, which takes hours by linear program for |S| = 1000.
    policy = uniform_policy(states, actions)
    values = (float(value) for value in cmdp.evaluate(policy))
    optimum = Optimum(policy, *values, 0.0, 1.0, "none", cmdp.threshold)
    kind = get_algorithm(algorithm)
    steps = kind.pick({"primal_step": 0.001, "dual_step": 0.001, "perturbation": 1.0})

    def whole(iterations):
        begin = time.process_time()
        run(
            cmdp,
            algorithm,
            seeds=range(seeds),
            iterations=iterations,
            optimum=optimum,
            **sizes,
            **steps,
        )
        return time.process_time() - begin

    def simulation(iterations):
        begin = time.process_time()
        ready = kind(**sizes, **steps).prepare(cmdp, optimum, iterations)
        for seed in range(seeds):
            for _ in iterates(ready, seed):
                pass
        return time.process_time() - begin

    whole(1)  # compiles, or reads the cache
    if length is None:
        seconds, simulated = per_iteration(whole), per_iteration(simulation)
    else:
        seconds, simulated = (min(f(length) for _ in range(3)) for f in (whole, simulation))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB; bytes on macOS
    megabytes = peak / (2**20 if sys.platform == "darwin" else 2**10)
    return {"seconds": seconds, "simulation": simulated, "megabytes": megabytes}


def per_iteration(seconds_of):
    """Seconds of an iteration, set-up excluded, from a short and a long run."""
    short = min(seconds_of(1) for _ in range(2))
    length = 4
    while (longer := seconds_of(length) - short) < SECONDS:
        length *= 4
    return longer / (length - 1)


def measure_all():
    """Measure all points, each in a process of its own: a row of :func:`measure` for each."""
    rows = []
    for algorithm in ALGORITHMS:
        for axis, values in AXES.items():
            for value in values:
                point = json.dumps([algorithm, {**BASE, axis: value}])
                command = [sys.executable, "-m", "benchmarks.scaling", "--point", point]
                answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                row = {"algorithm": algorithm, "axis": axis, "size": value, **json.loads(answer)}
                rows.append(row)
                print(row, file=sys.stderr)
    return pd.DataFrame(rows)


def exponent(sizes, seconds):
    """Slope of the logarithms over the larger half of the sizes."""
    half = len(sizes) // 2
    return np.polyfit(np.log(sizes)[-half - 1 :], np.log(seconds)[-half - 1 :], 1)[0]


def draw(table):
    """Draw time against each size, with the slope in the limit through the last point."""
    style.use_style()
    figure, panels = plt.subplots(2, 4, figsize=(style.TWO_COLUMNS, 3.9))
    for axes, axis in zip(panels.flat, AXES, strict=False):
        for index, algorithm in enumerate(ALGORITHMS):
            part = table[(table["axis"] == axis) & (table["algorithm"] == algorithm)]
            sizes, seconds = part["size"].to_numpy(float), part["seconds"].to_numpy()
            order = EXPECTED.get(axis, 1)
            color, name = COLORS[algorithm], get_algorithm(algorithm).label
            marker = style.marker(index)
            axes.plot(sizes, seconds, marker=marker, ms=3, lw=1, color=color, label=name)
            half = sizes[-(len(sizes) // 2) - 1 :]
            axes.plot(half, seconds[-1] * (half / half[-1]) ** order, ":", lw=1, color="0.35")
            if axis == "states":
                axes.plot(sizes, part["simulation"], "--", lw=0.8, color=color)
            axes.text(
                0,
                1.16 - 0.12 * index,
                f"slope {exponent(sizes, seconds):.2f}, limit {order}",
                transform=axes.transAxes,
                color=color,
            )
        axes.set(xscale="log", yscale="log", xlabel=LABELS[axis])
        ticks = [AXES[axis][0], AXES[axis][len(AXES[axis]) // 2], AXES[axis][-1]]
        axes.set_xticks(ticks, [str(tick) for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.yaxis.set_minor_formatter("")
        low, high = np.log10(axes.get_ylim())
        if np.floor(high) - np.ceil(low) < 1:  # two powers of ten, so that the axis has a scale
            axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))
        if axis == "iterations":
            axes.set_ylabel("seconds per run")
    for axes in panels[:, 0]:
        axes.set_ylabel("seconds per iteration")
    handles = [
        *panels[0, 0].get_legend_handles_labels()[0][:2],
        plt.Line2D([], [], ls="--", lw=0.8, color="0.4"),
        plt.Line2D([], [], ls=":", lw=1, color="0.35"),
    ]
    names = [
        "NPGPD-HF",
        "ZPGPD-HF",
        "without exact\nvalues",
        "slope in the limit\nof large sizes",
    ]
    panels[1, 3].axis("off")
    panels[1, 3].legend(handles, names, loc="center")
    return figure


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--point", help=argparse.SUPPRESS)
    point = parser.parse_args().point
    if point is not None:
        print(json.dumps(measure(*json.loads(point))))
        return
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    table = measure_all()
    table.to_csv(DOCS / "scaling.csv", index=False, float_format="%.4g")
    style.save(draw(table), DOCS, "scaling", formats=["png"])


if __name__ == "__main__":
    main()
