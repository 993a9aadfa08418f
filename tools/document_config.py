"""Write the long tables of config's pages from schemas, algorithms, readings and criteria.

They stand between marks, `<!-- NAME -->` and `<!-- end -->`; all else is written there by hand.
"""

import inspect
import re
import textwrap
from pathlib import Path

import yaml

from pgpd_hf import ALGORITHMS
from replication.files.validation import read_yaml
from replication.statements.criteria import CRITERIA
from replication.study import admission, algorithms

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "config/README.md", ROOT / "config/analyses/README.md"]
END = "\n..."  # of a YAML document that is a single value
COMMON = (  # what people change, in the order in which they think of it
    *("study", "evaluators", "seeds", "algorithms", "algorithms.NAME.iterations"),
    *(f"environment.{name}" for name in ("instance", "states", "actions", "discount")),
    *(f"environment.{name}" for name in ("threshold", "file", "gymnasium", "name")),
)
LONGEST = 60  # characters of a default that is shown whole
MARKED = re.compile(r"(<!-- (\w+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)


def rows(parts, defaults, definitions, seen, prefix=""):
    """Key, default and meaning of all keys of an object; nested ones follow their parent.

    Keys of a shared definition are told where it is `seen` first.
    """
    for name, part in parts.items():
        shared = part.get("$ref")
        entry = definitions.get(shared, {}) | part
        inner, others = entry.get("properties", {}), entry.get("additionalProperties")
        below = inner | ({"NAME": others} if isinstance(others, dict) else {})
        if name != "NAME":
            text = yaml.safe_dump(defaults.get(name), default_flow_style=True, width=10**6)
            text = textwrap.shorten(text.partition(END)[0].strip(), LONGEST, placeholder=" ...")
            shown = "" if below or name not in defaults else f"`{text}`"
            yield f"`{prefix}{name}`", shown, entry["description"]
        if shared not in seen:
            yield from rows(below, defaults.get(name) or {}, definitions, seen, f"{prefix}{name}.")
        seen |= {shared} - {None}


def keys(name, defaults):
    """Rows about all keys of a schema."""
    schema = admission.load_schema(ROOT, name)
    definitions = {f"#/$defs/{key}": entry for key, entry in schema.get("$defs", {}).items()}
    return list(rows(schema["properties"], defaults, definitions, set()))


def common_and_other():
    """Rows about a study: what people change, all other keys, and the settings of analyses."""
    found = {row[0].strip("`"): row for row in keys("config", admission.load_defaults(ROOT))}
    common = [found.pop(name) for name in COMMON]
    analyses = {path.stem for path in ROOT.glob("config/analyses/*.yaml")}
    parts = {True: [], False: []}
    for name, row in found.items():
        parts[name.partition(".")[0] in analyses].append(row)
    return {"common": common, "keys": parts[False], "analyses": parts[True]}


def allowed(entry):
    """What a study may say for an option, in words."""
    if "enum" in entry:
        return ", ".join(f"`{name}`" for name in entry["enum"])
    if "anyOf" in entry:
        return ", ".join(map(allowed, entry["anyOf"]))
    if "maximum" not in entry:
        return entry["type"]
    above = entry.get("exclusiveMinimum")
    low = f"[{entry.get('minimum', '-∞')}" if above is None else f"({above}"
    return f"{entry['type']} in {low}, {entry['maximum']}]"


def option_rows():
    """Option, default, what it may be, meaning, and algorithms; what is alike stands once."""
    found = {}
    for name, kind in ALGORITHMS.items():
        known = algorithms.keys(kind)
        for each in kind.options().values():
            if each.name in known and len(each.one_of or "ab") > 1:
                default = algorithms.THEOREM if each.default is None else each.default
                row = f"`{each.name}`", f"`{default}`", allowed(known[each.name]), each.text
                found.setdefault(row, []).append(f"`{name}`")
    return [(*row, ", ".join(names)) for row, names in sorted(found.items())]


def table(header, cells):
    """A Markdown table, without the columns in which no row has anything."""
    kept = [place for place, column in enumerate(zip(*cells, strict=True)) if any(column)]
    escaped = ([row[place].strip().replace("|", "\\|") for place in kept] for row in cells)
    lines = [[header[place] for place in kept], ["---"] * len(kept), *escaped]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines).replace("| --- ", "|---")


def tables():
    """All tables, by name."""
    schemas = common_and_other()
    schemas |= {f"{name}_keys": keys(name, {}) for name in ("reading", "claims")}
    readings = sorted(ROOT.glob("config/readings/*.yaml"), key=lambda path: path.stem)
    changes = [(f"`{path.stem}`", read_yaml(path)["about"]) for path in readings]
    criteria = []
    for name, function in CRITERIA.items():
        arguments = ", ".join(f"`{key}`" for key in inspect.signature(function).parameters)
        criteria.append((f"`{name}`", function.__doc__.split("\n")[0], arguments))
    return {
        **{name: table(("key", "default", "meaning"), it) for name, it in schemas.items()},
        "options": table(("option", "default", "allowed", "meaning", "of"), option_rows()),
        "readings": table(("reading", "what it changes"), changes),
        "criteria": table(("test", "demands", "keys"), criteria),
    }


def pages():
    """The pages with their tables written again, by path."""
    found = tables()
    return {
        path: MARKED.sub(lambda part: part[1] + found[part[2]] + part[3], path.read_text("utf-8"))
        for path in PAGES
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
