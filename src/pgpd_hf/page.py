"""The page on which people vote: a template, `vote.html`, with the questions of an iteration."""

import hashlib
import json
from importlib.resources import files

from pgpd_hf.arguments import require_instance, shown
from pgpd_hf.process import labels


def page(title, process, questions, paths, ends):
    """Text of the page.

    A question is (number, kind, first, second), a path has the numbers of states and actions, and
    `ends` (S,) says in which states trajectories end.
    """
    states, actions = (
        [label if isinstance(label, str) else f"{axis} {label}" for label in index]
        for axis, index in zip(("state", "action"), labels(process), strict=True)
    )
    render = getattr(process, "render", None)
    seen = {number for _, _, *pair in questions for number in pair if number is not None}
    data = {
        "title": require_instance("title", title, str),
        "questions": questions,
        "trajectories": {k: {"steps": paths[k], "cut": not ends[paths[k][-1][0]]} for k in seen},
        "states": states,
        "actions": actions,
        "pictures": render and [_picture(render, state) for state in range(len(states))],
    }
    data["id"] = hashlib.sha256(json.dumps(data).encode()).hexdigest()[:16]
    # No text can end the element that holds the data.
    text = json.dumps(data).replace("<", "\\u003c")
    template = files("pgpd_hf").joinpath("vote.html").read_text(encoding="utf-8")
    return template.replace("DATA", text, 1)


def _picture(render, state):
    picture = render(state)
    if not isinstance(picture, str):
        raise ValueError(f"render: text in SVG expected, got {shown(picture)} for state {state}")
    return picture
