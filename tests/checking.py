"""What is refused before the first job, whichever results are asked for."""

from pathlib import Path

from replication import admission, analyses
from replication.study import readings

ROOT = Path(__file__).parents[1]


def check_all(config):
    """Check all parts of a configuration that has been admitted."""
    schema = admission.load_schema(ROOT, "config")
    readings.check(config, readings.load(config, ROOT), schema)
    for part in analyses.find().values():
        part.check(config, schema)


def admit_all(config, own, defaults):
    """Admit a study, and check all parts of it."""
    admitted = admission.admit(config, ROOT, own, defaults)
    check_all(admitted[0])
    return admitted
