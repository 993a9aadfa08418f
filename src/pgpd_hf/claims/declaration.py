"""Reading config/claims.yaml, and refusing what cannot be judged."""

import inspect
import math

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.analyses.rates import PROMISED
from pgpd_hf.claims.criteria import CRITERIA
from pgpd_hf.claims.evidence import COLUMNS, RATE_COLUMNS, STATISTICS
from pgpd_hf.core.arguments import located, require_one_of
from pgpd_hf.studies.configuration import conform, read_yaml

_RATE_TESTS = ("falls_at_rate", "slower_rate")


def load_claims(path, schema):
    """Read the statements.

    Parameters
    ----------
    path : path-like
        YAML file.
    schema : dict
        Its JSON Schema.

    Returns
    -------
    dict
        `level`, and `claims` by name.

    Raises
    ------
    ValueError
        One line that names the file, the statement and what is wrong.
    """
    content = read_yaml(path)
    with located(path):
        conform(content, schema)
        for name, claim in content["claims"].items():
            _check(f"claims.{name}.criterion", dict(claim["criterion"]))
    return content


def _check(key, options):
    test = options.pop("test")
    require_one_of(f"{key}.test", test, CRITERIA)
    arguments = list(inspect.signature(CRITERIA[test]).parameters)
    missing = [name for name in arguments if name not in options]
    if missing:
        # Of several, the margin is what makes a criterion one.
        name = "margin" if "margin" in missing else missing[0]
        raise ValueError(f"{key}: {test} needs the key {name!r}")
    unknown = [name for name in options if name not in arguments]
    if unknown:
        raise ValueError(f"{key}: unknown key {unknown[0]!r}; {test} takes {', '.join(arguments)}")
    rate = test in _RATE_TESTS
    for name, value in options.items():
        where = f"{key}.{name}"
        match name:
            case "algorithm" | "than":
                with located(where):
                    get_algorithm(value)
                if rate and value not in PROMISED:
                    raise ValueError(f"{where}: no theorem promises a rate for {value!r}")
            case "column":
                require_one_of(where, value, RATE_COLUMNS if rate else COLUMNS)
            case "statistic":
                require_one_of(where, value, STATISTICS)
            case "statistics":
                if not isinstance(value, list) or len(value) != 2:
                    raise ValueError(f"{where}: two statistics expected, got {value!r}")
                for statistic in value:
                    require_one_of(where, statistic, STATISTICS)
            case "margin" | "share":
                if not _is_number(value) or value < 0:
                    raise ValueError(f"{where}: a number of at least 0 expected, got {value!r}")
            case "rate":
                if not _is_number(value):
                    raise ValueError(f"{where}: a number expected, got {value!r}")
            case "evaluators":
                _check_crowds(where, test, value)
            case "at":
                require_one_of(where, value, ("least", "most"))
            case "steps":
                require_one_of(where, value, ("study", "theorem"))
            case "groups":
                if not isinstance(value, list) or len(value) < 2:
                    raise ValueError(f"{where}: at least two groups expected, got {value!r}")


def _check_crowds(where, test, value):
    if test in _RATE_TESTS:
        if str(value) != "inf" and not str(value).isdigit():
            raise ValueError(f"{where}: a number of evaluators or inf expected, got {value!r}")
        return
    least = {"most_of_the_gain": 3, "falls_early": 1, "levels_off": 1, "slower": 1, "larger": 1}
    least |= {"converges": 1, "questions": 1, "equal_across_sizes": 1, "worse_with_size": 1}
    least = least.get(test, 2)
    good = isinstance(value, list) and all(
        isinstance(number, int) and not isinstance(number, bool) and number > 0 for number in value
    )
    if not good or len(value) < least or len(set(value)) < len(value):
        raise ValueError(
            f"{where}: at least {least} different numbers of evaluators expected, got {value!r}"
        )


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
