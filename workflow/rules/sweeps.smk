# Files of sweeps and schedules, and what their jobs depend on; nothing else.

from pgpd_hf import resources
from pgpd_hf.analyses import sweeps


def calibration_of(algorithm):
    """File with the study's step sizes of an algorithm, or of the one whose limit it is."""
    name = sweeps.studied(algorithm)
    calibrated = config["algorithms"][name]["primal_step"] == "calibrated"
    return f"{RESULTS}/calibration/{name}.json" if calibrated else []


def theory_part(**parts):
    """What of the configuration a job of this file depends on, as JSON for a command line."""
    keys = ("algorithms", "horizon", "link", "environment")
    return json.dumps({**{key: config[key] for key in keys}, **parts})


def sweep_files(*names):
    """Files of all runs of sweeps."""
    return [
        f"{RESULTS}/sweeps/{name}/{algorithm}/seeds{block}.parquet"
        for name in names
        if name in config["sweeps"]
        for algorithm in config["sweeps"][name]["algorithms"]
        for block in resources.sweep_blocks(config, name, algorithm)
    ]


def schedule_files():
    """Files of all runs of schedules."""
    return [
        f"{RESULTS}/schedules/{algorithm}/seeds{block}.parquet"
        for algorithm in config["schedules"]["algorithms"]
        for block in resources.schedule_blocks(config, algorithm)
    ]


def grid_files():
    """Files of all runs of the grid."""
    return [
        f"{RESULTS}/grid/{algorithm}/instances{instances}/seeds{seeds}.parquet"
        for algorithm in config["grid"]["algorithms"]
        for instances, seeds in resources.grid_blocks(config, algorithm)
    ]
