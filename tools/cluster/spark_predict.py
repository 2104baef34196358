"""A Parquet file of texts scored with Spark, on this machine (docs/src/how-to/cluster.md has the recipe).

    python tools/cluster/spark_predict.py TEXTS.parquet BUNDLE OUT --log FOLDER
"""

import os
import sys

from options import asked
from pyspark.sql import SparkSession

HERE = os.path.dirname(os.path.abspath(__file__))

if __name__ == "__main__":
    options = asked(__doc__)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    import pyarrow.parquet as pq

    count = pq.ParquetFile(options.texts).metadata.num_rows
    spark = (
        # Four tries for each task, as on a cluster; `local[2]` alone gives up at the first worker that dies.
        SparkSession.builder.master(f"local[{options.workers},4]")
        .config("spark.executorEnv.RAYON_NUM_THREADS", "1")
        .config("spark.executorEnv.CLUSTER_LOG", options.log)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", options.batch)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for module in ("scorer.py", "measured.py"):
        spark.sparkContext.addPyFile(os.path.join(HERE, module))
    way, folder, people = options.way, os.path.abspath(options.bundle), options.people

    def score(batches):
        import measured  # a module: it stays in the Python process from task to task, and the bundle with it

        for batch in batches:
            yield from measured.measured(way, batch, folder, people).to_batches()

    import dissensus

    levels = list(dissensus.Bundle(folder).predict(["an example"], people))
    schema = "text_id string, "
    if way == "by_person":
        schema += "annotator_id string, prediction string, " + "".join(f"`{name}` float, " for name in levels if name.startswith("p_"))
    schema += "disagreement_split float, disagreement_pairwise float"
    texts = spark.read.parquet(options.texts).select("text_id", "text")
    # Parts of two batches: all workers end at about the same time, and little is to be done again if one dies.
    parts = max(options.workers, -(-count // (2 * options.batch)))
    rows = texts.repartition(parts).mapInArrow(score, schema)
    rows.write.mode("overwrite").parquet(os.path.abspath(options.out))
    spark.stop()
