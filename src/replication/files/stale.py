"""Whatever differs from what made a result is made again.

Snakemake decides by times of files, and by what it remembers in `.snakemake` as far as a user asks
it to. Neither survives a copy. Here the records beside the results decide, and nothing else. In a
workflow that uses this one as a module, its own rules are judged as Snakemake does it.
"""

import sys
from functools import cache
from pathlib import Path

import snakemake.api  # before its `workflow`, since the two import each other
from snakemake.persistence import ParamsChange
from snakemake.persistence.file import FilePersistence
from snakemake.settings.enums import RerunTrigger

from replication.files import storage

_FOLDERS = set()  # of the files with this workflow's rules


class Memory(FilePersistence):
    """What Snakemake asks when it looks for jobs to run; it calls every difference a parameter."""

    def __init__(self, *args, dag, db_url=None, **options):
        super().__init__(*args, dag=dag, **options)
        dag.workflow.dag_settings.rerun_triggers = frozenset({RerunTrigger.PARAMS})
        dag.max_checksum_file_size = sys.maxsize

    def has_metadata(self, job):
        """There are records."""
        return _is_ours(job) or super().has_metadata(job)

    def has_outdated_metadata(self, job):
        """They have one format."""
        return not _is_ours(job) and super().has_outdated_metadata(job)

    def input_checksums(self, job, input_path):
        """A file that is newer than a result is another one only if the records say so."""
        if not _is_ours(job):
            return super().input_checksums(job, input_path)
        return {f"sha256:{storage.digest(input_path)}"}

    def params_changed(self, job, file=None):
        """What a job is made from that its results were not made from."""
        if _is_ours(job):
            return ParamsChange(only_new=storage.differences(job))
        changes = (self.code_changed, self.input_changed, self.software_stack_changed)
        files = {file for changed in changes for file in changed(job)}
        return super().params_changed(job, file) | ParamsChange(only_new=files)


def _is_ours(job):
    """Whether the rule of a job is one of this workflow's."""
    return _resolved(str(job.rule.basedir)) in _FOLDERS


@cache
def _resolved(folder):
    return Path(folder).resolve()


def decide_by_content(folder):
    """Let the records decide which jobs run whose rules lie in a folder."""
    _FOLDERS.add(Path(folder).resolve())
    snakemake.workflow.FilePersistence = snakemake.workflow.DbPersistence = Memory
