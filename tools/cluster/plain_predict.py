"""No engine: this many Python processes side by side, each with its share of the texts.

    python tools/cluster/plain_predict.py TEXTS.parquet BUNDLE OUT --log FOLDER
"""

import os
import subprocess
import sys

from options import asked


def score(options, part):
    import measured
    import pyarrow.parquet as pq

    # Whole batches, half of them to each of two workers: the first half to the first.
    batches = list(pq.ParquetFile(options.texts).iter_batches(options.batch, columns=["text_id", "text"]))
    share = -(-len(batches) // options.workers)
    writer = None
    for batch in batches[part * share : (part + 1) * share]:
        rows = measured.measured(options.way, batch, options.bundle, options.people)
        writer = writer or pq.ParquetWriter(os.path.join(options.out, f"{part}.parquet"), rows.schema)
        writer.write_table(rows)
    if writer:
        writer.close()


if __name__ == "__main__":
    options = asked(__doc__)
    part = os.environ.get("CLUSTER_PART")
    if part is not None:
        score(options, int(part))
    else:
        os.makedirs(options.out, exist_ok=True)
        limits = {"RAYON_NUM_THREADS": "1", "CLUSTER_LOG": options.log}
        parts = [
            subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, **limits, "CLUSTER_PART": str(part)}) for part in range(options.workers)
        ]
        sys.exit(max([one.wait() for one in parts]))
