"""The package is a house of floors: imports go down, never up, as docs/architecture.md draws it."""

import ast
import pkgutil
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src/pgpd_hf"
FLOORS = [
    {"core"},
    {"algorithms", "environments", "support"},
    {"deployment", "runs", "statistics"},
    {"cases", "resources", "theory"},
    {"studies", "claims"},
    {"sweeps", "figures"},
    {"summaries"},
    {"analyses"},
    {"jobs", "study", "verification"},
]
HEIGHT = {name: height for height, floor in enumerate(FLOORS) for name in floor}
REFERENCE = re.compile(r":(?:func|data|class|mod):`~?([^`]+)`")
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def part(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """Parts of the package that a file imports, its own excepted."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("pgpd_hf.")}
    return parts - {part(path)}


def test_every_part_has_its_floor():
    assert {part(path) for path in FILES} == set(HEIGHT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path):
    assert all(HEIGHT[name] < HEIGHT[part(path)] for name in imported(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_docstrings_refer_to_what_exists(path):
    module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    module = module.removesuffix(".__init__")
    for name in REFERENCE.findall(path.read_text(encoding="utf-8")):
        pkgutil.resolve_name(name if name.startswith("pgpd_hf.") else f"{module}.{name}")
