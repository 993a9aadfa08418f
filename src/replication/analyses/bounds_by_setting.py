"""Every lemma, theorem and corollary of the paper at one setting."""

from replication.analyses import Table
from replication.study import bounds, configuration
from replication.work import resources

TARGET = "all"
TABLES = {"bounds/{setting}": Table()}
MAKES_ENVIRONMENTS = True
NAMES_ALGORITHMS = ("tables",)
ALGORITHMS = ("npgpd_hf", "zpgpd_hf")  # whose theorems these are
check = bounds.check


def arguments(config, setting, archive_digest):
    options = config["bounds"]["settings"][setting]
    environment = configuration.vary(config, options["environment"])
    return {
        "environment": environment,
        "archive": archive_digest(environment),  # another archive asks for another table
        "link": config["link"],
        "options": {key: options[key] for key in options if key != "environment"},
        "seeds": config["bounds"]["seeds"],
        "name": setting,
    }


def seconds(config):
    return config["bounds"]["seeds"] * resources.BOUND_RUN


def tables(environment, archive, link, options, seeds, name):
    from replication.theory.setting import Setting
    from replication.theory.table import check_all

    cmdp = configuration.environment({"environment": environment})
    table = check_all(cmdp, Setting(link=link, **options), seeds=range(seeds))
    table = table.drop(columns="instance")
    table.insert(5, "setting", name)
    return {name: table}
