"""Wrong declarations: what stands in a configuration, and the same with one thing changed."""

import json


def places(node, at=()):
    """Where something stands in a declaration: of lists, the first entry."""
    yield at, node
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node[:1]):
            yield from places(value, (*at, key))


def changed(declaration, place, value, name=None):
    """A declaration in which something else stands at a place, under another name if given."""
    whole = node = {"": json.loads(json.dumps(declaration))}
    *path, last = ("", *place)
    for key in path:
        node = node[key]
    if name is not None:
        del node[last]
    node[last if name is None else name] = value
    return whole[""]
