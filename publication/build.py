"""Typeset the report and the technical note: publication/NAME.typ becomes publication/NAME.pdf.

What a document shows of a study that is absent is left out of it.
"""

from pathlib import Path

import typst

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHOWN = ("reference/*.csv", "figures/*.pdf", "studies/*/tables/*.csv", "studies/*/*.png")


def build(name):
    """Typeset a document; the same sources give the same bytes, since no date is in them."""
    shown = sorted(path for pattern in SHOWN for path in ROOT.glob(pattern))
    typst.compile(
        HERE / f"{name}.typ",
        output=HERE / f"{name}.pdf",
        root=ROOT,
        sys_inputs={"shown": " ".join(path.relative_to(ROOT).as_posix() for path in shown)},
        ignore_system_fonts=True,
    )


if __name__ == "__main__":
    for name in ("report", "note"):
        build(name)
