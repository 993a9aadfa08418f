"""Summaries of a table of verdicts: as text, by statement, and by reading."""

import string

import pandas as pd

from pgpd_hf.claims.verdicts import VERDICTS

SIGNS = {"reproduced": "+", "contradicted": "-", "inconclusive": "?"}
UNDECIDABLE = "."


def sign(row):
    """Verdict as one character.

    Parameters
    ----------
    row : pandas.Series
        Row of a table of verdicts.

    Returns
    -------
    str
        A value of :data:`SIGNS`, or :data:`UNDECIDABLE` where no run decides.
    """
    return UNDECIDABLE if pd.isna(row["estimate"]) else SIGNS[row["verdict"]]


def as_text(table):
    """Matrix of verdicts as text: statements down, readings across.

    Parameters
    ----------
    table : pandas.DataFrame
        Tables of verdicts of several readings, one below the other, with the column `reading`.

    Returns
    -------
    str
    """
    readings = list(table["reading"].drop_duplicates())
    alphabet = string.ascii_uppercase + string.ascii_lowercase
    letters = dict(zip(readings, alphabet, strict=False))
    statements = table.drop_duplicates("claim").set_index("claim")["statement"]
    width = max(map(len, statements))
    signs = {(row["claim"], row["reading"]): sign(row) for _, row in table.iterrows()}
    lines = [
        "Verdicts: + reproduced, - contradicted, ? inconclusive, . no run of the reading decides",
        "",
        f"{'':<{width}}  {' '.join(letters[reading] for reading in readings)}",
    ]
    for claim, statement in statements.items():
        cells = " ".join(signs.get((claim, reading), " ") for reading in readings)
        lines.append(f"{statement:<{width}}  {cells}")
    lines.append("")
    counts = _counts(table)
    for reading in readings:
        found = ", ".join(f"{number} {verdict}" for verdict, number in counts.loc[reading].items())
        lines.append(f"{letters[reading]}  {reading:<30} {found}")
    return "\n".join(lines) + "\n"


def _counts(table):
    """Numbers of verdicts: readings down, verdicts across."""
    counts = pd.crosstab(table["reading"], table["verdict"])
    return counts.reindex(index=table["reading"].unique(), columns=VERDICTS, fill_value=0)


def standing(table):
    """How each statement depends on the reading.

    Parameters
    ----------
    table : pandas.DataFrame
        As for :func:`as_text`.

    Returns
    -------
    pandas.DataFrame
        A row per claim: statement; lists of the readings by verdict; and kind, which is "robust"
        (reproduced by every reading that decides it), "refuted" (contradicted by each of them),
        "hangs on the reading" (both occur) or "open" (no reading decides it).
    """
    rows = []
    for claim, group in table.groupby("claim", sort=False):
        lists = {
            verdict: list(group.loc[group["verdict"] == verdict, "reading"]) for verdict in VERDICTS
        }
        if lists["reproduced"]:
            kind = "hangs on the reading" if lists["contradicted"] else "robust"
        else:
            kind = "refuted" if lists["contradicted"] else "open"
        row = {"claim": claim, "statement": group["statement"].iloc[0], "kind": kind}
        rows.append(row | lists)
    return pd.DataFrame(rows)


def consistency(table):
    """How many statements each reading reproduces.

    Parameters
    ----------
    table : pandas.DataFrame
        As for :func:`as_text`, with all or some of the statements.

    Returns
    -------
    pandas.DataFrame
        A row per reading, fewest contradictions first: the number of statements with each verdict,
        and `all`, true if every statement is reproduced.
    """
    counts = _counts(table)
    counts["all"] = counts["reproduced"] == counts.sum(axis=1)
    order = ["contradicted", "reproduced"]
    return counts.sort_values(order, ascending=[True, False], kind="stable").reset_index()
