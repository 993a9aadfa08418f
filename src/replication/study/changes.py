"""What a study changes, and which of the defaults do not fit it."""

from inspect import signature

from pgpd_hf.environments.random import random_cmdp
from replication.study import configuration


class Changes:
    """What a study says itself, beside the defaults; and what is left out of these, and why."""

    # `why` says why defaults that were chosen for the environment of config/config.yaml do not fit
    # that of the study; it is empty if they do.

    def __init__(self, config, folder, own, defaults):
        self.folder, self.own, self.defaults, self.left = folder, own, defaults, {}
        usual = {it.name: it.default for it in signature(random_cmdp).parameters.values()}
        usual, options = usual | defaults["environment"], config["environment"]
        self.is_random = configuration.is_random(options)
        differing = [
            f"environment.{key}"
            for key, value in own.get("environment", {}).items()
            # Another draw is as good as that of config/config.yaml.
            if usual.get(key, value) != value and key != "instance"
        ]
        self.why = f"made for another {', '.join(differing)}" if differing else ""
        if not self.is_random:
            named = configuration.describe(options)
            self.why = f"the CMDP {named} is a single one, not a random family"

    def says(self, *keys):
        """Whether the study says something itself."""
        place = self.own
        for key in keys:
            if key not in place:
                return False
            place = place[key]
        return True

    def inherits(self, *keys):
        """Whether something comes from the defaults, and was made for another environment."""
        return bool(self.why) and not (self.is_random and self.says(*keys))

    def leave_out(self, config, key, name, why):
        """Remove an entry of a table or a list, if it is there."""
        *parents, last = key.split(".")
        for parent in parents:
            config = config[parent]
        if name in config[last]:
            self.left.setdefault(why, {}).setdefault(key, []).append(name)
            kept = [it for it in config[last] if it != name]
            is_table = isinstance(config[last], dict)
            config[last] = {it: config[last][it] for it in kept} if is_table else kept

    def lines(self):
        """A line for each reason for which something is left out."""
        for why, parts in self.left.items():
            told = [
                f"{key}.{'null' if names[0] is None else names[0]}"
                if len(names) == 1
                else f"{len(names)} of {key}"
                for key, names in parts.items()
            ]
            if any(len(names) > 1 for names in parts.values()):
                why += "; config/analyses lists them"
                why += ", and what a study sets itself is kept" * self.is_random
            yield f"left out: {', '.join(told)} ({why})"
