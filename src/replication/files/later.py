"""Tables that are made when they are first looked at."""

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


class EachLater(dict):
    """A table each of whose entries a function makes when it is first asked for."""

    def __init__(self, make):
        super().__init__()
        self._make = make

    def __missing__(self, key):
        self[key] = self._make(key)
        return self[key]
