"""Files of the package that a part of it uses: a rule runs again for edits of these alone."""

import ast
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def sources(*modules):
    """Files that modules of the package consist of: their own, and those they import.

    Importing the package itself, which is no more than a list of names, does not count.

    Parameters
    ----------
    modules : str
        Such as "plotting" or "theory/bounds".

    Returns
    -------
    tuple of pathlib.Path
        Relative to the package's folder, in alphabetical order.

    Raises
    ------
    ValueError
        If there is no such module.
    """
    found, waiting = set(), [_PACKAGE / f"{module}.py" for module in modules]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return tuple(sorted(path.relative_to(_PACKAGE) for path in found))


@cache
def _imported(path):
    """Files of the package that one of them imports itself."""
    if not path.is_file():
        raise ValueError(f"{path.relative_to(_PACKAGE)}: no such file of the package")
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.module.startswith(_PACKAGE.name):
            continue
        base = _PACKAGE.joinpath(*node.module.split(".")[1:])
        names = [base / name.name for name in node.names]
        candidates = [base, *names, base / "__init__", *[name / "__init__" for name in names]]
        found += [
            file
            for file in (candidate.with_suffix(".py") for candidate in candidates)
            if file.exists() and file != _PACKAGE / "__init__.py"
        ]
    return found
