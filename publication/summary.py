"""Draw the summary: three panels whose titles say what committed tables say."""

import argparse
import math
from pathlib import Path

from pgpd_hf import figures
from pgpd_hf.tables import one_line, read_table

COLORS = {"npgpd_hf": "#1b5e7d", "zpgpd_hf": "#c26a1c"}
LABELS = {"npgpd_hf": "NPGPD-HF", "zpgpd_hf": "ZPGPD-HF"}
# Safe RLHF by the policies that its questions are about.
INFERRED = {
    "safe_rlhf_uniform": "Safe RLHF, uniform",
    "safe_rlhf": "Safe RLHF, deterministic",
}
COLORS |= {"safe_rlhf_uniform": "#3c8a3c", "safe_rlhf": "#3c8a3c"}
COLORS |= {"zpgpd_hf_softmax": COLORS["zpgpd_hf"]}
FORMS = {"safe_rlhf_uniform": "--", "zpgpd_hf_softmax": "--"}
EVALUATORS = {16: 0.7, 256: 1.6}  # M, and the width of its lines
HARD = 1  # the instance that is the hardest to make safe
STEPS = {  # settings of long runs
    "printed-slow": ("step as printed", {"color": "#b3261e"}),
    "quadratic-slow": ("step / (1 + λ²)", {"color": "#1b5e7d", "linestyle": "--"}),
}


def learns(axes, curves, runs):
    """Gap against answers, of both algorithms, for two M."""
    asked = runs.drop_duplicates(["algorithm", "evaluators"]).set_index(["algorithm", "evaluators"])
    each = asked["answers"] / asked["iteration"]
    shown = curves[curves["evaluators"].isin(EVALUATORS) & (curves["iteration"] > 0)]
    for (algorithm, number), curve in shown.groupby(["algorithm", "evaluators"]):
        answers = curve["iteration"] * each[algorithm, number]
        gap = curve["optimality_gap"]
        look = {"color": COLORS[algorithm], "linewidth": EVALUATORS[number]}
        axes.plot(answers, gap, label=f"{LABELS[algorithm]}, M = {number}", **look)
    last = shown.groupby(["algorithm", "evaluators"])["optimality_gap"].last()
    told = f"{last.min():.1g} and {last.max():.1g}"
    axes.set_title(f"With more answers, gaps fall\nto between {told}")
    axes.set(xscale="log", xlim=(3e4, None), ylabel="gap  $V_r^\\star - V_r$")
    axes.annotate("better below", (0.03, 0.04), xycoords="axes fraction", color="0.3")


def ends_unsafe(axes, long, ends):
    """Violation against answers on the hard environment, as printed and with divided steps."""
    for setting, (label, look) in STEPS.items():
        curve = long[(long["instance"] == HARD) & (long["setting"] == setting)]
        curve = curve.drop(curve.index[-2])  # a short one, where the last quarter begins
        axes.plot(curve["answers"] / 1e6, curve["constraint_violation"], label=label, **look)
    axes.axhline(0, color="0.3", linewidth=0.8)
    unsafe = ends[ends["instance"] == HARD].groupby("setting")["unsafe"].agg(["sum", "count"])
    told = [f"{unsafe.loc[it, 'sum']} of {unsafe.loc[it, 'count']}" for it in STEPS]
    rest = f"in {told[0]} runs, in {told[1]} with divided steps"
    axes.set_title(f"Hard environment: ZPGPD-HF ends unsafe\n{rest}")
    axes.set(xlim=(0, None), xlabel="millions of answers", ylabel="violation  $b - V_g$")
    axes.set_ymargin(0.15)
    axes.annotate("safe below 0", (0.03, 0.04), xycoords="axes fraction", color="0.3")
    told = "means, M = 16\n$\\eta_2 = 0.0003$,\na tenth of ours"
    axes.annotate(told, (0.97, 0.26), xycoords="axes fraction", ha="right")


def costs(axes, comparison):
    """Lagrangian gap against answers, with intervals over random environments."""
    others = comparison[comparison["units"] == "environments"]
    labels = LABELS | {"zpgpd_hf_softmax": "ZPGPD-HF, softmax"} | INFERRED
    tables = {name: others[others["method"] == name] for name in labels}
    for name, table in tables.items():
        look = {"color": COLORS[name], "linestyle": FORMS.get(name, "-")}
        axes.plot(table["budget"], table["lagrangian_gap"], label=labels[name], **look)
        band = table["lagrangian_gap_low"], table["lagrangian_gap_high"]
        axes.fill_between(table["budget"], *band, color=COLORS[name], alpha=0.2, linewidth=0)
    natural = tables["npgpd_hf"]
    best = natural.loc[natural["lagrangian_gap"].idxmin()]
    inferred = [tables[name] for name in INFERRED]
    as_close = [it[it["lagrangian_gap"] <= best["lagrangian_gap"]] for it in inferred]
    needed = max(it["budget"].min() for it in as_close)
    told = [rf"$10^{{{math.log10(it):.0f}}}$" for it in (needed, best["budget"])]
    axes.set_title(f"Safe RLHF has NPGPD-HF's loss\nafter {told[0]} instead of {told[1]}")
    axes.set(xscale="log", ylabel="loss (Lagrangian gap)")
    axes.annotate("better below", (0.03, 0.04), xycoords="axes fraction", color="0.3")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("curves", "runs"):
        parser.add_argument(f"--{name}", required=True, help="CSV file of reference/")
    parser.add_argument("--stability", nargs="*", default=[], help="long.csv and ends.csv")
    parser.add_argument("--answers", nargs="*", default=[], help="comparison.csv")
    parser.add_argument("--folder", required=True, help="where summary.pdf, .svg and .png go")
    options = parser.parse_args()
    with one_line():
        panels = [(learns, [options.curves, options.runs])]
        panels += [(ends_unsafe, options.stability), (costs, options.answers)]
        panels = [(draw, paths) for draw, paths in panels if paths]
        with figures.styled():
            picture = figures.Picture(figsize=(3.1 * len(panels), 2.6))
            picture.get_layout_engine().set(rect=(0, 0, 0.99, 1), w_pad=0.12)
            grid = picture.subplots(1, len(panels), squeeze=False)[0]
            for axes, (draw, paths) in zip(grid, panels, strict=True):
                draw(axes, *map(read_table, paths))
                axes.set_xlabel(axes.get_xlabel() or "answers")
                figures.name_lines(axes)
        figures.save(picture, Path(options.folder), "summary")
