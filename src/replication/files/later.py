"""A table that is made when it is first looked at."""

from collections.abc import Mapping
from functools import cached_property


class Later(Mapping):
    """A table that a function makes as soon as something is asked that is not known beforehand."""

    def __init__(self, make, known=()):
        self._make, self._known = make, dict(known)

    @cached_property
    def _whole(self):
        return self._make()

    def __getitem__(self, key):
        return self._known[key] if key in self._known else self._whole[key]

    def __iter__(self):
        return iter(self._whole)

    def __len__(self):
        return len(self._whole)
