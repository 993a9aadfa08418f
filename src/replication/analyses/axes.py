"""What an answer buys elsewhere: people who tell returns apart otherwise, or remember otherwise.

The comparison is made again for people who tell returns apart c times as well, with 1 / c² times as
many answers. With settings tuned for people who vote as assumed, it is also made for people whose
votes no reward explains. Gaps and violations are in units of the largest value, so that they can be
compared over c. Once more it is made on larger environments, also on linear ones, whose features
some methods use.
"""

import numpy as np
import pandas as pd

from pgpd_hf.statistics import joint_test, mean_interval, mean_test, verdict
from replication.analyses import Table, misspecification
from replication.analyses import comparison as compared
from replication.files import storage
from replication.study import comparison, elsewhere

TARGET = "compare_axes"
TABLES = {
    "axes": Table(
        "What an answer buys elsewhere (table)", "discrimination people method design budget"
    ),
    "axes_answers": Table(
        "Answers needed, by discrimination (table)", "discrimination people method design target"
    ),
    "axes_collapse": Table("Do counts of answers fall on one curve? (table)", "method design"),
    "axes_hurt": Table(
        "Whom votes hurt that no reward explains (table)",
        "discrimination people method design answers_scaled",
    ),
    "axes_skipping": Table(
        "Does skipping reward inference pay off elsewhere? (table)", "discrimination people budget"
    ),
    "axes_sizes": Table("What an answer buys, by size (table)", "size method design budget"),
    "axes_exponents": Table("Answers needed, by size (table)", "method design target"),
    "axes_linear": Table(
        "What an answer buys with features, by size (table)", "size method design budget"
    ),
    "axes_linear_exponents": Table(
        "Answers needed with features, by size (table)", "method design target"
    ),
}
READS = ("runs",)
SHOWS = ("axes_settings",)
PICTURES = {
    "axes": "Answers needed, by discrimination",
    "axes_votes": "Votes that no reward explains",
    "axes_sizes": "Priced gaps by size of the environment",
    "axes_linear": "The same with features",
}
TUNED_BY = "axes_tuning"
why_not = comparison.why_not
check = elsewhere.check
AS_KNOWN = 1  # the discrimination that the others are compared to
_WORLD = ["discrimination", "people"]
_METHOD = compared.METHOD
COLLAPSE_COLUMNS = (*_METHOD, "points", "largest", "verdict")
HURT_COLUMNS = (*_WORLD, *_METHOD, "answers_scaled", "difference", "low", "high", "hurts")
EXPONENT_COLUMNS = (*_METHOD, "target", "least", "most", "exponent", "low", "high")
_DRAWS = 2000  # of the bootstrap over environments


def plan(config):
    return elsewhere.plan(config, misspecification.plan)


def arguments(config):
    return {
        "sides": {side: config["axes"][side] for side in comparison.SIDES},
        "margin": config["axes"]["margin"],
        "targets": config["axes"]["sizes"]["targets"],
    }


def parameters(config):
    # A method looks as in the comparison, where its place decides about colour and marker.
    sizes = config["axes"]["sizes"]
    own = config["axes"]["methods"] | sizes["methods"] | sizes["linear"]["methods"]
    own = {name: it for name, it in own.items() if it is not None}
    return {"labels": comparison.labels(config["comparison"]["methods"] | own)}


def tables(runs, sides, margin, targets):
    runs = in_units_of_value(storage.read_tables(runs))
    sized = runs[runs["size"].notna()].astype({"size": int})
    has_features = sized["features"].notna()
    linear, sized = sized[has_features], sized[~has_features]
    runs = runs[runs["size"].isna()]
    table = compared.by_world(runs, _WORLD, compared.tabulate)
    as_assumed = runs[runs["people"] == misspecification.AS_ASSUMED]
    found = [
        table.assign(answers_scaled=scaled(table)),
        compared.by_world(table, _WORLD, compared.answers_needed),
        collapse(as_assumed, margin),
        hurt(runs),
        compared.by_world(
            runs, ["discrimination"], lambda part: misspecification.differences(part, sides)
        ),
        compared.by_world(sized, ["size"], compared.tabulate),
        exponents(sized, targets),
        compared.by_world(linear, ["size"], compared.tabulate),
        exponents(linear, targets),
    ]
    return dict(zip(TABLES, found, strict=True))


