"""One of the engines that `dissensus-bench` measures us against, as a process that answers requests.

Every line of standard input is a request and every line of standard output its answer, both one JSON object:

    {"do": "export", "encoder": DIR, "fp32": FILE, "int8": FILE}      -> {}
    {"do": "load", "engine": NAME, "encoder": DIR, "onnx": FILE,
     "threads": N, "max_tokens": N, "normalised": BOOL}                -> {}
    {"do": "encode", "texts": FILE, "embeddings": FILE}                -> {"seconds", "tokens", "peak_mib"}
    {"do": "latency", "text": TEXT, "runs": N}                         -> {"milliseconds": [..]}
    {"do": "train", "encoder": DIR, "policy": "full" or "last-K" or "lora", "ids": [[..], ..], "steps": N,
     "threads": N}                                                     -> {"seconds": [..]}

FILE of texts is a JSON list; embeddings are written as little-endian floats, row after row, in the texts' order. A
request that fails is answered by {"error": WHY}. The process ends with its input. Libraries are imported where they are
used, so that the memory of an engine is its own.
"""

import json
import os
import sys
import time

ONNX_BATCH = 8
WARM_STEPS = 2
LORA_RANK = 8
LORA_ALPHA = 16
LEARNING_RATE = 2e-5


class SentenceTransformers:
    """The library as its users call it, with mean pooling."""

    def __init__(self, request):
        import torch
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.models import Normalize, Pooling, Transformer

        torch.set_num_threads(request["threads"])
        transformer = Transformer(request["encoder"], max_seq_length=request["max_tokens"])
        modules = [transformer, Pooling(transformer.get_embedding_dimension(), "mean")]
        modules += [Normalize()] if request["normalised"] else []
        self.model = SentenceTransformer(modules=modules, device="cpu")

    def encode(self, texts):
        return self.model.encode(texts, show_progress_bar=False)

    def tokens(self, texts):
        ids = self.model.tokenizer(texts, truncation=True, max_length=self.model.max_seq_length)["input_ids"]
        return sum(len(text) for text in ids)


class OnnxRuntime:
    """A session over an exported model: texts sorted by length, small batches, mean pooling in numpy."""

    def __init__(self, request):
        import onnxruntime
        import tokenizers

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = request["threads"]
        self.session = onnxruntime.InferenceSession(request["onnx"], options, providers=["CPUExecutionProvider"])
        self.tokenizer = tokenizers.Tokenizer.from_file(os.path.join(request["encoder"], "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(request["max_tokens"])
        self.normalised = request["normalised"]

    def encode(self, texts):
        import numpy

        ids = [text.ids for text in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(ids)), key=lambda text: -len(ids[text]))
        rows = [None] * len(ids)
        for start in range(0, len(order), ONNX_BATCH):
            batch = order[start : start + ONNX_BATCH]
            longest = len(ids[batch[0]])
            padded = numpy.zeros((len(batch), longest), dtype=numpy.int64)
            mask = numpy.zeros_like(padded)
            for row, text in enumerate(batch):
                padded[row, : len(ids[text])] = ids[text]
                mask[row, : len(ids[text])] = 1
            (states,) = self.session.run(None, {"input_ids": padded, "attention_mask": mask})
            weights = mask[:, :, None].astype(numpy.float32)
            means = (states * weights).sum(axis=1) / weights.sum(axis=1)
            if self.normalised:
                means /= numpy.linalg.norm(means, axis=1, keepdims=True)
            for row, text in enumerate(batch):
                rows[text] = means[row]
        return numpy.stack(rows)

    def tokens(self, texts):
        return sum(len(text.ids) for text in self.tokenizer.encode_batch(texts))


def reset_peak():
    """Forgets the highest resident memory so far, where the system can."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return True
    except OSError:
        return False


def peak_mib():
    """The highest resident memory since it was last reset."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def export(request):
    """Writes the encoder as ONNX, in fp32 and with weights in int8, and checks the first against PyTorch."""
    import numpy
    import onnxruntime
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from transformers import AutoModel

    class States(torch.nn.Module):
        """Only the last states, of what every family takes."""

        def __init__(self):
            super().__init__()
            self.model = AutoModel.from_pretrained(request["encoder"])

        def forward(self, input_ids, attention_mask):
            return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    # The exporter gives the outermost module its mode back, so that one has to be out of training too.
    model = States().eval()
    part = request["fp32"] + ".part"
    names = ["input_ids", "attention_mask"]
    axes = {name: {0: "texts", 1: "tokens"} for name in [*names, "states"]}
    torch.onnx.export(
        model, made_batch(2, 6), part, input_names=names, output_names=["states"], dynamic_axes=axes,
        opset_version=17, dynamo=False,
    )  # fmt: skip
    ids, mask = made_batch(3, 11)
    session = onnxruntime.InferenceSession(part, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy()})
    with torch.no_grad():
        expected = model(ids, mask).numpy()
    apart = float((numpy.abs(found - expected) * mask[:, :, None].numpy()).max())
    if not apart < 1e-3:
        raise ValueError(f"the exported model is {apart} from PyTorch's")
    quantize_dynamic(part, request["int8"] + ".part", weight_type=QuantType.QInt8)
    os.replace(request["int8"] + ".part", request["int8"])
    os.replace(part, request["fp32"])
    return {}


