"""The committed figures are fit for print: widths, resolution, fonts, and no dates."""

import re
from pathlib import Path

import pytest
from PIL import Image

from replication.figures import panels, style
from replication.files import storage

FOLDER = Path(__file__).parents[2] / "figures"
PLACES = (FOLDER, FOLDER / "hard")  # of the default study, and of the hard case
NARROW = {  # few columns
    "claims_headline": 5.13083,
    "hard/claims_headline": 5.91083,
    "environments": 4.85000,
    "controls": 4.12161,
    "hard/controls": 4.12161,
}
FILES = [path.relative_to(FOLDER) for path in FOLDER.rglob("*.*")]
STEMS = sorted({path.with_suffix("").as_posix() for path in FILES})


def width(stem):
    """Declared width in inches: panels have one column, the others two, or what few cells need."""
    if stem in NARROW:
        return NARROW[stem]
    wide = "hf" not in stem  # all but the panels of Figure 1
    return style.TWO_COLUMNS if wide else style.ONE_COLUMN


def test_every_figure_has_every_format():
    found = {path.as_posix() for path in FILES if path.suffix != ".csv"}
    assert found == {f"{stem}.{ending}" for stem in STEMS for ending in style.FORMATS}
    assert len([stem for stem in STEMS if "/" not in stem]) == 21
    assert len(STEMS) == 21 + 12


@pytest.mark.parametrize("stem", STEMS)
def test_pdf_has_its_width_and_embedded_truetype_fonts(stem):
    content = FOLDER.joinpath(f"{stem}.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) [\d.]+ \]", content)
    assert float(box[1]) / 72 == pytest.approx(width(stem))
    fonts = content.count(b"/Type /FontDescriptor")
    assert fonts >= 2
    assert content.count(b"/FontFile2 ") == fonts
    assert b"/Type3" not in content
    assert not re.search(rb"/(CreationDate|ModDate)", content)


@pytest.mark.parametrize("stem", STEMS)
def test_png_has_300_dots_per_inch(stem):
    with Image.open(FOLDER / f"{stem}.png") as image:
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.02)
        assert image.width == pytest.approx(300 * width(stem), abs=1)
        assert set(image.info) == {"dpi"}


@pytest.mark.parametrize("stem", STEMS)
def test_svg_has_its_width_and_no_date(stem):
    content = FOLDER.joinpath(f"{stem}.svg").read_text(encoding="utf-8")
    assert float(re.search(r'<svg [^>]*width="([\d.]+)pt"', content)[1]) / 72 == pytest.approx(
        width(stem)
    )
    assert "<dc:date>" not in content


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_numbers_beside_a_panel_are_those_of_the_reference(place, tmp_path):
    reference = FOLDER.parent / "reference" / place.relative_to(FOLDER)
    curves = storage.read_table(reference / "curves.csv")
    curves[[*panels.METRIC_LABELS]] *= 1 + 1e-14  # the last bits of another processor
    names = {f"{key}_{metric}" for key in curves["algorithm"] for metric in panels.METRIC_LABELS}
    assert {path.stem for path in place.glob("*.csv")} == names
    for key in curves["algorithm"].unique():
        for metric in panels.METRIC_LABELS:
            numbers = panels.panel_numbers(curves, key, metric)
            numbers.to_csv(tmp_path / "numbers.csv", index=False, lineterminator="\n")
            committed = place.joinpath(f"{key}_{metric}.csv").read_bytes()
            assert committed == (tmp_path / "numbers.csv").read_bytes()
