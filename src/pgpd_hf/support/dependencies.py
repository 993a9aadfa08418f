"""Which files of the package a job uses: a rule runs again when one of these is edited."""

import ast
import json
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def sources(*files):
    """Find the files of the package that scripts and notebooks import, and what these import.

    Import statements are read, not executed, so what is imported by a computed name, such as an
    algorithm, has to be listed. The package's own ``__init__``, a list of names, is left out.

    Parameters
    ----------
    *files : str
        Scripts and notebooks, relative to the working directory, and files of the package, such as
        "runs.py" or "algorithms/npgpd_hf.py", relative to its folder.

    Returns
    -------
    tuple of pathlib.Path
        Relative to the package's folder, in alphabetical order.

    Raises
    ------
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> [path.as_posix() for path in sources("support/crate.py")]
    ['support/__init__.py', 'support/crate.py', 'support/storage.py']
    """
    found = set()
    waiting = [_PACKAGE / file if (_PACKAGE / file).is_file() else Path(file) for file in files]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    inside = (path for path in found if path.is_relative_to(_PACKAGE))
    return tuple(sorted(path.relative_to(_PACKAGE) for path in inside))


@cache
def _imported(path):
    """Files of the package that one file imports itself."""
    code = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(code)["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    places = [_PACKAGE.joinpath(*name.split(".")[1:]) for name in names if name[:8] == "pgpd_hf."]
    files = {file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")}
    # Python also runs the `__init__` of a module's folder.
    files |= {file.with_name("__init__.py") for file in (path, *files)}
    return [file for file in files - {_PACKAGE / "__init__.py"} if file.is_file()]
