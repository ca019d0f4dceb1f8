"""Write the model folder: config.json, generation_config.json and onnx/model.onnx, beside the tokenizer's two files.

The graph is written node by node, so that nothing has to guess at it: inputs input_ids, attention_mask, position_ids,
num_logits_to_keep (0 keeps all) and past_key_values.N.key/value; outputs logits and present.N.key/value. Opset 23 has
RMSNormalization, RotaryEmbedding and Attention as operators of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from model import Qwen3, Shape, load_checkpoint
from tokenizer import ADDED, SPECIAL, VOCABULARY, write_json
from tokenizer import configuration as tokenizer_configuration

OPSET = 23
IR_VERSION = 10  # read by every onnxruntime since 1.18

IDS = {token: index for index, token in enumerate(SPECIAL + ADDED)}


class Graph:
    """Nodes and constants as they are added; every method returns the name of what it made."""

    def __init__(self, weights: dict[str, np.ndarray]) -> None:
        self.weights = weights
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.counter = 0

    def name(self, prefix: str) -> str:
        self.counter += 1
        return f"{prefix}_{self.counter}"

    def node(self, operator: str, *inputs: str, outputs: list[str] | None = None, **attributes: Any) -> str:
        outputs = outputs or [self.name(operator)]
        self.nodes.append(helper.make_node(operator, list(inputs), outputs, name=self.name(operator), **attributes))
        return outputs[0]

    def constant(self, value: Any, prefix: str = "constant") -> str:
        name = self.name(prefix)
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def weight(self, name: str) -> str:
        """The initializer keeps the parameter's name: to_transformers.py reads the weights back by it."""
        if all(tensor.name != name for tensor in self.constants):
            self.constants.append(numpy_helper.from_array(self.weights[name], name))
        return name

    def linear(self, x: str, name: str) -> str:
        """Stored transposed, as MatMul wants it."""
        if all(tensor.name != name for tensor in self.constants):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(self.weights[name].T), name))
        return self.node("MatMul", x, name)

    def norm(self, x: str, name: str, epsilon: float) -> str:
        return self.node("RMSNormalization", x, self.weight(name), axis=-1, epsilon=epsilon)


def build(weights: dict[str, np.ndarray], shape: Shape) -> onnx.ModelProto:
    graph = Graph(weights)
    embedding = graph.weight("model.embed_tokens.weight")
    x = graph.node("Gather", embedding, "input_ids")
    mask = causal_mask(graph)
    cosine, sine = rotation(graph, shape)
    for layer in range(shape.num_hidden_layers):
        prefix = f"model.layers.{layer}."
        attended = attention(
            graph,
            shape,
            layer,
            prefix,
            graph.norm(x, f"{prefix}input_layernorm.weight", shape.rms_norm_eps),
            mask,
            cosine,
            sine,
        )
        x = graph.node("Add", x, attended)
        y = graph.norm(x, f"{prefix}post_attention_layernorm.weight", shape.rms_norm_eps)
        gate = graph.linear(y, f"{prefix}mlp.gate_proj.weight")
        gate = graph.node("Mul", gate, graph.node("Sigmoid", gate))
        y = graph.node("Mul", gate, graph.linear(y, f"{prefix}mlp.up_proj.weight"))
        x = graph.node("Add", x, graph.linear(y, f"{prefix}mlp.down_proj.weight"))
    x = graph.norm(x, "model.norm.weight", shape.rms_norm_eps)
    # a slice from -0 is a slice from 0: all positions
    start = graph.node("Neg", graph.node("Reshape", "num_logits_to_keep", graph.integers(1)))
    x = graph.node("Slice", x, start, graph.integers(np.iinfo(np.int64).max), graph.integers(1))
    graph.node("MatMul", x, graph.node("Transpose", embedding, perm=[1, 0]), outputs=["logits"])
    return finish(graph, shape)


def causal_mask(graph: Graph) -> str:
    """0 where a position may look, -1e9 where it may not: the future, and what attention_mask leaves out."""
    zero, one = graph.constant(np.int64(0)), graph.constant(np.int64(1))
    length = graph.node("Squeeze", graph.node("Shape", "input_ids", start=1, end=2))
    total = graph.node("Squeeze", graph.node("Shape", "attention_mask", start=1, end=2))
    rows = graph.node("Unsqueeze", graph.node("Range", graph.node("Sub", total, length), total, one), graph.integers(1))
    columns = graph.node("Unsqueeze", graph.node("Range", zero, total, one), graph.integers(0))
    kept = graph.node("Unsqueeze", graph.node("Cast", "attention_mask", to=TensorProto.BOOL), graph.integers(1, 2))
    allowed = graph.node("And", graph.node("LessOrEqual", columns, rows), kept)
    return graph.node("Where", allowed, graph.constant(np.float32(0)), graph.constant(np.float32(-1e9)))


def rotation(graph: Graph, shape: Shape) -> tuple[str, str]:
    """Cosines and sines of the asked positions, computed in the graph: a table would weigh half a megabyte."""
    frequencies = 1.0 / shape.rope_theta ** (np.arange(0, shape.head_dim, 2, dtype=np.float32) / shape.head_dim)
    positions = graph.node("Unsqueeze", graph.node("Cast", "position_ids", to=TensorProto.FLOAT), graph.integers(2))
    angles = graph.node("Mul", positions, graph.constant(frequencies.astype(np.float32)))
    return graph.node("Cos", angles), graph.node("Sin", angles)


