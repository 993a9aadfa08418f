"""Data-dependent bounds, and every step of the corrected proofs."""

from pgpd_hf.core import optima
from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.study import configuration, resources

TARGET = "theory"
TABLES = {
    "seen": Table(
        "Data-dependent bounds (table)", "estimator evaluators rounds iterations quantity"
    ),
    "proof_steps": Table("Steps of proofs (table)", "step"),
}
READS = SHOWS = ("environment",)
PICTURES = {"seen": "Data-dependent bounds"}


def arguments(config):
    study = {key: config[key] for key in ("link", "horizon", "evaluators")}
    return study | {"corrected": config["bounds"]["corrected"]}


def seconds(config):
    proofs = config["bounds"]["corrected"]["cases"] * resources.PROOF_CASE
    size = configuration.size(config)
    return resources.corrected_seconds(config, size, 2 * resources.SEEN) + proofs


def tables(environment, link, horizon, evaluators, corrected):
    from replication import proofs
    from replication.theory import seen
    from replication.theory.setting import Setting

    cmdp = CMDP.load(environment)
    setting = Setting(evaluators=None, iterations=1, link=link, horizon=horizon)
    given = evaluators, corrected["seen"], range(corrected["seeds"])
    return {
        "seen": seen.over_lengths(cmdp, optima.solve(cmdp), setting, *given),
        "proof_steps": proofs.check_steps(corrected["cases"]),
    }
