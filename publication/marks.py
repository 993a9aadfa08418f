"""List the marked numbers of the documents with what tables say now; --write rewrites them.

In a Markdown file, 12<!--verdicts:reproduced--> is the number `reproduced` of the study verdicts,
as marks.yaml declares it; `core` stands for reference/. Words behind commas, as in
0.3<!--answers:loss,zpg,1000-->, take the places {0} and {1} there. Marks of a study that is not
there, and links to it, are skipped. Other marks and links that lead nowhere are errors.
"""

import argparse
import os
import re
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf.statistics import mean_interval

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("*.md", "docs/*.md", "publication/*.md", "reference/*.md", "studies/*/*.md")
MARK = re.compile(r"([^\s*(|[]*)<!--\s*([\w-]+):\s*([^>]+?)\s*-->")
ENDS = {"low": 1, "high": 2}
LINK = re.compile(r"\]\(([^)#\s]+)")


def skipped(root, path):
    """Whether a path lies in a study that is not there."""
    return path.parts[:1] == ("studies",) and not root.joinpath(*path.parts[:2]).exists()


def number(folder, words, table, rows=None, take="count", of="max", times=1, form="d"):
    """Text of a number: how many `rows` a query finds, or `take` of them combined by `of`."""
    found = pd.read_csv(folder / f"{table}.csv")
    rows, take, of = rows and rows.format(*words), take.format(*words), of.format(*words)
    found = found.query(rows) if rows else found
    if take == "count":
        return f"{len(found):{form}}"
    if found.empty:
        raise ValueError(f"no row with {rows}")
    values = found.eval(take)
    value = mean_interval(values)[ENDS[of]] if of in ENDS else getattr(values, of)()
    return f"{times * value:{form}}".replace("-", "\N{MINUS SIGN}")


def check(root, declared):
    """Marks as (file, said, study, name, what the table says), and lines about errors."""
    marks, errors = [], []
    for path in sorted(path for pattern in DOCUMENTS for path in root.glob(pattern)):
        text, place = path.read_text(encoding="utf-8"), path.relative_to(root)
        for said, study, name in MARK.findall(text):
            folder = Path("reference") if study == "core" else Path("studies", study, "tables")
            if skipped(root, folder):
                continue
            first, *words = name.split(",")
            given = declared.get(study, {}).get(first)
            try:
                if not said or not given:
                    raise ValueError("marks.yaml has no such name" if said else "no number")
                marks.append((place, said, study, name, number(root / folder, words, **given)))
            except (OSError, ValueError, IndexError) as error:
                told = str(error).replace(f"{root}/", "")
                errors.append(f"{place}: {said}<!--{study}:{name}-->: {told}")
        for link in LINK.findall(text):
            target = Path(os.path.relpath(path.parent / link, root))
            if "://" not in link and not (root / target).exists() and not skipped(root, target):
                errors.append(f"{place}: link to {link}, which is not there")
    return marks, errors


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="rewrite the documents")
    options = parser.parse_args()
    names = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
    marks, errors = check(ROOT, names)
    now = {(study, name): value for _, _, study, name, value in marks}
    for place, said, study, name, value in marks:
        print(f"{study}: {name}: {place} says {said}, the table says {value}")
    for path in {ROOT / place for place, *_ in marks} if options.write else ():
        text = MARK.sub(
            lambda it: now.get(it.group(2, 3), it[1]) + it[0].removeprefix(it[1]),
            path.read_text(encoding="utf-8"),
        )
        path.write_text(text, encoding="utf-8")
    raise SystemExit("\n".join(errors) or None)
