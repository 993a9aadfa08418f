"""Typeset the report and the technical note: publication/NAME.typ becomes publication/NAME.pdf.

Where tables that a document reads are not there, because a study is absent, it is left out.
"""

import argparse
import re
from pathlib import Path

import typst

HERE = Path(__file__).resolve().parent
READ = re.compile(r'rows\("([^"]+)"\)|image\("/?([^"]+)"')


def missing(source):
    """Tables and pictures that a document reads and that are not there."""
    files = ("".join(pair) for pair in READ.findall(source.read_text(encoding="utf-8")))
    return [name for name in files if not (HERE.parent / name).is_file()]


def build(name, folder, endings):
    """Typeset a document; the same sources give the same bytes, since no date is in them."""
    source = HERE / f"{name}.typ"
    if lacking := missing(source):
        print(f"{source.name} left out: {', '.join(lacking)} not there")
        return
    for ending in endings:
        output = folder / (f"{name}.pdf" if ending == "pdf" else f"{name}-{{p}}.png")
        typst.compile(source, output=output, root=HERE.parent, ignore_system_fonts=True, ppi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=HERE, help="where the documents go")
    parser.add_argument("--pictures", action="store_true", help="also a picture of each page")
    options = parser.parse_args()
    for name in ("report", "note"):
        if (HERE / f"{name}.typ").is_file():
            build(name, options.folder, ["pdf", "png"] if options.pictures else ["pdf"])
