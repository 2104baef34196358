"""A Parquet file of texts scored with Ray Data, on this machine (docs/src/how-to/cluster.md has the recipe).

    python tools/cluster/ray_predict.py TEXTS.parquet BUNDLE OUT --log FOLDER
"""

import os

from options import asked

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

HERE = os.path.dirname(os.path.abspath(__file__))


class Score:
    """Lives in a process of its own, which opens the bundle once."""

    def __init__(self, way, folder, people):
        import measured

        self.measured, self.rest, self.way = measured.measured, (folder, people), way

    def __call__(self, batch):
        return self.measured(self.way, batch, *self.rest)


if __name__ == "__main__":
    options = asked(__doc__)
    variables = {"RAYON_NUM_THREADS": "1", "CLUSTER_LOG": options.log, "PYTHONPATH": os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])}
    # One CPU more than workers: reading and writing are tasks of their own, and would wait for ever for a worker to end.
    ray.init(num_cpus=options.workers + 1, runtime_env={"env_vars": variables}, include_dashboard=False, logging_level="warning")
    ray.data.DataContext.get_current().enable_progress_bars = False
    texts = ray.data.read_parquet(options.texts).select_columns(["text_id", "text"])
    # A small file would be one block, and a block goes to one worker.
    rows = texts.repartition(target_num_rows_per_block=options.batch).map_batches(
        Score,
        fn_constructor_args=(options.way, os.path.abspath(options.bundle), options.people),
        batch_format="pyarrow",
        batch_size=options.batch,
        num_cpus=1,
        compute=ray.data.ActorPoolStrategy(size=options.workers),
    )
    rows.write_parquet(os.path.abspath(options.out))
