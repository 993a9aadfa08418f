"""Two houses of floors: imports go down, never up, and the library knows nothing of the study."""

import ast
import pkgutil
import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
FLOORS = {
    "pgpd_hf": [
        {"core"},
        {"algorithms", "deployment", "environments", "plotting", "statistics"},
        {"stability"},
        {"runs"},
    ],
    "replication": [
        {"files", "theory"},
        {"proofs", "study", "statements"},
        {"analyses", "figures"},
        {"verify"},
    ],
}
HEIGHTS = {
    f"{package}.{name}": height
    for package, floors in FLOORS.items()
    for height, floor in enumerate(floors)
    for name in floor
}
REFERENCE = re.compile(r":(?:func|data|class|mod):`~?([^`]+)`")
FILES = [
    path
    for package in FLOORS
    for path in sorted((SOURCES / package).rglob("*.py"))
    if path != SOURCES / package / "__init__.py"
]

TESTS = sorted((SOURCES.parent / "tests/library").glob("*.py"))


def name_of(path):
    return str(path.relative_to(SOURCES))


def part(path):
    package, name = path.relative_to(SOURCES).parts[:2]
    return f"{package}.{name.removesuffix('.py')}"


def imported(path):
    """Parts of both packages that a file imports, its own excepted."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    found = {".".join(name.split(".")[:2]) for name in names if name.split(".")[0] in FLOORS}
    return found - {part(path)}


def test_every_part_has_its_floor():
    assert {part(path) for path in FILES} == set(HEIGHTS)


@pytest.mark.parametrize("package", FLOORS)
def test_package_has_at_most_eight_parts_on_four_floors(package):
    assert len(FLOORS[package]) <= 4
    assert sum(map(len, FLOORS[package])) <= 8


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_imports_go_down(path):
    package = part(path).split(".")[0]
    for name in imported(path):
        if name.startswith(f"{package}."):
            assert HEIGHTS[name] < HEIGHTS[part(path)]
        else:
            assert (package, name.split(".")[0]) == ("replication", "pgpd_hf")


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_docstrings_refer_to_what_exists(path):
    module = ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for name in REFERENCE.findall(path.read_text(encoding="utf-8")):
        whole = name.startswith(("pgpd_hf.", "replication."))
        pkgutil.resolve_name(name if whole else f"{module}.{name}")


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_tests_of_the_library_need_no_replication(path):
    assert "replication" not in path.read_text(encoding="utf-8")
