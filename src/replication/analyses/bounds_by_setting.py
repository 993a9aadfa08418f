"""Every lemma, theorem and corollary of the paper at one setting."""

import pickle
from dataclasses import replace

from pgpd_hf.core.arguments import located
from replication.analyses import Table
from replication.study import configuration, resources
from replication.theory.setting import Setting

TARGET = "all"
TABLES = {"bounds/{setting}": Table()}
ALGORITHMS = ("npgpd_hf", "zpgpd_hf")  # whose theorems these are


def fit(config, changes):
    """Leave out settings for another environment; give the others the study's horizon."""
    settings = config["bounds"]["settings"]
    for name, options in settings.items():
        others = set(options["environment"]) - {"file"}  # a file holds a CMDP as it is
        if others and changes.inherits("bounds", "settings", name, "environment"):
            changes.leave_out(config, "bounds.settings", name, changes.why)
    if config["horizon"] != changes.defaults["horizon"] and not changes.says("horizon"):
        for name, options in settings.items():
            if not changes.says("bounds", "settings", name, "horizon"):
                options["horizon"] = config["horizon"]


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
            for algorithm in ALGORITHMS:
                configuration.build(pickle.dumps(cmdp), given.of(algorithm), given.iterations)


def problem(config, name):
    """CMDP and setting, with the step sizes of the theorems, of one of the `bounds.settings`."""
    options = dict(config["bounds"]["settings"][name])
    changed = configuration.vary(config, options.pop("environment"))
    cmdp = configuration.environment({"environment": changed})
    return cmdp, Setting(link=config["link"], **options)


def arguments(config, setting, archive_digest):
    options = dict(config["bounds"]["settings"][setting])
    environment = configuration.vary(config, options.pop("environment"))
    return {
        "environment": environment,
        "archive": archive_digest(environment),  # another archive asks for another table
        "options": {"link": config["link"], **options},
        "seeds": config["bounds"]["seeds"],
        "name": setting,
    }


def seconds(config):
    return config["bounds"]["seeds"] * resources.BOUND_RUN


def tables(environment, archive, options, seeds, name):
    from replication.theory.table import check_all

    cmdp = configuration.environment({"environment": environment})
    table = check_all(cmdp, Setting(**options), seeds=range(seeds))
    table.insert(5, "setting", name)
    return {name: table}
