"""Where the error comes from."""

from replication.analyses import Table
from replication.files import storage

TARGET = "theory"
TABLES = {"certificates": Table("Certificates (table)", "case algorithm evaluators seed quantity")}
READS = ("certificates_by_algorithm",)
SHOWS = ("environment",)
LOCAL = True


def why_not(config):
    if "npgpd_hf" not in config["certificates"]["iterations"]:
        return "certificates.iterations: the page is about npgpd_hf, which has no entry"
    return ""


def tables(certificates_by_algorithm):
    return {"certificates": storage.read_tables(certificates_by_algorithm)}


def parameters(config):
    return {key: config["certificates"][key] for key in ("seeds", "iterations")}
