"""Show a table of verdicts to people."""

import argparse

from pgpd_hf.support import pages, storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verdicts", required=True, help="CSV file")
    parser.add_argument("--study", required=True)
    parser.add_argument("--output", required=True, help="HTML file to write")
    arguments = parser.parse_args()

    table = storage.read_table(arguments.verdicts)
    shown = ["statement", "source", "verdict", "estimate", "low", "high", "part"]
    table = table[shown].rename(columns={"part": "decided by"})
    counts = table["verdict"].value_counts().rename_axis("verdict").reset_index(name="statements")
    pages.write_page(
        arguments.output,
        f"The paper's statements, judged on study {arguments.study}",
        {"In short": counts, "One by one": table},
    )


if __name__ == "__main__":
    main()