def in_units_of_value(runs):
    """Runs with gaps and violations as shares of the largest value."""
    shares = runs[["optimality_gap", "constraint_violation"]].div(runs["value_bound"], axis=0)
    return runs.assign(**shares, answers_scaled=scaled(runs))


def scaled(table):
    """Values of c² K; budgets are whole numbers, so that they are rounded."""
    return (table["budget"] * table["discrimination"] ** 2).round(-3)


def collapse(runs, margin):
    """Judge for each method whether priced gaps depend on answers through c² K alone."""
    # At every c and c² K the paired difference from c = 1 has to be shown to be within the margin,
    # by two one-sided tests at level 0.01; one that is shown to be beyond contradicts.
    rows = []
    for method, group in compared.priced(runs).groupby(_METHOD, sort=False):
        table = group.pivot(
            index=[*compared.UNIT, "answers_scaled"], columns="discrimination", values="priced_gap"
        )
        if AS_KNOWN not in table:
            continue
        inside, outside, means = [], [], []
        others = table.drop(columns=AS_KNOWN).sub(table[AS_KNOWN], axis=0)
        for _, points in others.groupby("answers_scaled"):
            for _, difference in points.items():
                pairs = difference.dropna()
                if pairs.empty:
                    continue
                above, below = mean_test(pairs - margin), mean_test(pairs + margin)
                inside.append(max(above[1], below[0]))
                outside.append(min(1.0, 2 * min(above[0], below[1])))
                means.append(pairs.mean())
        holds, fails = joint_test(inside, outside) if means else (1.0, 1.0)
        told = verdict(holds <= compared.TEST_LEVEL, fails <= compared.TEST_LEVEL)
        rows.append((*method, len(means), max(means, key=abs, default=float("nan")), told))
    return pd.DataFrame(rows, columns=list(COLLAPSE_COLUMNS))


def hurt(runs):
    """Paired differences of priced gaps from those with people who vote as assumed."""
    rows = []
    keys = ["discrimination", *_METHOD, "answers_scaled"]
    for (factor, *method, answers), group in compared.priced(runs).groupby(keys, sort=False):
        table = compared.by_unit(group, "people")
        usual = table.pop(misspecification.AS_ASSUMED)
        for people, gaps in table.items():
            mean, low, high = mean_interval(gaps - usual, 1 - 2 * compared.TEST_LEVEL)
            told = verdict(low > 0, high < 0, ("yes", "no", "open"))
            rows.append((factor, people, *method, answers, mean, low, high, told))
    return pd.DataFrame(rows, columns=list(HURT_COLUMNS))


def exponents(runs, targets):
    """The power of |S||A| with which the answers grow that a priced gap takes."""
    # The slope of a line through the logarithms of both, with 95 % of a bootstrap over the
    # environments of each size. It is NaN where a gap is reached with the fewest answers already,
    # or not with the most, in the mean or in a draw; so are the answers at either end. One
    # environment has no interval.
    rows, random = [], np.random.default_rng(0)
    for method, group in compared.priced(runs).groupby(_METHOD, sort=False):
        sizes = {size: compared.by_unit(part, "budget") for size, part in group.groupby("size")}
        x = np.log(list(sizes))
        for target in targets:
            needed = [[answers_until(gaps.mean(), target)] for gaps in sizes.values()]
            for needed_at, gaps in zip(needed, sizes.values(), strict=True):
                for _ in range(_DRAWS):
                    drawn = gaps.iloc[random.integers(len(gaps), size=len(gaps))]
                    needed_at.append(answers_until(drawn.mean(), target))
            y = np.log(needed)
            slopes = ((x - x.mean()) @ y) / ((x - x.mean()) ** 2).sum()
            alone = min(map(len, sizes.values())) < 2  # then all draws are the same
            low, high = (np.nan,) * 2 if alone else np.quantile(slopes[1:], (0.025, 0.975))
            ends = needed[0][0], needed[-1][0]
            rows.append((*method, target, *ends, slopes[0], low, high))
    return pd.DataFrame(rows, columns=list(EXPONENT_COLUMNS))


def answers_until(gaps, target):
    """The number of answers at which priced gaps by budget reach a target, if it can be told."""
    first = int((gaps <= target).to_numpy().argmax())
    if first == 0:  # at once, or never
        return np.nan
    (before, above), (budget, below) = gaps.iloc[first - 1 : first + 1].items()
    share = (above - target) / (above - below)
    return float(before * (budget / before) ** share)