def made_batch(texts, tokens):
    """Ids of a small vocabulary, and a mask in which the last text is shorter."""
    import torch

    ids = torch.arange(texts * tokens).reshape(texts, tokens) % 50 + 5
    mask = torch.ones_like(ids)
    mask[-1, tokens // 2 :] = 0
    return ids, mask


def encode(engine, request):
    with open(request["texts"], encoding="utf-8") as file:
        texts = json.load(file)
    known = reset_peak()
    started = time.perf_counter()
    embeddings = engine.encode(texts)
    seconds = time.perf_counter() - started
    peak = peak_mib() if known else None
    embeddings.astype("<f4").tofile(request["embeddings"])
    return {"seconds": seconds, "tokens": engine.tokens(texts), "peak_mib": peak}


def latency(engine, request):
    texts = [request["text"]]
    engine.encode(texts)
    milliseconds = []
    for _ in range(request["runs"]):
        started = time.perf_counter()
        engine.encode(texts)
        milliseconds.append((time.perf_counter() - started) * 1e3)
    return {"milliseconds": milliseconds}


def train(request):
    """Steps of a BERT with mean pooling and a linear head for two classes: batch in, weights moved."""
    import torch

    torch.set_num_threads(request["threads"])
    torch.manual_seed(1)
    bert, head, trained = trainee(request)
    ids = torch.tensor(request["ids"])
    mask = torch.ones_like(ids)
    classes = torch.arange(len(ids)) % 2
    optimizer = torch.optim.AdamW(trained, lr=LEARNING_RATE)
    seconds = []
    for _ in range(WARM_STEPS + request["steps"]):
        started = time.perf_counter()
        optimizer.zero_grad()
        states = bert(input_ids=ids, attention_mask=mask).last_hidden_state
        weights = mask[:, :, None].to(states.dtype)
        means = (states * weights).sum(dim=1) / weights.sum(dim=1)
        torch.nn.functional.cross_entropy(head(means), classes).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - started)
    return {"seconds": seconds[WARM_STEPS:]}


def trainee(request):
    """The model in training mode, its head, and the parameters that the policy trains."""
    import torch
    from transformers import BertModel

    bert = BertModel.from_pretrained(request["encoder"], add_pooling_layer=False).train()
    head = torch.nn.Linear(bert.config.hidden_size, 2)
    policy = request["policy"]
    bert.requires_grad_(policy == "full")
    if policy.startswith("last-"):
        # Dropout below what learns would only be noise, and ours leaves it out as well.
        bert.eval()
        bert.encoder.layer[-int(policy[5:]) :].requires_grad_(True).train()
    elif policy == "lora":
        for layer in bert.encoder.layer:
            attention = layer.attention.self
            attention.query = with_lora(attention.query)
            attention.value = with_lora(attention.value)
    elif policy != "full":
        raise ValueError(f"no policy {policy!r}: full, last-K or lora")
    trained = [p for p in bert.parameters() if p.requires_grad]
    return bert, head, [*trained, *head.parameters()]


def with_lora(linear):
    """The frozen product plus a trainable one of low rank (Hu et al. 2021)."""
    import torch

    class Lora(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = linear
            self.down = torch.nn.Parameter(torch.randn(LORA_RANK, linear.in_features) * 0.02)
            self.up = torch.nn.Parameter(torch.zeros(linear.out_features, LORA_RANK))

        def forward(self, states):
            return self.linear(states) + (states @ self.down.T) @ self.up.T * (LORA_ALPHA / LORA_RANK)

    return Lora()


ENGINES = {
    "sentence-transformers": SentenceTransformers,
    "onnxruntime fp32": OnnxRuntime,
    "onnxruntime int8": OnnxRuntime,
}


def main():
    # Libraries print where they like; answers have the output for themselves.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    engine = None
    for line in sys.stdin:
        try:
            request = json.loads(line)
            do = request["do"]
            if do == "load":
                engine = ENGINES[request["engine"]](request)
                answer = {}
            elif do == "encode":
                answer = encode(engine, request)
            elif do == "latency":
                answer = latency(engine, request)
            else:
                answer = {"export": export, "train": train}[do](request)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
