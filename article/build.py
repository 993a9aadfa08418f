"""Typeset the article from the tables of the study: article/article.pdf."""

import argparse
import sys
from pathlib import Path

import typst

ROOT = Path(__file__).resolve().parents[1]
NEEDED = {
    "make figures": ["optimum", "curves", "claims", "bounds"],
    "make claims": ["verdicts"],
    "make theory": ["lengths", "first_lengths", "seen", "proof_steps"],
}


def build(tables, output):
    """Typeset the article.

    Parameters
    ----------
    tables : str
        Folder with the tables, relative to the project.
    output : pathlib.Path
        Where the PDF goes, or a picture of each page: article-{p}.png.
    """
    existing = {path.stem for path in (ROOT / tables).glob("*.csv")}
    for command, names in NEEDED.items():
        for name in names:
            if name not in existing:
                sys.exit(f"error: {tables}/{name}.csv: no such table; `{command}` makes it")
    inputs = {"tables": f"/{tables}", "existing": ",".join(sorted(existing))}
    typst.compile(
        ROOT / "article/article.typ",
        output=output,
        format=output.suffix[1:],
        root=ROOT,
        sys_inputs=inputs,
        ignore_system_fonts=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default="reference", help="folder with the tables")
    parser.add_argument("--output", type=Path, default=ROOT / "article/article.pdf")
    arguments = parser.parse_args()
    build(arguments.tables, arguments.output)
