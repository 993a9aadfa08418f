"""Check every lemma, theorem and corollary of the paper at one setting."""

import argparse
import json

from pgpd_hf import theory
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--setting", required=True, help="name of the setting")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    cmdp, setting = configuration.bound_problem(study, arguments.setting)
    table = theory.check_all(cmdp, setting, seeds=range(study["bounds"]["seeds"]))
    table = table.drop(columns="instance")
    table.insert(5, "setting", arguments.setting)
    storage.write_table(arguments.output, table)


if __name__ == "__main__":
    main()
