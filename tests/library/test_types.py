"""The library tells editors and type checkers what it takes and gives."""

import inspect
import pydoc
from typing import get_type_hints

import gymnasium
import pytest

import pgpd_hf
from pgpd_hf import algorithms, deployment, environments, stability
from pgpd_hf.runs import races, traces


def public():
    """Functions by name: those of the package, its classes, and its modules for users."""
    functions = {name: getattr(pgpd_hf, name) for name in pgpd_hf.__all__}
    for module in (algorithms, deployment, environments, races, traces, stability):
        for name, it in vars(module).items():
            if not name.startswith("_") and getattr(it, "__module__", "") == module.__name__:
                functions[f"{module.__name__}.{name}"] = it
    for kind in (pgpd_hf.CMDP, pgpd_hf.Optimum):
        for name, it in vars(kind).items():
            if not name.startswith("_"):
                it = getattr(it, "__func__", it)  # of a class method
                functions[f"{kind.__name__}.{name}"] = getattr(it, "fget", it)
    return {name: it for name, it in functions.items() if inspect.isfunction(it)}


@pytest.mark.parametrize("name", sorted(public()))
def test_public_functions_are_annotated(name):
    function = public()[name]
    hints = get_type_hints(function, localns={"gymnasium": gymnasium})
    parameters = set(inspect.signature(function).parameters) - {"self", "cls"}
    assert hints.keys() == parameters | {"return"}


def test_listing_shows_what_is_public_and_nothing_else():
    shown = {name for name in dir(pgpd_hf) if not name.startswith("_")}
    modules = {name for name in shown if inspect.ismodule(getattr(pgpd_hf, name))}
    assert shown - modules == {*pgpd_hf.__all__}
    assert {getattr(pgpd_hf, name).__name__ for name in modules} == {
        f"pgpd_hf.{it}" for it in modules
    }
    assert "__version__" in dir(pgpd_hf)


def test_what_is_public_is_found():
    assert {
        "run",
        "certify",
        "pgpd_hf.runs.races.race",
        "CMDP.evaluate",
        "CMDP.states",
        "CMDP.load",
    } < public().keys()


def test_help_and_names_are_readable():
    text = pydoc.plain(pydoc.render_doc(pgpd_hf.run))
    assert "object at 0x" not in text
    assert "SupportsArray" not in text
    assert "evaluators" in repr(pgpd_hf.NPGPDHF(evaluators=8))
    assert repr(pgpd_hf.ALGORITHMS).startswith("ALGORITHMS(adaptive_safe_rlhf, ")
    assert pgpd_hf.__version__
