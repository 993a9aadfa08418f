# What the Snakefile of a study begins with: the core's rules, its own configuration, and places.
# NAME, the study's folder, is set before.

import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

if not find_spec("pgpd_hf"):
    sys.exit("error: pgpd_hf: not installed; activate .venv of the clone")
CLONE = Path(find_spec("pgpd_hf").origin).resolve().parents[2]
HERE = os.path.relpath(CLONE / f"studies/{NAME}")


configfile: f"{CLONE}/config/config.yaml"


# Another file than the study's own, which says what is run: for a smaller study, and for tests.
DECLARED = runpy.run_path(f"{CLONE}/workflow/scripts/configuration.py")["declared"](
    HERE, config.pop("declared", None)
)


module core:
    snakefile:
        "../../Snakefile"
    config:
        config


use rule * from core exclude all


# Names of the core that its studies use.
SCRIPTS, LIBRARY, sources, blocks = core.SCRIPTS, core.LIBRARY, core.sources, core.blocks
RESULTS = f"results/{config['name']}"
STUDY, LOGS = f"{RESULTS}/{NAME}", f"{RESULTS}/logs/{NAME}"
CAPTION = f"{CLONE}/workflow/report/page.rst"
# With which scripts import each other as modules of the study's package.
PYTHON = f"PYTHONPATH={quote(os.path.dirname(HERE))} python -sP"
