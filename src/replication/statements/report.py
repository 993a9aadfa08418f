"""Summaries of a table of verdicts: as text, by statement, and by reading."""

import string

import pandas as pd

from pgpd_hf.statistics import METRICS, VERDICTS

SIGNS = {"reproduced": "+", "contradicted": "-", "inconclusive": "?"}
UNDECIDABLE = "."
FRESH = "fresh seeds"  # its reading of the environment of the study, for people
NOT_CONFIRMED = "not confirmed"
NOT_ASKED = "not asked"
_UNITS = {"multiplier": "λ*", "violation": "range of V_g", "gap": "initial gap"}


def expected_errors(table):
    """Bound the number of wrong verdicts in a table, in words."""
    # However cells depend on each other, each is wrongly called reproduced, or wrongly called
    # contradicted, with at most the probability `level`.
    levels = table.loc[table["p_reproduced"].notna(), "level"]
    level = f"{table['level'].iloc[0]:g} in either direction"
    return (
        f"{len(levels)} cells were tested, each at level {level}: expected are at most "
        f"{levels.sum():.2g} wrongly called reproduced, and as many wrongly called contradicted."
    )


def of_experiment(table):
    """Rows of the statements that the paper makes about its experiment."""
    return table[table["source"].str.endswith(", experiment")]


def confirmed(table, confirmation):
    """Rows of the confirmation that are about a table's statements as they are, instances first."""
    # Fresh data say nothing about a new statement, or one whose criterion has changed.
    decided = confirmation[confirmation["estimate"].notna()]
    same = table[["claim", "criterion"]].drop_duplicates()
    rows = decided.merge(same).sort_values("unit", kind="stable")
    return rows.replace({"reading": {"default": FRESH}})


def on_fresh_data(table, confirmation):
    """Verdicts on fresh data by claim, with their readings where these differ."""
    words = dict.fromkeys(table["claim"], NOT_CONFIRMED)
    for claim, rows in confirmed(table, confirmation).groupby("claim"):
        told = [f"{row['verdict']} ({row['reading']})" for _, row in rows.iterrows()]
        agree = rows["verdict"].nunique() == 1
        words[claim] = rows["verdict"].iloc[0] if agree else ", ".join(told)
    return words


def fresh_counts(table, confirmation):
    """How many of a table's statements each kind of fresh data reproduces, in words."""
    rows = confirmed(table, confirmation)
    return [
        f"{(of_kind['verdict'] == 'reproduced').sum()} ({of_kind['units'].max():.0f} {unit}s)"
        for (unit, _), of_kind in rows.groupby(["unit", "reading"], sort=False)
    ]


def flat(aggregate, share=0.02):
    """Curves that never leave their start by a share of it: by algorithm and metric, how far."""
    found = {}
    for algorithm, table in aggregate.groupby("algorithm", sort=False):
        start = table[table["iteration"] == 0].iloc[0]
        for metric in METRICS:
            distance = (table[metric] - start[metric]).abs().max()
            if distance < share * abs(start[metric]):
                found[algorithm, metric] = distance
    return found


def unit_of(part):
    """What the numbers of a part of a criterion are measured in; nothing if that is 1."""
    return next((unit for curve, unit in _UNITS.items() if curve in str(part)), "")


def word(row):
    """Verdict of a row in a word or two."""
    return NOT_ASKED if str(row["why"]).startswith(NOT_ASKED) else row["verdict"]


def asked(table):
    """Rows of a table of verdicts that its runs are about."""
    return table[~table["why"].astype(str).str.startswith(NOT_ASKED)]


def in_short(table):
    """Say in a clause how many statements have which verdict."""
    others = len(table) - len(asked(table))
    if others and others == len(table):
        why, *more = table["why"].str.removeprefix(f"{NOT_ASKED} by this run: ").unique()
        return f"None of the {others} statements is judged ({'for one, ' if more else ''}{why})"
    counts = [(asked(table)["verdict"] == verdict).sum() for verdict in VERDICTS]
    first, second, third = (f"{n} {verdict}" for n, verdict in zip(counts, VERDICTS, strict=True))
    told = f"Of {len(table)} statements {first.replace(' ', ' are ')}, {second} and {third}"
    return f"{told}; {others} are {NOT_ASKED}" if others else told


def undecided(table):
    """Say which statements have no estimate and why, in a sentence for each reason."""
    reasons = table.loc[table["estimate"].isna(), "why"].value_counts(sort=False)
    return [f"No estimate for {count} of them: {why}." for why, count in reasons.items()]


def sign(row):
    """Verdict as one character, of a row of a table of verdicts."""
    return UNDECIDABLE if pd.isna(row["estimate"]) else SIGNS[row["verdict"]]


def as_text(table):
    """Matrix of verdicts as text: statements down, values of the column `reading` across."""
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
    """How each statement depends on the reading: its kind, and lists of readings by verdict."""
    rows = []
    for claim, group in table.groupby("claim", sort=False):
        lists = {
            verdict: list(group.loc[group["verdict"] == verdict, "reading"]) for verdict in VERDICTS
        }
        # A reading that does not decide a statement counts for neither side.
        if lists["reproduced"]:
            kind = "depends on the reading" if lists["contradicted"] else "robust"
        else:
            kind = "refuted" if lists["contradicted"] else "open"
        row = {"claim": claim, "statement": group["statement"].iloc[0], "kind": kind}
        rows.append(row | lists)
    return pd.DataFrame(rows)


def consistency(table):
    """Numbers of verdicts of each reading, fewest contradictions first, and whether `all` hold."""
    counts = _counts(table)
    counts["all"] = counts["reproduced"] == counts.sum(axis=1)
    order = ["contradicted", "reproduced"]
    return counts.sort_values(order, ascending=[True, False], kind="stable").reset_index()
