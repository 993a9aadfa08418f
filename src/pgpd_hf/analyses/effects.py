"""Effects of M, H, N, |S| and |A|, beside exact predictions."""

from pgpd_hf import sweeps

TARGET = "theory"
TABLES = {
    "effects": "Effects of M, H, N, |S| and |A| (table)",
    "effects_means": "Means behind the effects (table)",
}
SWEEPS = ("people", "horizon", "pairs", "states", "actions")


def plan(config):
    return sweeps.plan(config, SWEEPS)


def check(config, schema):
    sweeps.check(config, SWEEPS)


def parameters(config):
    return {"link": config["link"]}
