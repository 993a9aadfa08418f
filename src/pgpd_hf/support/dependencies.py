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
    >>> [path.as_posix() for path in sources("support/pages.py")]
    ['support/__init__.py', 'support/pages.py', 'support/storage.py']
    """
    found, waiting = set(), []
    for file in files:
        own = _PACKAGE / file
        inside = own.is_file() and own.is_relative_to(_PACKAGE)
        waiting += [own] if inside else _imported(Path(file))
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            # Python also runs the `__init__` of a module's folder.
            waiting += [*_imported(path), *({path.with_name("__init__.py")} - _LEFT_OUT)]
    return tuple(sorted(path.relative_to(_PACKAGE) for path in found))


_LEFT_OUT = {_PACKAGE / "__init__.py"}


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
    return [file for file in files if file.is_file()]
