"""The article: no number of a result is typed, and what is typeset follows the tables."""

import csv
import re
import shutil
import subprocess
from pathlib import Path

import matplotlib.pyplot as plt
import offline
import pytest

from replication.analyses import comparison
from replication.figures import style
from replication.theory import theorem_1

ROOT = Path(__file__).parents[2]
ARTICLE = ROOT / "article/article.pdf"  # which has the bytes that a build gives, see below
PYTHON = ROOT / ".venv-article/bin/python"
OF_HARD = ("figure1", "seen", "stability")
FIGURES = ("figure1", "comparison", "misspecification", *(f"hard/{it}" for it in OF_HARD))
READ = """
import sys
from pypdf import PdfReader
reader = PdfReader(sys.argv[1])
for font in (x for page in reader.pages for x in page["/Resources"]["/Font"].values()):
    font = font.get_object()
    inner = font.get("/DescendantFonts", [font])[0].get_object()
    described = inner.get("/FontDescriptor", {})
    if inner["/Subtype"] != "/Type3" and not any(k.startswith("/FontFile") for k in described):
        sys.exit(f"not embedded: {font['/BaseFont']}")
print("\\n".join(page.extract_text() for page in reader.pages))
"""
needs_typst = pytest.mark.skipif(
    not PYTHON.exists(), reason="`make .venv-article/installed` installs what typesets it"
)


# Numbers that may be typed: no results, or constants that a test below compares with the code.
CONSTANTS = (
    r'https://[^"]*|"/[^"]*"',  # addresses, files
    r"#src\([\d, ]*\)",  # lines of the paper
    r"Theorems? \d'?|[Ss]teps? \d\.\d+(?: and \d\.\d+)?|step == \"\d\.\d+\"",
    r"\((?:[^()]*, )?20\d\d(?:, 20\d\d)?\)",  # years of references
    r"\.(?:at|slice)\(-?\d\)|colspan: 3|columns: 3 \+|x == 0|len\(\) > \d",  # places in tables
    r"digits: \d",
    r"\d+(?:\.\d+)?(?:pt|cm|em|fr|%)|numbering: \"[A1.]+\"|update\(0\)",  # layout
    r"int\(row\.item\) <= 18",  # items of bounds.csv that the paper states
    r"\$(?:T = )?10\^12\$",  # the longest run that first_lengths.csv looks at
)


def typed_numbers(source):
    """Numbers typed in a Typst file, with what is around them, but for `CONSTANTS`.

    Of mathematics what stands alone, or is said to be equal, counts: $12$ and $N = 12$.
    """
    text = re.sub(r"^\s*//.*$|`[^`]*`", "", source, flags=re.MULTILINE)
    text = re.sub("|".join(CONSTANTS), "", text)
    text = re.sub(r"\$([^$]*)\$", lambda found: _stated(found[1]), text)
    return re.findall(r".{0,30}(?<![\w.])\d.{0,30}", text)


def _stated(mathematics):
    code = "".join(re.findall(r"#[\w.-]+(?:\([^$]*?\))*", mathematics))
    formula = re.sub(r"#[\w.-]+(?:\([^$]*?\))*", "", mathematics)
    alone = re.fullmatch(r"[\s\d.,+\-^/()]*(?:dot[\s\d.^-]*)?", formula)
    equal = re.findall(r"(?:(?<![<>])=|approx)\s*-?\d[\d.]*(?!\s*[\w\\(])", formula)
    return code + (formula if alone else " ".join(equal))


def build(folder, name="article.pdf", tables="reference"):
    """Build it, cut off from the network where that is possible."""
    output = folder / name
    command = [PYTHON, folder / "article/build.py", "--tables", tables, "--output", output]
    command = offline.cut_off(command)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done, output


@pytest.fixture
def copy(tmp_path):
    """What the article is made of, in a folder of its own."""
    for name in ("article", "config", "reference"):
        shutil.copytree(ROOT / name, tmp_path / name)
    files = "pyproject.toml", "src/replication/analyses/comparison.py"
    for name in (*(f"figures/{it}.pdf" for it in FIGURES), *files):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def read(path):
    command = [PYTHON, "-c", READ, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_number_of_a_result_is_typed():
    found = typed_numbers((ROOT / "article/article.typ").read_text(encoding="utf-8"))
    assert not found, found


@pytest.mark.parametrize(
    "source",
    [
        "12 are", "$12$ are", "$0.02$", "$3 dot 10^5$", "$N = 20$", "#str(12)", "#number(0.45)",
        "$N = #str(12)$", "#let x = [12 of 14]", "#figure(table([7]))", "caption: [of 7 runs]",
    ],
)  # fmt: skip
def test_typed_numbers_are_found(source):
    assert typed_numbers(source)


def test_mathematics_and_what_is_computed_are_no_typed_numbers():
    source = '$T^(-1\\/2)$, $x_1$, $N = #one$, step 3.12 #src(457, 546) `2` #rows("a_3")\n// 4'
    assert not typed_numbers(source)


def test_constants_of_the_article_are_those_of_the_code():
    assert theorem_1._LONGEST == 12
    assert re.search(rf"\nSAFE = {comparison.SAFE}\b", Path(comparison.__file__).read_text())
    with (ROOT / "reference/bounds.csv").open(encoding="utf-8") as file:
        first = next(row for row in csv.DictReader(file) if "corrected" in row["statement"])
    assert int(first["item"]) == 19


def test_commands_of_the_article_are_those_of_the_makefile():
    text = (ROOT / "article/article.typ").read_text(encoding="utf-8")
    text += (ROOT / "article/build.py").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"[`\"]make ([\w-]+)", text))
    made = {"figures", "claims", "infer", "hard", "theory", "compare", "stability", "environments"}
    assert named >= made | {"article"}
    assert not {name for name in named if not re.search(rf"^{name}:", makefile, re.MULTILINE)}
    labels = set(re.findall(r"\) <(\w+)>", text))
    table = text[text.index("[*command*]") : text.index("<commands>")]
    no_results = {"commands", "divisors"}
    assert labels - no_results == set(re.findall(r"@(\w+)", table))


