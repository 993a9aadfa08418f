"""Choose the step sizes of one algorithm on calibration seeds."""

import argparse
import json

from pgpd_hf.core import cmdp
from pgpd_hf.studies import calibration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scores", required=True, help="CSV file to write")
    parser.add_argument("--steps", required=True, help="JSON file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    process = cmdp.CMDP.load(arguments.environment)
    scores, (primal, dual) = calibration.choose(
        process, arguments.algorithm, study, arguments.threads
    )
    storage.write_table(arguments.scores, scores)
    storage.write_json(arguments.steps, {"primal_step": primal, "dual_step": dual})


if __name__ == "__main__":
    main()
