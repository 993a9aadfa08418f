"""Pack a study: workflow, configuration, results, and what came of what."""

import argparse
import json

from pgpd_hf.support import crate, provenance, storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True)
    parser.add_argument("--sources", nargs="+", required=True, help="files of the project")
    parser.add_argument("--configuration", required=True, help="the resolved one, YAML file")
    parser.add_argument("--provenance", required=True, help="JSON file")
    parser.add_argument("--benchmarks", required=True, help="Snakemake's files by rule, as JSON")
    parser.add_argument("--results", nargs="+", required=True, help="files that the workflow made")
    parser.add_argument("--output", required=True, help="zip file to write")
    arguments = parser.parse_args()

    crate.write_crate(
        arguments.output,
        study=arguments.study,
        sources=arguments.sources,
        configuration=arguments.configuration,
        results=arguments.results,
        provenance=storage.read_json(arguments.provenance),
        period=provenance.period(json.loads(arguments.benchmarks)),
    )


if __name__ == "__main__":
    main()
