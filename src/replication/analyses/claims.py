"""The matrix of verdicts, and what it says."""

TARGET = "claims"
SHOWS = ("verdicts", "verdicts_power", "ties", "confirmation", "controls")
PICTURES = {"claims_headline": "Statements about the figure", "claims": "All readings"}
CATEGORY = "Verdicts"


def parameters(readings):
    loaded = readings.values()
    return {
        "readings": {reading["title"]: reading["about"] for reading in loaded},
        "sharing": [reading["title"] for reading in loaded if not reading["config"]],
        "headline": [reading["title"] for reading in loaded if reading.get("headline")],
    }
