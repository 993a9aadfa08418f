"""Summaries of a table of verdicts: as text, by statement, and by reading."""

import string

import pandas as pd

from replication.statements.verdicts import VERDICTS

SIGNS = {"reproduced": "+", "contradicted": "-", "inconclusive": "?"}
UNDECIDABLE = "."
CONFIRMATION = "reference/confirmation.csv"  # verdicts of the default study on fresh data
FRESH = "fresh seeds"  # its reading of the environment of the study, for people
NOT_CONFIRMED = "not confirmed"


def expected_errors(table):
    """Bound the number of wrong verdicts in a table, in words.

    Each judged cell is wrongly called reproduced, or wrongly called contradicted, with at most the
    probability `level`. So the expected numbers of such cells are at most the level times their
    number, however they depend on each other.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`, or several of these below each other.

    Returns
    -------
    str
        One sentence.
    """
    levels = table.loc[table["p_reproduced"].notna(), "level"]
    level = f"{table['level'].iloc[0]:g} in either direction"
    return (
        f"{len(levels)} cells were tested, each at level {level}: expected are at most "
        f"{levels.sum():.2g} wrongly called reproduced, and as many wrongly called contradicted."
    )


def of_experiment(table):
    """Rows of the statements that the paper makes about its experiment.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`.

    Returns
    -------
    pandas.DataFrame
    """
    return table[table["source"].str.endswith(", experiment")]


def confirmed(table, confirmation):
    """Rows of the confirmation that are about statements of a table.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`, or several of these below each other.
    confirmation : pandas.DataFrame
        Verdicts on fresh data, with the column `reading`.

    Returns
    -------
    pandas.DataFrame
        Those rows that have an estimate, and the criterion that the statement has in the table:
        fresh data say nothing about a new or changed statement. Instances, the primary result, come
        before seeds, and the reading "default" is called :data:`FRESH`.
    """
    decided = confirmation[confirmation["estimate"].notna()]
    same = table[["claim", "criterion"]].drop_duplicates()
    rows = decided.merge(same).sort_values("unit", kind="stable")
    return rows.replace({"reading": {"default": FRESH}})


def on_fresh_data(table, confirmation):
    """Say for each statement which verdict fresh data give.

    Parameters
    ----------
    table, confirmation : pandas.DataFrame
        As for :func:`confirmed`.

    Returns
    -------
    dict of str
        By claim: a verdict, verdicts with their readings where these differ, or
        :data:`NOT_CONFIRMED`.
    """
    words = dict.fromkeys(table["claim"], NOT_CONFIRMED)
    for claim, rows in confirmed(table, confirmation).groupby("claim"):
        told = [f"{row['verdict']} ({row['reading']})" for _, row in rows.iterrows()]
        agree = rows["verdict"].nunique() == 1
        words[claim] = rows["verdict"].iloc[0] if agree else ", ".join(told)
    return words


def in_short(table):
    """Say how many statements have which verdict.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`.

    Returns
    -------
    str
        One clause.

    Examples
    --------
    >>> import pandas as pd
    >>> from replication.statements import report
    >>> report.in_short(pd.DataFrame({"verdict": ["reproduced", "inconclusive", "reproduced"]}))
    'Of 3 statements 2 are reproduced, 0 contradicted and 1 inconclusive'
    """
    counts = [(table["verdict"] == verdict).sum() for verdict in VERDICTS]
    first, second, third = (f"{n} {verdict}" for n, verdict in zip(counts, VERDICTS, strict=True))
    return f"Of {len(table)} statements {first.replace(' ', ' are ', 1)}, {second} and {third}"


def undecided(table):
    """Say which statements have no estimate, and why.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`.

    Returns
    -------
    list of str
        A sentence for each reason.

    Examples
    --------
    >>> import pandas as pd
    >>> from replication.statements import report
    >>> table = pd.DataFrame({"estimate": [0.2, None], "why": ["", "no run has M = 64"]})
    >>> report.undecided(table)
    ['No estimate for 1 of them: no run has M = 64.']
    """
    reasons = table.loc[table["estimate"].isna(), "why"].value_counts(sort=False)
    return [f"No estimate for {count} of them: {why}." for why, count in reasons.items()]


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
        Where a reading lacks a statement, no run of it decides.

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
        cells = " ".join(signs.get((claim, reading), UNDECIDABLE) for reading in readings)
        lines.append(f"{statement:<{width}}  {cells}")
    lines.append("")
    counts = _counts(table)
    for reading in readings:
        found = ", ".join(f"{number} {verdict}" for verdict, number in counts.loc[reading].items())
        lines.append(f"{letters[reading]}  {reading:<30} {found}")
    if FRESH in letters:
        column = f"{UNDECIDABLE} in {letters[FRESH]} ({FRESH})"
        lines += ["", f"Statements with {column} are {NOT_CONFIRMED} on fresh data."]
    lines += ["", expected_errors(table)]
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
        "depends on the reading" (both occur) or "open" (no reading decides it).
    """
    rows = []
    for claim, group in table.groupby("claim", sort=False):
        lists = {
            verdict: list(group.loc[group["verdict"] == verdict, "reading"]) for verdict in VERDICTS
        }
        if lists["reproduced"]:
            kind = "depends on the reading" if lists["contradicted"] else "robust"
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
