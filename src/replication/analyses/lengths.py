"""From which T on the bounds of NPGPD-HF are informative."""

from pgpd_hf.core import optima
from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.study import configuration, resources

TARGET = "all"
TABLES = {
    "lengths": Table(
        "Corrected bounds (table)", "statement estimator evaluators rounds iterations"
    ),
    "first_lengths": Table("First lengths (table)", "statement estimator evaluators rounds level"),
}
READS = ("environment",)


def arguments(config):
    study = {key: config[key] for key in ("link", "horizon", "evaluators")}
    return study | {"corrected": config["bounds"]["corrected"]}


def seconds(config):
    return resources.corrected_seconds(config, configuration.size(config))


def tables(environment, link, horizon, evaluators, corrected):
    from replication.theory.lengths import lengths
    from replication.theory.setting import Setting

    cmdp = CMDP.load(environment)
    found = lengths(
        cmdp,
        optima.solve(cmdp),
        Setting(evaluators=None, iterations=1, link=link, horizon=horizon),
        evaluators,
        [part["rounds"] for part in corrected["seen"]],
        corrected["iterations"],
        corrected["measured"],
        range(corrected["seeds"]),
    )
    return dict(zip(TABLES, found, strict=True))
