"""Read config/claims.yaml, and refuse statements that cannot be judged."""

from pgpd_hf.claims.criteria import CRITERIA, argument_checks
from pgpd_hf.core.arguments import located, require_one_of
from pgpd_hf.support.validation import conform, read_yaml


def load_claims(path, schema):
    """Read the statements.

    Parameters
    ----------
    path : path-like
        YAML file.
    schema : dict
        Its JSON Schema.

    Returns
    -------
    dict
        `level`, the significance level, and `claims`, the statements by name.

    Raises
    ------
    ValueError
        One line that names the file, the statement and what is wrong.
    """
    content = read_yaml(path)
    with located(path):
        conform(content, schema)
        for name, claim in content["claims"].items():
            _check(f"claims.{name}.criterion", dict(claim["criterion"]))
    return content


def _check(key, options):
    test = options.pop("test")
    require_one_of(f"{key}.test", test, CRITERIA)
    checks = argument_checks(test)
    for name in checks:
        if name not in options:
            raise ValueError(f"{key}: {test} needs the key {name!r}")
    for name, value in options.items():
        if name not in checks:
            raise ValueError(f"{key}: unknown key {name!r}; {test} takes {', '.join(checks)}")
        checks[name](f"{key}.{name}", value)