def test_every_step_of_the_appendix_is_checked_or_says_that_it_is_open():
    text = (ROOT / "article/proofs.typ").read_text(encoding="utf-8")
    with (ROOT / "reference/hard/proof_steps.csv").open(encoding="utf-8") as file:
        checked = {re.match(r"\d\.\d+", row["step"]) for row in csv.DictReader(file)}
    checked = {match[0] for match in checked if match}
    still_open = {"3.14", "4.14"}
    assert set(re.findall(r'#(?:lemma|step)\("([\d.]+)"', text)) == checked | still_open


def test_every_step_of_the_further_theorems_is_checked():
    text = (ROOT / "article/constant_step.typ").read_text(encoding="utf-8")
    named = set(re.findall(r"\*\(([A-EL]\d)\)\*|Lemma ([A-E]\d)", text))
    with (ROOT / "reference/hard/proof_steps.csv").open(encoding="utf-8") as file:
        checked = {row["step"][:2] for row in csv.DictReader(file)}
    checked |= set(re.findall(r'"(D\d)":', (ROOT / "tests/theory/test_sampled.py").read_text()))
    named = {one or other for one, other in named}
    assert len(named) > 25
    assert named <= checked


@needs_typst
def test_text_follows_the_tables_and_fonts_are_embedded(copy):
    before = read(ARTICLE)
    assert "Safe reinforcement learning from votes" in before
    table = copy / "reference/verdicts.csv"
    text = table.read_text(encoding="utf-8")
    rows = list(csv.reader(text.splitlines()))
    verdict, reading = rows[0].index("verdict"), rows[0].index("reading")
    for row in rows[1:]:
        if row[reading] == "default":
            row[verdict] = "inconclusive"
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    done, output = build(copy)
    assert done.returncode == 0, done.stderr
    after = read(output)
    assert after != before
    assert re.search(r"0\s+of\s+14\s+are\s+reproduced", after)


@needs_typst
def test_semicolons_of_sentences_are_typeset():
    """Typst takes one after an expression for the end of its code, unless it is escaped."""
    text = " ".join(read(ARTICLE).split())
    assert re.search(r"0\.\d+; it is 0\.\d+ if the probabilities are estimated", text)
    assert re.search(r"in \d+; the other \d+ are open", text)


@needs_typst
def test_two_builds_give_the_same_bytes_and_they_are_committed(copy):
    first = build(copy)[1].read_bytes()
    assert build(copy)[1].read_bytes() == first
    assert ARTICLE.read_bytes() == first


def test_figures_are_printed_at_their_own_size():
    """In which their letters have eight points: the text is as wide as they are."""
    source = (ROOT / "article/article.typ").read_text(encoding="utf-8")
    margin = float(re.search(r"margin: \(x: ([\d.]+)cm", source)[1])
    assert 21 - 2 * margin == pytest.approx(2.54 * style.TWO_COLUMNS)
    pictures = re.findall(r"image\((.*?\.pdf.*?)\)", source)
    assert len(pictures) == len(FIGURES)
    assert not [it for it in pictures if "width" in it]


@needs_typst
def test_nothing_stands_in_the_margins(copy):
    """No line is too long for its column, and no table or figure too wide."""
    done, _ = build(copy, "article-{p}.png")
    assert done.returncode == 0, done.stderr
    pages = sorted(copy.glob("article-*.png"))
    assert len(pages) > 5
    for page in pages:
        ink = plt.imread(page)[..., :3].min(axis=-1) < 0.9
        side = int(ink.shape[1] * 1.6 / 21.0)  # of 1.7 cm on a page of 21
        assert ink[:, side:-side].any()
        assert not ink[:, :side].any(), page.name
        assert not ink[:, -side:].any(), page.name


@needs_typst
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("figures/figure1.pdf", "figures"),
        ("figures/hard/figure1.pdf", "figures CONFIG=config/hard.yaml"),
        ("reference/hard/seen.csv", "theory CONFIG=config/hard.yaml"),
        ("reference/comparison_verdicts.csv", "compare"),
        ("figures/comparison.pdf", "compare"),
        ("figures/hard/stability.pdf", "stability CONFIG=config/hard.yaml"),
    ],
)
def test_missing_file_names_the_command_that_makes_it(copy, name, command):
    (copy / name).unlink()
    done, _ = build(copy)
    assert done.returncode == 1
    assert done.stderr == f"error: {name}: no such file; `make {command}` makes it\n"


@needs_typst
def test_what_was_not_asked_for_is_left_out(copy):
    for path in copy.glob("reference/comparison*"):
        path.unlink()
    (copy / "figures/comparison.pdf").unlink()
    done, output = build(copy)
    assert done.returncode == 0, done.stderr
    assert "What an answer buys" not in read(output)


@needs_typst
def test_fresh_data_are_said_to_agree_only_if_they_do(copy):
    assert re.search(r"12\s+of\s+14\s+are\s+reproduced,\s+and\s+the\s+same\s+12", read(ARTICLE))
    table = copy / "reference/confirmation.csv"
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    row = next(row for row in rows if row["verdict"] == "reproduced")
    row["verdict"] = "inconclusive"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerows(rows)
    done, output = build(copy)
    assert done.returncode == 0, done.stderr
    text = read(output)
    assert re.search(r"12\s+of\s+14\s+are\s+reproduced,\s+and\s+11\s+and\s+12\s+on\s+fresh", text)
