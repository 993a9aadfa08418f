"""What the runs have learned."""

from pgpd_hf.core.evaluators import evaluators_text

TARGET = "policies"
SHOWS = ("environment", "policies")
CATEGORY = "Policies"


def pictures(config):
    names = map(evaluators_text, config["evaluators"])
    return {f"policies_M{name}": f"Policies, M = {name}" for name in names}


def parameters(config):
    evaluators = {evaluators_text(number): number for number in config["evaluators"]}
    return {"study": config["study"], "evaluators": evaluators}
