"""Options: fields of a dataclass that know their type, their range, and what they mean."""

import inspect
import textwrap
from dataclasses import MISSING, field, fields
from typing import NamedTuple, get_args, get_type_hints

import numpy as np

from pgpd_hf.core.arguments import require_integer, require_number, require_one_of, shown

REQUIRED = MISSING  # in place of a default
_FARTHEST = 2**62  # an integer has no further range


class Option(NamedTuple):
    """One option, as :func:`read` finds it.

    Attributes
    ----------
    name, text : str
        Its name, and the line that documents it.
    kind : type
        bool, int, float or str.
    optional : bool
        Whether it may be None.
    default : object
        :data:`REQUIRED` if it has to be given.
    at_least, above, at_most : float or None
        Its range; None for no limit.
    one_of : tuple of str or None
        All that it may be.
    """

    name: str
    text: str
    kind: type
    optional: bool
    default: object
    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    one_of: tuple | None = None

    def check(self, value):
        """Refuse a value that the option cannot have, and make it a plain one.

        Parameters
        ----------
        value : object
            What was given.

        Returns
        -------
        bool, int, float, str or None

        Raises
        ------
        ValueError
            One line that names the option and what is allowed.
        """
        if value is None and self.optional:
            return None
        try:
            return self._plain(value)
        except ValueError as error:
            if not self.optional:
                raise
            raise ValueError(str(error).replace(" expected,", ", or None, expected,", 1)) from None

    def _plain(self, value):
        """What :meth:`check` makes of a value that is not None."""
        if self.one_of is not None:
            require_one_of(self.name, value, self.one_of)
            return value
        if self.kind is bool:
            if not isinstance(value, bool | np.bool_):
                raise ValueError(f"{self.name}: True or False expected, got {shown(value)}")
            return bool(value)
        if self.kind is int:
            least = -_FARTHEST if self.at_least is None else self.at_least
            most = _FARTHEST if self.at_most is None else self.at_most
            return require_integer(self.name, value, least, most)
        if self.kind is float:
            limits = {"at_least": self.at_least, "above": self.above, "at_most": self.at_most}
            return require_number(self.name, value, **limits)
        if not isinstance(value, str):
            raise ValueError(f"{self.name}: a string expected, got {shown(value)}")
        return value


def option(default, text, *, at_least=None, above=None, at_most=None, one_of=None):
    """Declare an option: the field of a dataclass, which is annotated with its type.

    Parameters
    ----------
    default : object
        Its default, or :data:`REQUIRED`.
    text : str
        What it means, in one line; documentation is made of it.
    at_least, above, at_most : float, optional
        Its range.
    one_of : iterable of str, optional
        All that it may be.

    Returns
    -------
    dataclasses.Field

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from pgpd_hf.core.options import option, read
    >>> @dataclass
    ... class Heavy:
    ...     momentum: float = option(0.9, "Share of the step before.", at_least=0, at_most=1)
    >>> read(Heavy)["momentum"].check(2)
    Traceback (most recent call last):
    ValueError: momentum: a number in [0, 1] expected, got 2
    """
    told = {"text": text, "at_least": at_least, "above": above, "at_most": at_most}
    return field(default=default, metadata={**told, "one_of": one_of and tuple(one_of)})


def read(cls):
    """Read the options of a dataclass.

    Parameters
    ----------
    cls : type
        The dataclass.

    Returns
    -------
    dict of Option
        By name, in the order of the fields.

    Raises
    ------
    TypeError
        If a field is no option: its type is another than these, with or without None.
    """
    found, types = {}, get_type_hints(cls)
    for each in fields(cls):
        kinds = get_args(types[each.name]) or (types[each.name],)
        kind, *others = (kind for kind in kinds if kind is not type(None))
        if others:
            raise TypeError(f"{each.name}: one type, or one and None, expected, got {kinds}")
        if kind not in (bool, int, float, str):
            raise TypeError(f"{each.name}: a bool, int, float or str expected, got {kind}")
        told = {"text": "", **each.metadata}
        found[each.name] = Option(
            each.name, kind=kind, optional=len(kinds) > 1, default=each.default, **told
        )
    return found


def documented(cls):
    """Docstring of a dataclass with a section about its options.

    Parameters
    ----------
    cls : type
        The dataclass; stays as it is.

    Returns
    -------
    str
    """
    lines = [inspect.cleandoc(cls.__doc__ or ""), "", "Parameters", "----------"]
    for name, each in read(cls).items():
        kind = each.kind.__name__
        if each.one_of is not None:
            kind = "{" + ", ".join(f'"{one}"' for one in each.one_of) + "}"
        if each.default is None:
            kind += ", optional"
        elif each.default is not REQUIRED:
            kind += f", default {each.default}"
        elif each.optional:
            kind += " or None"
        lines += [f"{name} : {kind}", textwrap.indent(textwrap.fill(each.text, 90), " " * 4)]
    return "\n".join(lines)
