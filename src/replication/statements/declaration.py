"""Read config/claims.yaml, and refuse statements that cannot be judged."""

from contextlib import suppress

from pgpd_hf.core.arguments import located, require_one_of
from replication.files.validation import conform, read_yaml
from replication.statements.criteria import CRITERIA, argument_schema, make_parts
from replication.statements.evidence import Undecidable


def load_claims(path, schema, own=()):
    """Read level, alternative and the paper's statements, and statements of one's own files."""
    content = _load(path, schema)
    owners = dict.fromkeys(content["claims"], path)
    alone = {"properties": {"claims": schema["properties"]["claims"]}, "required": ["claims"]}
    for file in own:
        for name, claim in _load(file, schema | alone)["claims"].items():
            if name in owners:
                raise ValueError(
                    f"{file}: claims.{name}: {owners[name]} already has a statement of this name"
                )
            content["claims"][name], owners[name] = claim, file
    return content


def _load(path, schema):
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
            counted = options["test"] == "questions"
            if counted != (claim.get("kind") == "arithmetic"):
                raise ValueError(
                    f"claims.{name}.kind: arithmetic is for the test questions, and for no other"
                )
    return content
