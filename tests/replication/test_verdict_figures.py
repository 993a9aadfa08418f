"""The matrix of verdicts says by signs, places and brackets what its table says."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from replication.figures import style
from replication.figures.verdicts import matrix
from replication.statements import report

REFERENCE = Path(__file__).parents[2] / "reference"
COUNTS = "Number of verdicts on the paper's statements"
LOOKS = ["running average", "positive violation", "unconstrained optimum"]
READINGS = ["default", "N = 10", "running average", "fresh seeds"]
STATEMENTS = {
    "fast": ("NPGPD-HF: gap falls fast", "line 606, experiment", "measured"),
    "slow": ("ZPGPD-HF: gap much slower", "line 606, experiment", "measured"),
    "few": ("ZPGPD-HF: few questions", "line 499, Section 4", "arithmetic"),
    "rate": ("NPGPD-HF: rate", "line 465, Theorem 1", "measured"),
    "best": ("NPGPD-HF: reaches the optimum", "line 67, abstract", "ours"),
}
VERDICTS = {
    "fast": ["reproduced", "contradicted", "reproduced", "inconclusive"],
    "slow": ["inconclusive", "contradicted", "inconclusive", "inconclusive"],
    "few": ["reproduced"] * 4,
    "rate": [None, "reproduced", None, None],
    "best": ["contradicted"] * 4,
}


@pytest.fixture
def table():
    rows = [
        {
            "reading": reading,
            "claim": claim,
            "statement": STATEMENTS[claim][0],
            "source": STATEMENTS[claim][1],
            "kind": STATEMENTS[claim][2],
            "verdict": verdict or "inconclusive",
            "estimate": 0.1 if verdict else None,
            "low": -0.2 if verdict else None,
            "high": 0.4 if verdict else None,
        }
        for claim, verdicts in VERDICTS.items()
        for reading, verdict in zip(READINGS, verdicts, strict=True)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(autouse=True)
def close():
    style.use_style()
    yield
    style.plt.close("all")


def places(figure):
    """Position of each text that occurs once."""
    texts = figure.axes[0].texts
    often = Counter(text.get_text() for text in texts)
    return {text.get_text(): text.get_position() for text in texts if often[text.get_text()] == 1}


def column(figure, reading):
    """Signs in a column of the matrix, from top to bottom."""
    at = places(figure)
    x = at[reading][0] + 0.1  # titles begin left of the middle
    signs = [
        (text.get_position()[1], text.get_text())
        for text in figure.axes[0].texts
        if text.get_position()[0] == pytest.approx(x) and text.get_text() in "+−?"
    ]
    return [sign for y, sign in sorted(signs) if y < at[COUNTS][1]]


def test_cells_have_the_sign_of_their_verdict(table):
    figure = matrix(table)
    assert column(figure, "default") == ["+", "?", "−"]
    assert column(figure, "N = 10") == ["−", "−", "−"]
    assert column(figure, "fresh seeds") == ["?", "?", "−"]
    assert len(figure.axes[0].lines) == 1  # struck out: that of the legend


def test_title_counts_what_holds_everywhere_and_names_what_fails_most(table):
    (title,) = matrix(table).texts
    words = " ".join(title.get_text().split())
    assert words == "0 of 2 statements hold in all 4 columns; “NPGPD-HF: gap falls fast” fails in 1"
    holds = table.assign(verdict="reproduced")
    (title,) = matrix(holds).texts
    assert " ".join(title.get_text().split()).endswith(
        "2 statements hold in all 4 columns; none fails"
    )


def test_verdicts_differ_in_grey(table):
    colours = {patch.get_facecolor() for patch in matrix(table).axes[0].patches}
    first, second, third = sorted(0.299 * r + 0.587 * g + 0.114 * b for r, g, b, _ in colours)
    assert min(second - first, third - second) > 0.25


def test_others_have_rows_only_where_they_are_alone_and_our_own_are_not_counted(table):
    figure = matrix(table)
    at = places(figure)
    order = [
        "NPGPD-HF, experiment",
        "gap falls fast",
        "ZPGPD-HF, experiment",
        "gap much slower",
        "Our own questions",
        "NPGPD-HF: reaches the optimum",
        COUNTS,
    ]
    assert not {"Theorems and text", "NPGPD-HF: rate", "ZPGPD-HF: few questions"} & set(at)
    assert sorted(order, key=lambda name: at[name][1]) == order
    counted = {
        name: [
            text.get_text()
            for text in figure.axes[0].texts
            if text.get_position()[1] == at[name][1] and text.get_text().isdigit()
        ]
        for name in at
        if name.split(":")[0] in (*report.SIGNS, "no run decides")
    }
    assert counted == {
        "reproduced: shown to hold": ["1", "0", "1", "0"],
        "contradicted: shown to fail": ["0", "2", "0", "0"],
        "inconclusive: neither": ["1", "0", "1", "2"],
        "no run decides": ["0", "0", "0", "0"],
    }
    alone = places(matrix(table[table["claim"] == "rate"]))
    assert {"Theorems and text", "NPGPD-HF: rate", "Number of verdicts"} <= set(alone)


def test_readings_with_the_same_runs_stand_together_under_a_bracket(table):
    apart = matrix(table)
    assert "the same runs" not in places(apart)
    figure = matrix(table, marks=["fresh seeds"], sharing=["running average"])
    at = places(figure)
    order = ["default", "running average", "N = 10", "fresh seeds"]
    assert sorted(order, key=lambda name: at[name][0]) == order
    first, second, third, fourth = (at[name][0] for name in order)
    assert second - first == pytest.approx(1)
    assert min(third - second, fourth - third) > 1.2  # gaps
    bracket = figure.axes[0].lines[-1].get_xdata()
    assert first - 0.4 < min(bracket) < max(bracket) < second + 0.6
    assert column(figure, "running average") == column(apart, "running average")


def test_a_statement_that_a_reading_lacks_is_struck_out_there(table):
    lacking = table[(table["claim"] != "slow") | (table["reading"] != "fresh seeds")]
    brackets = {"confirmation": ["fresh seeds"]}
    figure = matrix(lacking, marks=["fresh seeds"], brackets=brackets)
    assert column(figure, "fresh seeds") == ["?", "−"]
    assert len(figure.axes[0].lines) == 1 + 1 + 1  # a cell, the legend and a bracket
    at = places(figure)
    assert at["confirmation"][0] <= at["fresh seeds"][0] + 0.1


@pytest.mark.parametrize("sharing", [[], LOOKS])
@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("study", ["", "hard/"])
def test_text_is_legible_and_inside_the_page(study, few, sharing):
    table = pd.read_csv(REFERENCE / f"{study}verdicts.csv")
    fresh = report.confirmed(table, pd.read_csv(REFERENCE / f"{study}confirmation.csv"))
    sharing = [name for name in sharing if name in {*table["reading"]}]
    names = list(fresh["reading"].unique())
    table = pd.concat([table, fresh])
    if few:
        table = report.of_experiment(table[table["reading"].isin(["default", *sharing, *names])])
        table = table.assign(moved=False)
    brackets = {"confirmation": names}
    note = "A note on what the columns are, about as long as this one."
    figure = matrix(table, marks=names[:1], sharing=sharing, brackets=brackets, note=note)
    assert (figure.get_figwidth() < 6) == few
    assert figure.get_figwidth() <= 7
    texts = [*figure.axes[0].texts, *figure.texts]
    assert note in [text.get_text() for text in texts]
    assert min(text.get_fontsize() for text in texts) >= 8
    page = figure.bbox
    for text in texts:
        box = text.get_window_extent()
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= page.x1, text
        assert box.y1 <= page.y1, text
