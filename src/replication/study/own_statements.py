"""Statements of one's own, beside those of config/claims.yaml."""

from pgpd_hf.core.arguments import shown
from replication.files import validation


def refuse_unknown_names(path, config, loaded, people, horizons):
    """Refuse statements about what the study, its readings and its cases of two sweeps lack."""
    changed = [reading["config"].get("evaluators", []) for reading in loaded.values()]
    groups = config["claims"]["instances"]["groups"]
    curves = [case.labels["curve"] or None for case in people]
    known = {
        "algorithm": config["algorithms"],
        "than": config["algorithms"],
        "groups": [name for name, group in groups.items() if group["numbers"]],
        "schedule": config["schedules"]["phases"],
        "curve": curves,
        "curves": curves,
        "horizons": [case.labels["value"] for case in horizons],
    }
    numbers = {
        "falls_at_rate": config["rates"]["evaluators"],
        "slower_rate": config["rates"]["evaluators"],
        "larger_bias": [case.labels["value"] for case in people],
    }
    usual = sum(changed, config["evaluators"])
    for name, claim in validation.read_yaml(path)["claims"].items():
        options = claim["criterion"]
        allowed = known | {"evaluators": numbers.get(options["test"], usual)}
        for key in [key for key in options if key in allowed]:
            given = options[key] if isinstance(options[key], list) else [options[key]]
            for value in given:
                if value not in allowed[key]:
                    listed = ", ".join(str(it) for it in dict.fromkeys(allowed[key])) or "none"
                    raise ValueError(
                        f"{path}: claims.{name}.criterion.{key}: the study has no {shown(value)} "
                        f"(it has: {listed})"
                    )
