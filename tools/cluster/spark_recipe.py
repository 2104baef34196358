import os
import sys

from pyspark.sql import SparkSession

os.environ["PYSPARK_PYTHON"] = sys.executable  # the Python that has the package, on each machine
spark = (
    SparkSession.builder.master("local[2,4]")  # two workers, four tries; on a cluster the master is named elsewhere
    .config("spark.executorEnv.RAYON_NUM_THREADS", "1")
    .config("spark.sql.execution.arrow.maxRecordsPerBatch", 500)
    .getOrCreate()
)
spark.sparkContext.addPyFile("scorer.py")


def score(batches):
    from scorer import by_text  # a module stays in its Python process from task to task, and the bundle in it

    for batch in batches:
        yield from by_text(batch, "my-model").to_batches()


texts = spark.read.parquet("texts.parquet").select("text_id", "text").repartition(20)
scored = texts.mapInArrow(score, "text_id string, disagreement_split float, disagreement_pairwise float")
scored.write.mode("overwrite").parquet("scored-spark")
spark.stop()
