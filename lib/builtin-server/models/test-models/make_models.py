"""Makes `several`: a random decoder of 1,024 ids and 4 dimensions, in all forms in which exports come.

Needs onnx and numpy. Usage: python make_models.py
"""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IDS, SIZE = 1024, 4
HERE = Path(__file__).parent / "several"
random = np.random.default_rng(7)
EMBEDDING = random.normal(size=(IDS, SIZE)).astype(np.float32)
HEAD = random.normal(size=(SIZE, IDS)).astype(np.float32)
OPSETS = [helper.make_opsetid("", 17)]


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def decoder(weights, nodes_of_weights=(), cache=TensorProto.FLOAT, further=()):
    """Returns logits that depend on the id and on the sum of all earlier ids, so that tests notice a lost cache."""
    nodes = [
        *nodes_of_weights,
        helper.make_node("Gather", ["embedding", "input_ids"], ["embedded"]),
        helper.make_node("Unsqueeze", ["embedded", "one"], ["own"]),
        *([helper.make_node("Cast", ["own"], ["kept"], to=cache)] if cache != TensorProto.FLOAT else []),
        helper.make_node("Concat", ["past_key_values.0.key", "own" if cache == TensorProto.FLOAT else "kept"], ["present.0.key"], axis=2),
        helper.make_node("Concat", ["past_key_values.0.value", "own" if cache == TensorProto.FLOAT else "kept"], ["present.0.value"], axis=2),
        helper.make_node("Cast", ["present.0.key"], ["keys"], to=TensorProto.FLOAT),
        helper.make_node("CumSum", ["keys", "two"], ["sums"]),
        helper.make_node("Squeeze", ["sums", "one"], ["flat"]),
        helper.make_node("Shape", ["input_ids"], ["shape"]),
        helper.make_node("Gather", ["shape", "one"], ["count"]),
        helper.make_node("Neg", ["count"], ["from"]),
        helper.make_node("Slice", ["flat", "from", "end", "one"], ["last"]),
        helper.make_node("MatMul", ["last", "head"], ["logits"]),
    ]
    past = ["batch_size", 1, "past_sequence_length", SIZE]
    present = ["batch_size", 1, "total_sequence_length", SIZE]
    inputs = [
        value("input_ids", TensorProto.INT64, ["batch_size", "sequence_length"]),
        *(value(name, TensorProto.INT64, ["batch_size", "sequence_length"]) for name in further),
        *(value(f"past_key_values.0.{part}", cache, past) for part in ("key", "value")),
    ]
    outputs = [
        value("logits", TensorProto.FLOAT, ["batch_size", "sequence_length", IDS]),
        *(value(f"present.0.{part}", cache, present) for part in ("key", "value")),
    ]
    constants = [
        numpy_helper.from_array(np.array([1], dtype=np.int64), "one"),
        numpy_helper.from_array(np.array(2, dtype=np.int64), "two"),
        numpy_helper.from_array(np.array([2**31], dtype=np.int64), "end"),
    ]
    graph = helper.make_graph(nodes, "decoder", inputs, outputs, [*weights, *constants])
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=9)


def plain():
    return [numpy_helper.from_array(EMBEDDING, "embedding"), numpy_helper.from_array(HEAD, "head")]


def halves():
    """Returns weights of 16 bits, which the graph converts to 32 bits where it uses them."""
    weights = [
        numpy_helper.from_array(EMBEDDING.astype(np.float16), "embedding_half"),
        numpy_helper.from_array(HEAD.astype(np.float16), "head_half"),
    ]
    casts = [
        helper.make_node("Cast", ["embedding_half"], ["embedding"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["head_half"], ["head"], to=TensorProto.FLOAT),
    ]
    return weights, casts


def quantized():
    """Returns weights of 8 bits with one scale for each tensor."""
    weights, nodes = [], []
    for name, values in (("embedding", EMBEDDING), ("head", HEAD)):
        scale = np.abs(values).max() / 127
        whole = np.round(values / scale).astype(np.int8)
        weights += [
            numpy_helper.from_array(whole, f"{name}_whole"),
            numpy_helper.from_array(np.array(scale, dtype=np.float32), f"{name}_scale"),
            numpy_helper.from_array(np.array(0, dtype=np.int8), f"{name}_zero"),
        ]
        nodes.append(helper.make_node("DequantizeLinear", [f"{name}_whole", f"{name}_scale", f"{name}_zero"], [name]))
    return weights, nodes


folder = HERE / "onnx"
folder.mkdir(parents=True, exist_ok=True)
onnx.save(decoder(plain()), folder / "model.onnx", save_as_external_data=True, location="model.onnx_data", size_threshold=4096)
onnx.save(decoder(*quantized()), folder / "model_quantized.onnx")
onnx.save(decoder(*halves(), cache=TensorProto.FLOAT16), folder / "model_fp16.onnx")
onnx.save(decoder(plain()[:1] + halves()[0][1:], halves()[1][1:], further=["token_type_ids"]), folder / "model_q4.onnx")
config = {
    "model_type": "gpt2",
    "architectures": ["GPT2LMHeadModel"],
    "vocab_size": IDS,
    "n_positions": 256,
    "n_head": 1,
    "n_embd": SIZE,
    "eos_token_id": 2,
}
(HERE / "config.json").write_text(json.dumps(config, indent=2) + "\n")
