"""The page on which people vote: a template, `vote.html`, with the questions of an iteration."""

import hashlib
import json
from importlib.resources import files

from pgpd_hf.arguments import require_instance, shown

WORDING = {
    "helpful": "Which course is more helpful?",
    "harmless": "Which course does less harm?",
    "acceptable": "Is this course acceptable?",
}


def page(questions, steps, ends, process, title, wording):
    """Text of the page; `steps` have numbers, and `ends` (S,) tells in which states courses end."""
    wording = {} if wording is None else require_instance("wording", wording, dict)
    for kind, text in wording.items():
        if kind not in WORDING or not isinstance(text, str):
            allowed = f"texts for {', '.join(WORDING)} expected"
            raise ValueError(f"wording: {allowed}, got {shown({kind: text})}")
    shapes = {"state": len(ends), "action": int(steps["action"].max()) + 1}
    names = {
        axis: getattr(process, f"{axis}_names", None) or [f"{axis} {k}" for k in range(count)]
        for axis, count in shapes.items()
    }
    render = getattr(process, "render", None)
    asked = json.loads(questions.to_json(orient="values"))
    shown_ones = {number for _, _, *pair in asked for number in pair if number is not None}
    courses = {
        int(number): {
            "steps": rows[["state", "action"]].to_numpy().tolist(),
            "cut": not ends[rows["state"].iloc[-1]],
        }
        for number, rows in steps.groupby("trajectory")
        if number in shown_ones
    }
    data = {
        "title": require_instance("title", title, str),
        "wording": WORDING | wording,
        "questions": asked,
        "trajectories": courses,
        "states": names["state"],
        "actions": names["action"],
        "pictures": render and [_picture(render, state) for state in range(len(ends))],
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