def attention(graph: Graph, shape: Shape, layer: int, prefix: str, x: str, mask: str, cosine: str, sine: str) -> str:
    def split(projection: str, heads: int) -> str:
        projected = graph.linear(x, f"{prefix}self_attn.{projection}.weight")
        return graph.node("Reshape", projected, graph.integers(0, 0, heads, shape.head_dim))

    def normed(projection: str, norm: str, heads: int) -> str:
        y = graph.norm(split(projection, heads), f"{prefix}self_attn.{norm}.weight", shape.rms_norm_eps)
        return graph.node("RotaryEmbedding", graph.node("Transpose", y, perm=[0, 2, 1, 3]), cosine, sine)

    query = normed("q_proj", "q_norm", shape.num_attention_heads)
    key = normed("k_proj", "k_norm", shape.num_key_value_heads)
    value = graph.node("Transpose", split("v_proj", shape.num_key_value_heads), perm=[0, 2, 1, 3])
    mixed = graph.node(
        "Attention",
        query,
        key,
        value,
        mask,
        f"past_key_values.{layer}.key",
        f"past_key_values.{layer}.value",
        outputs=[graph.name("Attention"), f"present.{layer}.key", f"present.{layer}.value"],
        scale=shape.head_dim**-0.5,
    )
    joined = graph.node(
        "Reshape",
        graph.node("Transpose", mixed, perm=[0, 2, 1, 3]),
        graph.integers(0, 0, shape.num_attention_heads * shape.head_dim),
    )
    return graph.linear(joined, f"{prefix}self_attn.o_proj.weight")


def finish(graph: Graph, shape: Shape) -> onnx.ModelProto:
    value = helper.make_tensor_value_info
    integer, real = TensorProto.INT64, TensorProto.FLOAT
    inputs = [
        value("input_ids", integer, ["batch_size", "sequence_length"]),
        value("attention_mask", integer, ["batch_size", "total_sequence_length"]),
        value("position_ids", integer, ["batch_size", "sequence_length"]),
        value("num_logits_to_keep", integer, []),
    ]
    outputs = [value("logits", real, ["batch_size", "num_logits", shape.vocab_size])]
    for layer in range(shape.num_hidden_layers):
        for part in ("key", "value"):
            inputs.append(
                value(
                    f"past_key_values.{layer}.{part}",
                    real,
                    ["batch_size", shape.num_key_value_heads, "past_sequence_length", shape.head_dim],
                )
            )
            outputs.append(
                value(
                    f"present.{layer}.{part}",
                    real,
                    ["batch_size", shape.num_key_value_heads, "total_sequence_length", shape.head_dim],
                )
            )
    body = helper.make_graph(graph.nodes, "tiny-qwen3", inputs, outputs, graph.constants)
    model = helper.make_model(
        body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="rollscope"
    )
    onnx.checker.check_model(model)
    return model


def configuration(shape: Shape) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": shape.vocab_size,
        "hidden_size": shape.hidden_size,
        "intermediate_size": shape.intermediate_size,
        "num_hidden_layers": shape.num_hidden_layers,
        "num_attention_heads": shape.num_attention_heads,
        "num_key_value_heads": shape.num_key_value_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": shape.max_position_embeddings,
        "max_window_layers": shape.num_hidden_layers,
        "rms_norm_eps": shape.rms_norm_eps,
        "rope_theta": shape.rope_theta,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "sliding_window": None,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "use_cache": True,
        "bos_token_id": None,
        "eos_token_id": IDS["<|im_end|>"],
        "pad_token_id": IDS["<|endoftext|>"],
        "dtype": "float32",
    }


GENERATION = {
    "do_sample": True,
    "temperature": 1.0,
    # All tokens: transformers refuses -1, SGLang 0, and without it transformers keeps 50.
    "top_k": VOCABULARY,
    "top_p": 1.0,
    "max_new_tokens": 400,
    "eos_token_id": [IDS["<|im_end|>"], IDS["<|endoftext|>"]],
    "pad_token_id": IDS["<|endoftext|>"],
}


def weights_of(model: Qwen3) -> dict[str, np.ndarray]:
    return {name: tensor.float().numpy() for name, tensor in model.state_dict().items()}


def write(model: Qwen3, tokenizer_folder: Path, folder: Path) -> None:
    """Each file is written elsewhere first and moved into place: somebody may be reading the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = json.loads((tokenizer_folder / "tokenizer.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory(dir=folder) as name:
        fresh = Path(name)
        (fresh / "onnx").mkdir()
        onnx.save(build(weights_of(model), model.shape), fresh / "onnx" / "model.onnx")
        write_json(fresh / "config.json", configuration(model.shape))
        write_json(fresh / "generation_config.json", GENERATION)
        write_json(fresh / "tokenizer.json", tokenizer, indent=None)
        write_json(fresh / "tokenizer_config.json", tokenizer_configuration(tokenizer))
        (folder / "onnx").mkdir(exist_ok=True)
        for file in sorted(path for path in fresh.rglob("*") if path.is_file()):
            os.replace(file, folder / file.relative_to(fresh))


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("checkpoint")
    arguments.add_argument("tokenizer", type=Path, help="folder with tokenizer.json")
    arguments.add_argument("folder", type=Path)
    options = arguments.parse_args()
    write(load_checkpoint(options.checkpoint), options.tokenizer, options.folder)
