import os

import ray

ray.init(num_cpus=3, runtime_env={"working_dir": ".", "excludes": ["texts.parquet", "scored-*"], "env_vars": {"RAYON_NUM_THREADS": "1"}})


class Score:
    def __init__(self):
        from scorer import bundle, by_text

        self.by_text = by_text
        bundle("my-model")  # once, when the worker starts

    def __call__(self, batch):
        return self.by_text(batch, "my-model")


texts = ray.data.read_parquet(os.path.abspath("texts.parquet")).select_columns(["text_id", "text"])
texts = texts.repartition(target_num_rows_per_block=500)  # a block goes to one worker
scored = texts.map_batches(Score, batch_format="pyarrow", batch_size=500, num_cpus=1, compute=ray.data.ActorPoolStrategy(size=2))
scored.write_parquet(os.path.abspath("scored-ray"))
