"""Processes whose rewards only people know, and tables of what people were shown and said."""

from __future__ import annotations  # help() shows names of types

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pgpd_hf.arguments import optional, require_number, shown
from pgpd_hf.arrays import frozen, require_array, require_probabilities, sizes
from pgpd_hf.cmdp import CMDP

KINDS = ("helpful", "harmless", "acceptable")
_MOST_ROWS = 5 * 10**6


@dataclass(frozen=True, eq=False, repr=False)
class Process:
    r"""A process without rewards.

    Parameters
    ----------
    transition : array_like, float, shape (S, A, S)
        :math:`P(s'|s, a)`; None if :func:`learn_from_votes` is to estimate it, by names' numbers.
    initial : array_like, float, shape (S,)
        Distribution :math:`\rho` of the first state.
    discount : float
        :math:`\gamma` in [0, 1).
    scale : float
        Largest reward of a step, where the smallest is 0 and one more unit of return makes an
        evaluator with the logistic link vote .73 to .27.
    state_names, action_names : sequence of str, optional
        Different names, which tables then have instead of numbers.
    render : callable, optional
        From the number of a state to its picture, as text in SVG, for :meth:`Session.write_page`.

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.Process([[[0.5, 0.5]], [[0, 1]]], [1, 0], 0.9, state_names=["ill", "well"])
    <Process: |S| = 2, |A| = 1, discount 0.9>
    """

    transition: Any
    initial: Any
    discount: float
    scale: float = 1.0
    state_names: Sequence[str] | None = None
    action_names: Sequence[str] | None = None
    render: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        initial = require_array("initial", self.initial, (None,))
        transition, states, actions = None, len(initial), None
        if self.transition is not None:
            transition = require_array("transition", self.transition, (None, None, states))
            states, actions = sizes(transition)
            transition = frozen(require_probabilities("transition", transition, transition.shape))
        elif self.action_names is None:
            raise ValueError("action_names: names expected where transitions are unknown, got None")
        checked = {
            "transition": transition,
            "initial": frozen(require_probabilities("initial", initial, (states,))),
            "discount": require_number("discount", self.discount, at_least=0, below=1),
            "scale": require_number("scale", self.scale, above=0),
            "state_names": optional(_names, "state_names", self.state_names, states),
            "action_names": optional(_names, "action_names", self.action_names, actions),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not (self.render is None or callable(self.render)):
            raise ValueError(f"render: a function of a state expected, got {shown(self.render)}")

    def without_rewards(self) -> CMDP:
        """CMDP in which trajectories can be drawn: rewards, utilities and threshold are 0."""
        if self.transition is None:
            raise ValueError("process: transitions expected, got None")
        zero = np.zeros(self.transition.shape[:2])
        return CMDP(self.transition, zero, zero, self.initial, self.discount, 0.0, self.scale)

    def __repr__(self) -> str:
        actions = len(self.action_names or self.transition[0])
        return f"<Process: |S| = {len(self.initial)}, |A| = {actions}, discount {self.discount:g}>"


def _names(name, value, count):
    fine = isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes)
    if not fine or not all(isinstance(each, str) and each.strip() for each in value):
        raise ValueError(f"{name}: a list of names expected, got {shown(value)}")
    names = tuple(each.strip() for each in value)
    if count not in (None, len(names)) or len(set(names)) != len(names) or not names:
        allowed = "different names" if count is None else f"{count} different names"
        raise ValueError(f"{name}: {allowed} expected, got {shown(value)}")
    return names


def read_columns(name, table, columns):
    """Columns of a data frame or of a CSV file, whose other columns are ignored."""
    if isinstance(table, str | os.PathLike):
        name = f"{name}: {table}"
        try:
            # Cells are text, of which nothing is made. Spreadsheets may write a byte order mark.
            how = {"dtype": str, "keep_default_na": False, "encoding": "utf-8-sig"}
            table = pd.read_csv(table, nrows=_MOST_ROWS + 1, index_col=False, **how)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "no CSV file in UTF-8"
            raise ValueError(f"{name}: {reason}; columns {', '.join(columns)} expected") from None
    if not isinstance(table, pd.DataFrame):
        raise ValueError(f"{name}: a data frame or a CSV file expected, got {shown(table)}")
    for column in columns:
        if [*table.columns].count(column) != 1:
            found = shown([*table.columns])
            raise ValueError(f"{name}: one column {column!r} expected, got {found}")
    if len(table) > _MOST_ROWS:
        raise ValueError(f"{name}: at most {_MOST_ROWS} rows expected, got more")
    return table[[*columns]].reset_index(drop=True)


def integers(name, values, least, beyond):
    """Integers of a column from `least` on, and below `beyond`."""
    try:
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        numbers = np.full(len(values), np.nan)
    wrong = ~((numbers >= least) & (numbers < beyond) & (numbers == np.floor(numbers)))
    _refuse(name, f"{values.name} from {least} to {beyond - 1}", values, wrong)
    return numbers.astype(np.int64)


def numbered(name, values, names, count):
    """Numbers of states or actions in a column, which has names where these have names."""
    if names is None:
        return integers(name, values, 0, count)
    found = pd.Index(names).get_indexer(values.astype(str).str.strip())
    _refuse(name, f"{values.name} with a known name", values, found < 0)
    return found


def pseudonyms(name, values):
    """Evaluators of a column, as text."""
    text = values.astype(str).str.strip()
    unnamed = values.isna() | (text == "") | (text.str.len() > 100)
    _refuse(name, f"{values.name} with a name of up to 100 characters", values, unnamed.to_numpy())
    return text


def _refuse(name, allowed, values, wrong):
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(f"{name}: {allowed} expected, got {shown(values[row])} in row {row}")
