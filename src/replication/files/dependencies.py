"""Which files of the packages a job uses: a rule runs again when one of these is edited."""

import json
import re
from functools import cache
from pathlib import Path

_SOURCES = Path(__file__).parents[2]
_PACKAGES = ("pgpd_hf", "replication")
# A line that begins with it; a list of names may go on in the next ones.
_FROM = re.compile(
    r"^ *from ((?:pgpd_hf|replication)[\w.]*) import (?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE
)


@cache
def sources(*files):
    """Files of the packages that scripts and notebooks import, and what these import."""
    # Import statements are read, not executed, so what is imported by a computed name, such as an
    # algorithm, has to be listed. The packages' own __init__, lists of names, are left out.
    found = set()
    waiting = [_SOURCES / file if (_SOURCES / file).is_file() else Path(file) for file in files]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    inside = (path for path in found if path.is_relative_to(_SOURCES))
    return tuple(sorted(path.relative_to(_SOURCES) for path in inside))


@cache
def _imported(path):
    """Files of the packages that one file imports itself."""
    code = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(code)["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    names = set(re.findall(r"^ *import ((?:pgpd_hf|replication)[\w.]*)", code, re.MULTILINE))
    for module, several, one in _FROM.findall(code):
        names |= {module, *(f"{module}.{it}" for it in re.findall(r"\w+", several or one))}
    parts = [name.split(".") for name in names]
    places = [_SOURCES.joinpath(*part) for part in parts if part[1:]]
    files = {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")}
    # Python also runs the `__init__` of a module's folder.
    files |= {file.with_name("__init__.py") for file in (path, *files)}
    top = {_SOURCES / name / "__init__.py" for name in _PACKAGES}
    return [file for file in files - top if file.is_file()]
