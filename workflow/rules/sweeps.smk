# Files of sweeps and schedules, and what their jobs depend on; nothing else.

LIMITS = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}  # exact methods, and whose limits they are


def calibration_of(algorithm):
    """File with the study's step sizes of an algorithm, or of the one whose limit it is."""
    name = LIMITS.get(algorithm, algorithm)
    calibrated = config["algorithms"][name]["primal_step"] == "calibrated"
    return f"{RESULTS}/calibration/{name}.json" if calibrated else []


def theory_part(**parts):
    """What of the configuration a job of this file depends on, as JSON for a command line."""
    keys = ("algorithms", "horizon", "link", "environment")
    return json.dumps({**{key: config[key] for key in keys}, **parts})


def blocks(seeds, block):
    """Blocks of seeds, as in file names."""
    return [
        f"seeds{first:04d}-{min(first + block, seeds) - 1:04d}" for first in range(0, seeds, block)
    ]


def sweep_files(*names):
    """Files of all runs of sweeps. An exact method has no seeds, so it runs once."""
    return [
        f"{RESULTS}/sweeps/{name}/{algorithm}/{block}.parquet"
        for name in names
        for algorithm in config["sweeps"][name]["algorithms"]
        for block in blocks(
            1 if algorithm in LIMITS else config["sweeps"][name]["seeds"],
            config["sweeps"][name]["block"],
        )
    ]


def schedule_files():
    """Files of all runs of schedules."""
    return [
        f"{RESULTS}/schedules/{algorithm}/{block}.parquet"
        for algorithm in config["schedules"]["algorithms"]
        for block in blocks(config["schedules"]["seeds"], config["schedules"]["block"])
    ]
