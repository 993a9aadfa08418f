"""How often verdicts are wrong at the margin, and how often they decide at an alternative.

A thousand sets of synthetic traces go through the whole procedure, from traces to verdicts.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import worlds
import yaml
from scipy import stats

from replication.statements.declaration import load_claims
from replication.statements.verdicts import judge

ROOT = Path(__file__).parents[2]
CLAIMS = load_claims(
    ROOT / "config/claims.yaml",
    yaml.safe_load((ROOT / "workflow/schemas/claims.schema.yaml").read_text()),
)
NAMES = ("npgpd-gap-64-256-identical", "zpgpd-gap-16-markedly-worse", "npgpd-gap-plateaus")
SEEDS = 12
NOISE = {"at the margin": 0.04, "beside it": 0.02}  # of a window's mean, in gaps of the start
MARGIN, ALTERNATIVE = 0.1, CLAIMS["alternative"]
REPETITIONS = 1000
# How often the declared level may be exceeded by chance, were it the true error rate: one in a
# thousand, for each of the six numbers.
MOST = stats.binom.ppf(1 - 1e-3, REPETITIONS, CLAIMS["level"])
GRID = np.array([0.0, 0.49, 0.5, 0.74, 0.75, 1.0])
TIMES = {"npgpd_hf": 1000, "zpgpd_hf": 2000}


def traces(gaps, random, noise):
    """Traces whose gap is flat in each window; `gaps` has the means of the last two quarters."""
    tables = []
    for (algorithm, m), (third, last) in gaps.items():
        late = random.normal([third, last], noise, size=(SEEDS, 2))
        rest = np.broadcast_to([1.0, 1.0], (SEEDS, 2))
        gap = np.concatenate([rest, late[:, [0, 0]], late[:, [1, 1]]], axis=1)
        flat = np.zeros(gap.size)
        table = {
            "seed": np.repeat(np.arange(SEEDS), len(GRID)),
            "iteration": np.tile((GRID * TIMES[algorithm]).astype(int), SEEDS),
            "optimality_gap": gap.ravel(),
            **dict.fromkeys(["constraint_violation", "multiplier", "answers"], flat),
        }
        tables.append(pd.DataFrame(table).assign(algorithm=algorithm, evaluators=m))
    return pd.concat(tables, ignore_index=True)


def verdicts(third, last, random, noise):
    """Verdicts on one set of traces.

    64 and 256 differ by `last`, and 16 is worse than both by it; the curve of 64 changes by `third`
    from the third to the last quarter.
    """
    few = {m: 0.3 + last * (m == 64) for m in (64, 256)}
    many = {m: 0.3 + last * (m == 16) for m in (16, 64, 256)}
    gaps = {("npgpd_hf", m): (end + third * (m == 64), end) for m, end in few.items()}
    gaps |= {("npgpd_hf", 16): (0.3, 0.3)}
    gaps |= {("zpgpd_hf", m): (end, end) for m, end in many.items()}
    chosen = CLAIMS | {"claims": {name: CLAIMS["claims"][name] for name in NAMES}}
    return judge(chosen, worlds.evidence(traces(gaps, random, noise)))


@cache
def rates(change, noise):
    """Number of repetitions with each verdict, by statement, where all differences are `change`."""
    # The quarters share a row, so a step between them is seen a little smaller than it is.
    seen = verdicts(MARGIN, MARGIN, np.random.default_rng(0), noise=0).set_index("claim")
    third = change * MARGIN / seen.loc["npgpd-gap-plateaus", "estimate"]
    random = np.random.default_rng(14)
    found = pd.concat(
        verdicts(third, change, random, noise)[["claim", "verdict"]] for _ in range(REPETITIONS)
    )
    counts = pd.crosstab(found["claim"], found["verdict"])
    return counts.reindex(columns=["reproduced", "contradicted"], fill_value=0)


@pytest.mark.slow
def test_at_the_margin_wrong_verdicts_are_as_rare_as_declared():
    """Either verdict is wrong there: the statement is neither true nor false by any amount."""
    found = rates(MARGIN, NOISE["at the margin"])
    assert (found <= MOST).all().all(), found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("side", "verdict", "names"),
    [
        (-1, "reproduced", [NAMES[0], NAMES[2]]),
        (1, "reproduced", [NAMES[1]]),
        (1, "contradicted", [NAMES[0], NAMES[2]]),
        (-1, "contradicted", [NAMES[1]]),
    ],
)
def test_at_the_stated_alternative_nine_of_ten_decide(side, verdict, names):
    """The truth misses the margin by the alternative, on either side, with noise small enough."""
    found = rates(MARGIN + side * ALTERNATIVE, NOISE["beside it"])
    least = stats.binom.ppf(1e-3, REPETITIONS, 0.9)
    assert (found.loc[names, verdict] >= least).all(), found
