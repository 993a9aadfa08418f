"""The verdicts for people: as text, and sorted by what they hang on."""

from pgpd_hf.claims.verdicts import VERDICTS

SIGNS = {"reproduced": "+", "contradicted": "-", "inconclusive": "?"}
UNDECIDABLE = "."


def sign(row):
    """One character for a verdict.

    Parameters
    ----------
    row : pandas.Series
        Of a table of verdicts.

    Returns
    -------
    str
        A key of :data:`SIGNS`'s values, or :data:`UNDECIDABLE` where no run decides.
    """
    decided = row["estimate"] == row["estimate"]  # not NaN
    return SIGNS[row["verdict"]] if decided else UNDECIDABLE


def as_text(table):
    """Matrix of verdicts as text: statements down, readings across.

    Parameters
    ----------
    table : pandas.DataFrame
        Tables of verdicts of several readings, with the column `reading`.

    Returns
    -------
    str
    """
    readings = list(table["reading"].drop_duplicates())
    letters = dict(
        zip(readings, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", strict=False)
    )
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
    lines += [f"{letters[reading]}  {reading:<30} {_count(table, reading)}" for reading in readings]
    return "\n".join(lines) + "\n"


def _count(table, reading):
    verdicts = table.loc[table["reading"] == reading, "verdict"]
    return ", ".join(f"{(verdicts == verdict).sum()} {verdict}" for verdict in VERDICTS)


def standing(table):
    """What each statement hangs on.

    Parameters
    ----------
    table : pandas.DataFrame
        As for :func:`as_text`.

    Returns
    -------
    pandas.DataFrame
        By claim: statement, the readings that reproduce, contradict and leave it open, and kind:
        "robust" (reproduced wherever it is decided), "refuted" (contradicted wherever it is),
        "hangs on the reading" (both), "open" (decided nowhere).
    """
    rows = []
    for claim, group in table.groupby("claim", sort=False):
        lists = {
            verdict: list(group.loc[group["verdict"] == verdict, "reading"]) for verdict in VERDICTS
        }
        for_it, against = bool(lists["reproduced"]), bool(lists["contradicted"])
        kind = {
            (True, False): "robust",
            (False, True): "refuted",
            (True, True): "hangs on the reading",
            (False, False): "open",
        }[for_it, against]
        row = {"claim": claim, "statement": group["statement"].iloc[0], "kind": kind}
        rows.append(row | lists)
    return type(table)(rows)


def consistency(table):
    """How many statements each reading reproduces at once.

    Parameters
    ----------
    table : pandas.DataFrame
        As for :func:`as_text`; possibly some of the statements only.

    Returns
    -------
    pandas.DataFrame
        By reading, the most consistent first: number of statements per verdict, and `all`, true
        if every statement is reproduced.
    """
    counts = (
        table.groupby(["reading", "verdict"], sort=False)
        .size()
        .unstack(fill_value=0)
        .reindex(columns=list(VERDICTS), fill_value=0)
    )
    counts["all"] = counts["reproduced"] == counts.sum(axis=1)
    order = ["contradicted", "reproduced"]
    return counts.sort_values(order, ascending=[True, False], kind="stable").reset_index()
