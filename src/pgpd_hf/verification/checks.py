"""Checks of digests, tables and figures against the reference, and the reference itself."""

import hashlib
import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from pgpd_hf.figures import panels, style
from pgpd_hf.support import storage
from pgpd_hf.verification import contents, platforms
from pgpd_hf.verification.items import DIGEST, ITEMS

DIGESTS = "SHA256SUMS"
PLATFORM = "platform.json"
TOLERANCE = 1e-8  # of numbers on another platform; why: reference/README.md
PIXEL_TOLERANCE = 12.0  # root mean square over a picture, of 255
# Other bits have other digests, and a ratio may be that of two rounding errors.
_OF_BITS = (DIGEST, "ratio")
CODE = (
    "Snakefile",
    "requirements.lock",
    "config/config.yaml",
    "config/claims.yaml",
    "config/readings/*.yaml",
    "notebooks/*.ipynb",
    "src/pgpd_hf/**/*.py",
    "workflow/**/*.*",
)


@dataclass(frozen=True)
class Check:
    """One line of the table.

    Attributes
    ----------
    what : str
        What was compared.
    expected, found : str
        In a few words.
    agrees : bool
        Whether the two are the same.
    how : str
        What was compared: bits, or numbers within a tolerance.
    detail : tuple of str
        Lines that name what differs.
    """

    what: str
    expected: str
    found: str
    agrees: bool
    how: str
    detail: tuple = ()


def write_reference(study, home, folder, items=ITEMS):
    """Write the reference of a complete study.

    Parameters
    ----------
    study : Study
        Everything that the items are read from is there.
    home : Study
        The same study in the project that the reference belongs to.
    folder : pathlib.Path
        Where the reference shall be, inside that project.
    items : sequence of Item
        What to write; files of others stay as they are, and in the list of digests.

    Raises
    ------
    FileNotFoundError
        If the study is not complete.
    """
    for item in {item.name: item for item in items}.values():
        contents.write_csv(folder / f"{item.name}.csv", item.load(study.results))
    with storage.replacing(folder / PLATFORM) as partial:
        partial.write_text(json.dumps(platforms.describe(), indent=2) + "\n", encoding="utf-8")
    with storage.replacing(folder / DIGESTS) as partial:
        partial.write_text(list_digests(home, folder), encoding="utf-8")


def list_digests(home, folder):
    """Digests of the code, of the figures and of the reference, as `sha256sum` writes them.

    Parameters
    ----------
    home : Study
        The study of the reference.
    folder : pathlib.Path
        The reference, without this list.

    Returns
    -------
    str
        A line per file, with its path from the project's root.
    """
    paths = {path for pattern in CODE for path in home.root.glob(pattern)}
    paths = {path for path in paths if "__pycache__" not in path.parts}
    paths |= {path for path in home.figures.glob("*") if path.suffix[1:] in style.FORMATS}
    paths |= {*folder.glob("*.csv"), folder / PLATFORM}
    names = sorted(path.relative_to(home.root).as_posix() for path in paths)
    return "".join(f"{_digest(home.root / name)}  {name}\n" for name in names)


def check_digests(root, folder):
    """Compare files with the list of digests.

    Parameters
    ----------
    root : pathlib.Path
        Folder of the project.
    folder : pathlib.Path
        The reference.

    Returns
    -------
    list of Check
        One each for the reference, the figures and the code.
    """
    groups = {"reference": [], "figures": [], "code": []}
    listed = set()
    for line in (folder / DIGESTS).read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        path = root / name
        listed.add(path)
        if path.parent == folder:
            group = "reference"
        else:
            group = "figures" if path.suffix[1:] in style.FORMATS else "code"
        if not path.is_file():
            groups[group].append(f"{name}: missing")
        elif _digest(path) != expected:
            groups[group].append(f"{name}: differs from its digest")
        else:
            groups[group].append("")
    for path in sorted({*folder.glob("*.csv"), folder / PLATFORM} - listed):
        groups["reference"].append(f"{path.relative_to(root)}: not in {DIGESTS}")
    return [
        Check(
            group,
            f"{len(answers)} files",
            f"{answers.count('')} as listed",
            answers.count("") == len(answers) > 0,
            "bits",
            tuple(filter(None, answers)),
        )
        for group, answers in groups.items()
    ]


def check_study(folder, study, exact=True, items=ITEMS, partial=False):
    """Compare results of a study with the reference.

    Parameters
    ----------
    folder : pathlib.Path
        The reference.
    study : Study
        Whose results are compared.
    exact : bool
        Whether bits have to agree; otherwise numbers have to, within :data:`TOLERANCE`.
    items : sequence of Item
        What to compare.
    partial : bool
        Whether results may be missing; they are passed over. A file that is there has all parts.

    Returns
    -------
    list of Check
        One per part of an item.
    """
    return [check for item in items for check in _check_item(folder, study, item, exact, partial)]


def check_figures(found, expected, exact=True):
    """Compare all figures of a folder with those of the same name in another one.

    Parameters
    ----------
    found, expected : pathlib.Path
        Folders.
    exact : bool
        Whether the bytes of all files have to agree; otherwise the pixels of one have to, within
        :data:`PIXEL_TOLERANCE`.

    Returns
    -------
    list of Check
        One per figure.
    """
    names = sorted({path.stem for path in found.glob("*") if path.suffix[1:] in style.FORMATS})
    return [_check_figure(name, found, expected, exact) for name in names]


