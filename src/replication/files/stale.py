"""Whatever differs from what made a result is made again.

Snakemake decides by times of files, and by what it remembers in `.snakemake` as far as a user asks
it to. Neither survives a copy. Here the records beside the results decide, and nothing else.
"""

import sys

import snakemake.api  # before its `workflow`, since the two import each other
from snakemake.persistence import ParamsChange
from snakemake.persistence.file import FilePersistence
from snakemake.settings.enums import RerunTrigger

from replication.files import storage


class Memory(FilePersistence):
    """What Snakemake asks when it looks for jobs to run; it calls every difference a parameter."""

    def __init__(self, *args, dag, db_url=None, **options):
        super().__init__(*args, dag=dag, **options)
        dag.workflow.dag_settings.rerun_triggers = frozenset({RerunTrigger.PARAMS})
        dag.max_checksum_file_size = sys.maxsize

    def has_metadata(self, job):
        """There are records."""
        return True

    def has_outdated_metadata(self, job):
        """They have one format."""
        return False

    def input_checksums(self, job, input_path):
        """A file that is newer than a result is another one only if the records say so."""
        return {f"sha256:{storage.digest(input_path)}"}

    def params_changed(self, job, file=None):
        """What a job is made from that its results were not made from."""
        return ParamsChange(only_new=storage.differences(job))


def decide_by_content():
    """Let the records decide which jobs of a workflow run."""
    snakemake.workflow.FilePersistence = snakemake.workflow.DbPersistence = Memory
