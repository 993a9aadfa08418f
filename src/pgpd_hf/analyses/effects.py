"""Effects of M, H, N, |S| and |A|, beside exact predictions."""

from pgpd_hf import sweeps

TARGET = "theory"
TABLES = {
    "effects": "Effects of M, H, N, |S| and |A| (table)",
    "effects_means": "Means behind the effects (table)",
}
SWEEPS = ("people", "horizon", "pairs", "states", "actions")


def plan(config):  # noqa: D103
    return sweeps.plan(config, SWEEPS)


def check(config, schema):  # noqa: D103
    sweeps.check(config, SWEEPS)


def parameters(config):  # noqa: D103
    return {"link": config["link"]}
