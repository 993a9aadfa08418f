"""Worst ratios of the two sides of inequalities, step by step."""

import numpy as np
import pandas as pd

_ROUNDING = 1e-9
_NOTHING = 1e-12  # sides below it are zero


class Ledger:
    """Keeps the largest ratio of the left to the right side of each step."""

    def __init__(self):
        self._steps, self._worst, self._cases = {}, {}, {}

    def declare(self, method, statements, kind="step"):
        """Name steps by number before they are checked; those of kind "control" have to fail."""
        for step, statement in statements.items():
            self._steps[step] = {"statement": statement, "kind": kind, "method": method}

    def add(self, step, left, right, cases=None):
        """Compare two sides: a step says that left is at most right."""
        if step not in self._steps:
            raise KeyError(f"step {step}: not declared")
        left, right = np.broadcast_arrays(np.asarray(left, float), np.asarray(right, float))
        something = right > _NOTHING
        ratio = np.where(
            something,
            left / np.where(something, right, 1.0),
            np.where(left <= _NOTHING, 0.0, np.inf),
        )
        self._worst[step] = max(self._worst.get(step, -np.inf), float(ratio.max()))
        self._cases[step] = self._cases.get(step, 0) + (cases or ratio.size)

    def table(self):
        """Collect all steps in a table; a step that was never checked does not hold."""
        rows = []
        for step, columns in self._steps.items():
            worst = self._worst.get(step, np.inf)
            fine = worst > 1 if columns["kind"] == "control" else worst <= 1 + _ROUNDING
            cases = self._cases.get(step, 0)
            rows.append(
                {
                    "step": step,
                    **columns,
                    "cases": cases,
                    "worst": worst,
                    "holds": fine and cases > 0,
                }
            )
        return pd.DataFrame(rows)
