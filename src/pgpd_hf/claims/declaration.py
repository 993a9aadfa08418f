"""Read config/claims.yaml, and refuse statements that cannot be judged."""

from contextlib import suppress

from pgpd_hf.claims.criteria import CRITERIA, argument_schema, make_parts
from pgpd_hf.claims.evidence import Undecidable
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
            options = claim["criterion"]
            key = f"claims.{name}.criterion"
            require_one_of(f"{key}.test", options["test"], CRITERIA)
            conform(options, argument_schema(options["test"]), key)
            with located(key), suppress(Undecidable):
                make_parts(options)
    return content
