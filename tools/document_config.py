"""Write the long tables of config/README.md from the schemas, the readings and the criteria.

They stand between marks, `<!-- NAME -->` and `<!-- end -->`; all else is written there by hand.
"""

import inspect
import re
from pathlib import Path

import yaml

from pgpd_hf.claims import CRITERIA
from pgpd_hf.support.validation import read_yaml

ROOT = Path(__file__).parent.parent
SCHEMAS = ROOT / "workflow/schemas"
READINGS = ROOT / "config/readings"
CONFIG = ROOT / "config/config.yaml"
PAGE = ROOT / "config/README.md"
END = "...\n"  # of a YAML document that is a single value
MARKED = re.compile(r"(<!-- (\w+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)


def resolve(entry, definitions):
    """An entry with what it refers to; its own keys win."""
    return {**definitions.get(entry.get("$ref", "").split("/")[-1], {}), **entry}


def rows(schema, defaults, definitions, prefix=""):
    """Cells about all keys of an object, in order, nested ones after their parent."""
    for name, entry in schema.get("properties", {}).items():
        entry = resolve(entry, definitions)
        others = entry.get("additionalProperties")
        shown = ""
        if name in defaults and "properties" not in entry and not isinstance(others, dict):
            text = yaml.safe_dump(defaults[name], default_flow_style=True, width=10**6)
            shown = f"`{text.removesuffix(END).strip()}`"
        yield f"`{prefix}{name}`", shown, entry["description"]
        yield from rows(entry, defaults.get(name) or {}, definitions, f"{prefix}{name}.")
        if isinstance(others, dict):
            inner = resolve(others, definitions)
            yield from rows(inner, {}, definitions, f"{prefix}{name}.NAME.")


def table(header, cells):
    """A Markdown table."""
    escaped = ([cell.strip().replace("|", "\\|") for cell in row] for row in cells)
    rows = [header, ["---"] * len(header), *escaped]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("| --- ", "|---")


def keys(name):
    """Table of a schema without defaults."""
    found = rows(read_yaml(SCHEMAS / f"{name}.schema.yaml"), {}, {})
    return table(("key", "meaning"), ((key, meaning) for key, _, meaning in found))


def tables():
    """All tables, by name."""
    schema = read_yaml(SCHEMAS / "config.schema.yaml")
    readings = sorted(READINGS.glob("*.yaml"), key=lambda path: path.stem)
    criteria = (
        (
            f"`{name}`",
            function.__doc__.split("\n")[0],
            ", ".join(f"`{key}`" for key in inspect.signature(function).parameters),
        )
        for name, function in CRITERIA.items()
    )
    changes = ((f"`{path.stem}`", read_yaml(path)["about"]) for path in readings)
    defaults = rows(schema, read_yaml(CONFIG), schema["$defs"])
    return {
        "keys": table(("key", "default", "meaning"), defaults),
        "readings": table(("reading", "what it changes"), changes),
        "reading_keys": keys("reading"),
        "claims_keys": keys("claims"),
        "criteria": table(("test", "demands", "keys"), criteria),
    }


def page():
    """The page with its tables written again."""
    found = tables()
    return MARKED.sub(lambda part: part[1] + found[part[2]] + part[3], PAGE.read_text("utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
