"""Typeset the report and the technical note: publication/NAME.typ becomes publication/NAME.pdf.

What a document shows of a study that is absent is left out of it.
"""

import argparse
from pathlib import Path

import typst

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SHOWN = ("reference/*.csv", "figures/*.pdf", "studies/*/tables/*.csv", "studies/*/*.png")


def build(source, folder, ending):
    """Typeset a document; the same sources give the same bytes, since no date is in them."""
    shown = sorted(path for pattern in SHOWN for path in ROOT.glob(pattern))
    pages = "-{p}" if ending == "png" else ""
    typst.compile(
        source,
        output=folder / f"{source.stem}{pages}.{ending}",
        root=ROOT,
        sys_inputs={"shown": " ".join(path.relative_to(ROOT).as_posix() for path in shown)},
        ignore_system_fonts=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=HERE, help="where the documents go")
    parser.add_argument("--ending", choices=["pdf", "png"], default="pdf", help="png: a page each")
    options = parser.parse_args()
    for name in ("report", "note"):
        build(HERE / f"{name}.typ", options.folder, options.ending)