def check_drawings(folder, figures, exact=True):
    """Draw the figure from the reference, and compare.

    Parameters
    ----------
    folder : pathlib.Path
        The reference.
    figures : pathlib.Path
        Folder of the committed figures.
    exact : bool
        As for :func:`check_figures`.

    Returns
    -------
    list of Check
        One per figure.
    """
    try:
        table = _curves(contents.read_csv(folder / "curves.csv"))
    except (OSError, KeyError, ValueError) as error:
        return [_failure("curves.csv of the reference", error)]
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    with tempfile.TemporaryDirectory() as scratch:
        style.save(panels.figure1(table), scratch, "figure1")
        for algorithm in table["algorithm"].unique():
            for metric in panels.METRIC_LABELS:
                panel = panels.panel(table, algorithm, metric)
                style.save(panel, scratch, f"{algorithm}_{metric}")
        style.plt.close("all")
        return check_figures(Path(scratch), figures, exact)


def _check_item(folder, study, item, exact, partial):
    place = study.results.relative_to(study.root).as_posix()
    try:
        known = contents.read_csv(folder / f"{item.name}.csv").split(item.parts)
    except (OSError, ValueError) as error:
        return [_failure(f"{item.name}.csv of the reference", error)]
    try:
        found = item.load(study.results).split(item.parts)
    except FileNotFoundError as error:
        missing = Path(*error.args).relative_to(study.root)
        return [] if partial else [_failure(item.place, f"{missing}: missing")]
    except (KeyError, ValueError) as error:
        return [_failure(item.place, error)]
    partial = partial and not item.in_one_file
    checks = []
    for part in known if partial else {**known, **found}:
        title = item.title(part)
        if part in known and part in found:
            check = _compare(item, title, known[part], found[part], exact)
            detail = tuple(f"{place}/{title}: {line}" for line in check.detail)
            checks.append(replace(check, detail=detail))
        elif part in known and not partial:
            checks.append(_failure(title, f"{place}/{title}: missing"))
        elif part in found:
            checks.append(_failure(title, f"{place}/{title}: not in the reference"))
    return checks


def _compare(item, title, expected, found, exact):
    """Check one part: its bits and, where these may differ, its numbers."""
    difference, how = contents.compare(expected, found, item.keys), "bits"
    if difference.cells and not exact:
        expected, found = expected.without(_OF_BITS), found.without(_OF_BITS)
        difference = contents.compare(expected, found, item.keys, TOLERANCE)
        how = f"to {max(difference.largest, np.finfo(float).tiny):.0e}"
    more = f" (and {difference.cells - 1} more)" if difference.cells > 1 else ""
    detail = (difference.first + more,) if difference.cells else ()
    texts = _summary(item, expected), _summary(item, found)
    return Check(title, *texts, not detail, how, detail)


def _summary(item, content):
    try:
        return item.summary(content)
    except ValueError:
        return "another table"


def _failure(title, reason):
    """Check of what is missing or unreadable."""
    return Check(title, "a table", "none", False, "", (str(reason),))


def _curves(content):
    """Turn the reference's curves into what the plots take."""
    table = pd.DataFrame(list(content.rows), columns=content.columns)
    numbers = table.columns.drop(["algorithm", "evaluators"])
    table[numbers] = table[numbers].map(lambda cell: float(cell) if cell else np.nan)
    people = [int(cell) if cell else pd.NA for cell in table["evaluators"]]
    table["evaluators"] = pd.array(people, dtype="Int64")
    return table.astype({"iteration": np.int64})


def _check_figure(name, found, expected, exact):
    # Not every figure is saved in every format, but in the same ones on both sides.
    files = [f"{name}.{ending}" for ending in style.FORMATS]
    files = [file for file in files if (found / file).exists() or (expected / file).exists()]
    other = [file for file in files if not _same_bytes(found / file, expected / file)]
    if other and not exact:
        distance = _pixel_distance(found / f"{name}.png", expected / f"{name}.png")
        agrees = distance <= PIXEL_TOLERANCE
        detail = () if agrees else (f"{expected.name}/{name}.png: another picture",)
        limits = f"at most {PIXEL_TOLERANCE:g} of 255", f"{distance:.2f}"
        return Check(f"{name}.png", *limits, agrees, "pixels", detail)
    detail = tuple(f"{expected.name}/{file}: other bytes" for file in other)
    same = f"{len(files) - len(other)} the same"
    return Check(name, f"{len(files)} files", same, not other, "bits", detail)


def _pixel_distance(path, other):
    """Root mean square difference of two pictures, of 255; infinite if their sizes differ."""
    if not (path.exists() and other.exists()):
        return np.inf
    first, second = mpl.image.imread(path), mpl.image.imread(other)
    if first.shape != second.shape:
        return np.inf
    return 255 * float(np.sqrt(np.mean((first - second) ** 2)))


def _same_bytes(path, other):
    return path.exists() and other.exists() and path.read_bytes() == other.read_bytes()


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
