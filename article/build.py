"""Typeset the article from the tables of the study: article/article.pdf."""

import argparse
import sys
from pathlib import Path

import typst

ROOT = Path(__file__).resolve().parents[1]
# Tables, and pictures in figures/, by the command that makes them; hard/ is of the hard case.
NEEDED = {
    "make figures": ["optimum.csv", "curves.csv", "claims.csv", "bounds.csv", "figure1.pdf"],
    "make claims": ["verdicts.csv"],
    "make figures CONFIG=config/hard.yaml": [
        *("hard/optimum.csv", "hard/curves.csv", "hard/lengths.csv", "hard/first_lengths.csv"),
        "hard/figure1.pdf",
    ],
    "make claims CONFIG=config/hard.yaml": ["hard/verdicts.csv"],
    "make theory CONFIG=config/hard.yaml": [
        *("hard/seen.csv", "hard/proof_steps.csv", "hard/seen.pdf"),
    ],
}
# Whoever has the first table of a line is shown the others, too.
OPTIONAL = {
    "make compare": [
        *("comparison_answers.csv", "comparison_verdicts.csv"),
        *("skipping_inference.csv", "comparison.csv", "comparison_settings.csv"),
        *("comparison.pdf", "misspecification.pdf"),
    ],
    "make stability": ["stability_fresh.csv"],
    "make stability CONFIG=config/hard.yaml": [
        *("hard/stability_long.csv", "hard/stability_fresh.csv", "hard/stability.pdf"),
    ],
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
    folder = ROOT / tables
    found = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.csv")]
    existing = {path.as_posix() for path in found}
    shown = {
        command: names
        for command, names in OPTIONAL.items()
        if names[0].removesuffix(".csv") in existing
    }
    for command, names in [*NEEDED.items(), *shown.items()]:
        for name in names:
            path = Path("figures" if name.endswith(".pdf") else tables, name)
            if not (ROOT / path).exists():
                sys.exit(f"error: {path.as_posix()}: no such file; `{command}` makes it")
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
