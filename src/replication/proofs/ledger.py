"""Worst ratios of the two sides of inequalities, step by step."""

import numpy as np
import pandas as pd

_ROUNDING = 1e-9
_NOTHING = 1e-12  # sides below it are zero


class Ledger:
    """Keeps the largest ratio of the left to the right side of each step."""

    def __init__(self):
        self._steps = {}

    def declare(self, method, statements, kind="step"):
        """Name steps by number before they are checked; those of kind "control" have to fail."""
        for step, statement in statements.items():
            row = {"step": step, "statement": statement, "kind": kind, "method": method}
            self._steps[step] = row | {"cases": 0, "worst": -np.inf}

    def add(self, step, left, right, cases=None):
        """Compare two sides: a step says that left is at most right."""
        if step not in self._steps:
            raise KeyError(f"step {step}: not declared")
        left, right = np.broadcast_arrays(np.asarray(left, float), np.asarray(right, float))
        something = right > _NOTHING
        beside_nothing = np.where(left <= _NOTHING, 0.0, np.inf)
        ratio = np.where(something, left / np.where(something, right, 1.0), beside_nothing)
        ratio = np.where(np.isnan(right), np.nan, ratio)  # a ratio that is none does not hold
        row = self._steps[step]
        row["worst"] = float(np.maximum(row["worst"], ratio.max()))
        row["cases"] += cases or int(np.isfinite(right).sum())  # an infinite bound checks nothing

    def table(self):
        """Collect all steps in a table; a step that was never checked does not hold."""
        table = pd.DataFrame(self._steps.values())
        checked, worst = table["cases"] > 0, table["worst"]
        holds = (worst > 1).where(table["kind"] == "control", worst <= 1 + _ROUNDING)
        return table.assign(worst=worst.where(checked, np.inf), holds=holds & checked)
