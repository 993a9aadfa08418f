"""Theorem 2's perturbation radius in a study: a file of its own, since it needs ZPGPD-HF's."""

import math

from pgpd_hf.algorithms.zpgpd_hf import SMALLEST, theorem_perturbation
from pgpd_hf.core.evaluators import evaluators_text
from pgpd_hf.core.links import get_link
from replication.study import configuration


def refuse_wide(config):
    """Refuse Theorem 2's perturbation radius where it is zero, or wider than all policies."""
    cmdp = configuration.environment(config)
    widest = math.sqrt(2 * cmdp.states)  # no two policies are further apart
    for name, options in config["algorithms"].items():
        for evaluators in config["evaluators"] if options.get("perturbation") == "theorem" else []:
            radius = theorem_radius(config, evaluators)
            if not SMALLEST < radius <= widest:
                raise ValueError(
                    f"algorithms.{name}.perturbation: Theorem 2's is {radius:.3g} at M = "
                    f"{evaluators_text(evaluators)}, but of use are only positive numbers of at "
                    f"most sqrt(2 |S|) = {widest:.3g}, the largest distance between policies; "
                    "perturbation: calibrated lets it race with the steps"
                )


def theorem_radius(config, evaluators):
    """Theorem 2's perturbation radius at the horizon and the link of a study."""
    cmdp, link = configuration.environment(config), get_link(config["link"])
    bound = cmdp.return_bound(config["horizon"])
    return theorem_perturbation(cmdp.discount, config["horizon"], evaluators, link, bound)
