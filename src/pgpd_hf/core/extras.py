"""What a light installation leaves out: packages of extras, and the command that brings them."""

from importlib.util import find_spec


def lacking(extra, *packages):
    """Say which packages of an extra are missing, and how they are installed.

    Parameters
    ----------
    extra : str
        Name of the extra, as in pyproject.toml.
    *packages : str
        Names by which they are imported.

    Returns
    -------
    str
        A part of a sentence; empty if nothing is missing.

    Examples
    --------
    >>> from pgpd_hf.core.extras import lacking
    >>> lacking("workflow", "numpy", "no_such_package")
    "no_such_package is not installed; pip install 'pgpd-hf[workflow]' brings it"
    """
    missing = [name for name in packages if find_spec(name) is None]
    if not missing:
        return ""
    are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
    names = ", ".join(missing)
    return f"{names} {are} not installed; pip install 'pgpd-hf[{extra}]' brings {them}"
