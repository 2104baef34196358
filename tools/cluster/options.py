"""What the three scripts are asked."""

import argparse


def asked(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", help="a Parquet file with the columns text_id and text")
    parser.add_argument("bundle", help="a folder that `dissensus models bundle` made, at this path on every machine")
    parser.add_argument("out", help="a folder of Parquet files to write")
    parser.add_argument("--people", help="ids of annotators, with commas between [default: everybody]")
    parser.add_argument("--way", choices=["by_person", "by_text"], default="by_person", help="one row a text and person, or one a text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=500, help="texts that a worker takes at once")
    parser.add_argument("--log", required=True, help="a folder for the workers' logs")
    found = parser.parse_args()
    found.people = found.people.split(",") if found.people else None
    return found
