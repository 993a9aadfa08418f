"""Settings at which bounds are computed, and lengths of the runs with certificates."""

import pickle
from dataclasses import replace

from pgpd_hf.core.arguments import located
from replication.study import configuration
from replication.theory.setting import Setting


def fit(config, changes):
    """Leave out settings for another environment; give the others the study's horizon."""
    settings = config["bounds"]["settings"]
    names = [
        name
        for name, options in settings.items()
        if set(options["environment"]) - {"file"}  # a file holds a CMDP as it is
        and changes.inherits("bounds", "settings", name, "environment")
    ]
    changes.leave_out(config, "bounds.settings", names, changes.why)
    if config["horizon"] != changes.defaults["horizon"] and not changes.says("horizon"):
        for name, options in settings.items():
            if not changes.says("bounds", "settings", name, "horizon"):
                options["horizon"] = config["horizon"]
    if "npgpd_hf" not in config["certificates"]["iterations"]:
        config["certificates"]["iterations"] = {}  # the page explains the parts by its runs


def check(config, schema):
    """Refuse settings at which bounds cannot be checked, in one line."""
    for name, options in config["bounds"]["settings"].items():
        key = f"bounds.settings.{name}"
        configuration.check_environment(
            f"{key}.environment", config, options["environment"], schema
        )
        cmdp, setting = problem(config, name)
        # Where the theorem's own steps and perturbation do not exist, rows of the table say so.
        given = replace(setting, primal_step=0.0, dual_step=0.0, perturbation=1.0)
        with located(key):
            for algorithm in ("npgpd_hf", "zpgpd_hf"):  # whose theorems the bounds are
                configuration.build(pickle.dumps(cmdp), given.of(algorithm), given.iterations)
    for name in config["certificates"]["iterations"]:
        with located(f"certificates.iterations.{name}"):
            configuration.require_algorithm(config, name)


def problem(config, name):
    """CMDP and setting, with the step sizes of the theorems, of one of the `bounds.settings`."""
    options = dict(config["bounds"]["settings"][name])
    changed = configuration.vary(config, options.pop("environment"))
    cmdp = configuration.environment({"environment": changed})
    return cmdp, Setting(link=config["link"], **options)
