"""Processes whose rewards only people know, and tables of what people were shown and said."""

from __future__ import annotations  # help() shows names of types

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pgpd_hf.arguments import optional, require_instance, shown
from pgpd_hf.arrays import require_array
from pgpd_hf.cmdp import CMDP

KINDS = ("helpful", "harmless", "acceptable")
NUMBERS = range(2**53)  # of questions, trajectories and steps
_MOST_ROWS = 5 * 10**6


@dataclass(frozen=True, eq=False, repr=False)
class Process:
    r"""A process without rewards.

    Parameters
    ----------
    transition : array_like, float, shape (S, A, S)
        :math:`P(s'|s, a)`; None if :func:`learn_from_votes` is to estimate it, which then needs the
        names of the actions.
    initial : array_like, float, shape (S,)
        Distribution :math:`\rho` of the first state.
    discount : float
        :math:`\gamma` in [0, 1).
    scale : float
        Largest reward of a step; the smallest is 0. An evaluator with the logistic link votes .73
        to .27 if two returns differ by 1.
    state_names, action_names : sequence of str, optional
        Different names, which tables then have in place of numbers.
    render : callable, optional
        From the number of a state to its picture, as text in SVG, for :meth:`Session.write_page`.
    """

    transition: Any
    initial: Any
    discount: float
    scale: float = 1.0
    state_names: Sequence[str] | None = None
    action_names: Sequence[str] | None = None
    render: Callable[[int], str] | None = None

    def __post_init__(self) -> None:
        if not (self.render is None or callable(self.render)):
            raise ValueError(f"render: a function of a state expected, got {shown(self.render)}")
        if self.transition is None and self.action_names is None:
            raise ValueError("action_names: names expected where transitions are unknown, got None")
        cmdp = cmdp_of(self)
        for name in ("transition", "initial", "discount", "scale"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, getattr(cmdp, name))
        for name, count in (("state_names", cmdp.states), ("action_names", cmdp.actions)):
            object.__setattr__(self, name, optional(_names, name, getattr(self, name), count))

    def __repr__(self) -> str:
        states, actions = map(len, labels(self))
        return f"<Process: |S| = {states}, |A| = {actions}, discount {self.discount:g}>"


def cmdp_of(process):
    """CMDP of a process, with rewards 0; where transitions are unknown, states stay."""
    if isinstance(process, CMDP):
        return process
    transition = require_instance("process", process, Process).transition
    if transition is None:
        states, actions = np.size(process.initial), np.size(process.action_names)
        transition = np.repeat(np.eye(states)[:, None], actions, axis=1)
    transition = require_array("transition", transition, (None, None, None))
    zero = np.zeros(transition.shape[:2])
    return CMDP(transition, zero, zero, process.initial, process.discount, 0.0, process.scale)


def _names(name, value, count):
    value = value.tolist() if hasattr(value, "tolist") else value  # of NumPy and pandas
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    names = {each.strip() for each in value if isinstance(each, str)} - {""} if listed else ()
    if not len(names) == count == len(value):
        raise ValueError(f"{name}: {count} different texts expected, got {shown(value)}")
    return tuple(each.strip() for each in value)


def labels(process):
    """Names of states (S,) and of actions (A,) in tables, or their numbers."""
    states, actions = (getattr(process, f"{axis}_names", None) for axis in ("state", "action"))
    return states or range(len(process.initial)), actions or range(len(process.transition[0]))


def read_table(name, table, allowed, **optional):
    """Columns of a data frame or a CSV file, as places in what each column allows.

    A column that allows None has names of people, which stay text. Columns that are neither allowed
    nor optional are ignored.
    """
    first = 0
    if isinstance(table, str | os.PathLike):
        name, first = f"{name}: {table}", 2  # row 1 is the header
        try:  # with the header as a row, since then no line may be longer
            text = {"header": None, "dtype": str, "keep_default_na": False}
            table = pd.read_csv(table, nrows=_MOST_ROWS + 2, **text)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"{name}: a CSV file in UTF-8 expected ({reason})") from error
        table = table[1:].set_axis(table.loc[0].str.strip(), axis=1)
    columns = [*table.columns] if isinstance(table, pd.DataFrame) else []
    allowed = allowed | {it: optional[it] for it in optional.keys() & {*columns}}
    if not {"kind", "first"} <= allowed.keys():  # by which a question has a second, or none
        allowed.pop("second", None)
    if any(columns.count(column) != 1 for column in allowed):
        told = f"a data frame or a CSV file with columns {', '.join(allowed)}"
        raise ValueError(f"{name}: {told} expected, got {shown(columns or table)}")
    if not 1 <= len(table) <= _MOST_ROWS:
        got = len(table) if len(table) <= _MOST_ROWS else "more"
        raise ValueError(f"{name}: from 1 to {_MOST_ROWS} rows expected, got {got}")
    table = table[[*allowed]].set_axis(range(first, first + len(table)))
    for column, names in allowed.items():
        number = names is not None and not isinstance(names[0], str)
        if not (number and table[column].dtype.kind in "iu"):  # integers are not read as text
            given = table[column].astype(object)
            table[column] = given.where(given.notna(), "").astype(str).str.strip()
    if "second" in allowed:  # which a question about a single trajectory does not have
        single = table["kind"] == "acceptable"
        more = single & table["second"].notna() & (table["second"] != "")
        if more.any():
            got = f"got {shown(table['second'][more.idxmax()])} in row {more.idxmax()}"
            raise ValueError(f"{name}: no second of kind acceptable expected, {got}")
        both = table[["first", "second"]].astype(object)
        table["second"] = both["second"].mask(single, both["first"])
    places = {it: _places(name, table[it], allowed[it]) for it in allowed}
    return pd.DataFrame(places).reset_index(drop=True)


def _places(name, values, allowed):
    if allowed is None:
        wrong = (values == "") | values.str.contains("\0", regex=False)  # NumPy cuts NUL off
        if wrong.any():
            told = f"{values.name} that is not blank expected, got {values[wrong.idxmax()]!r}"
            raise ValueError(f"{name}: {told} in row {wrong.idxmax()}")
        return values
    keys = values
    if not isinstance(allowed[0], str):
        numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
        whole = (numbers % 1 == 0) & (numbers < NUMBERS.stop)
        keys = numbers.where(whole, -1).astype(np.int64)
    found = pd.Index(allowed).get_indexer(keys)
    if (found < 0).any():
        row = values.index[found.argmin()]
        ends = f"from {allowed[0]} to {allowed[-1]}"
        known = ends if isinstance(allowed, range) else f"one of {shown(allowed)}"
        got = f"got {shown(values[row])} in row {row}"
        raise ValueError(f"{name}: {values.name} {known} expected, {got}")
    return found


def require_single(votes):
    """Refuse a second answer of a person to a question, and a second spelling of a person."""
    known = {}
    for name in votes["evaluator"].unique():
        plain = unicodedata.normalize("NFC", " ".join(name.split())).casefold()
        plain = re.sub(r"^(\d+)\.0$", r"\1", plain)  # a number that was read as a float
        if (other := known.setdefault(plain, name)) != name:
            told = f"one name for a person expected, got {shown(other)} and {shown(name)}"
            raise ValueError(f"votes: {told}")
    twice = votes.duplicated(["question", "evaluator"])
    if twice.any():
        again = votes.loc[twice.idxmax()]
        told = f"one answer of {shown(again['evaluator'])} to question {again['question']}"
        raise ValueError(f"votes: {told} expected, got two, here or told before")
