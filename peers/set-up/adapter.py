"""Write a LoRA adapter of the shipped model: `adapter.py MODEL_FOLDER OUT`.

OUT.gguf is a file for llama.cpp, any other OUT a folder in PEFT's form for SGLang and vLLM. Both have the same random
matrices, which change the replies of the model a little.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

RANK = 4
ALPHA = 8
SCALE = 0.003
PARTS = ("q_proj", "v_proj")
GGUF_PARTS = {"q_proj": "attn_q", "v_proj": "attn_v"}


def main(source: Path, out: Path) -> None:
    config = json.loads((source / "config.json").read_text())
    if out.suffix == ".gguf":
        write_gguf(config, out)
    else:
        write_folder(config, out)


def matrices(config: dict):
    """Yields the layer, its part, and the two matrices: A from the input, B to the output."""
    random = np.random.default_rng(0)
    rows = config["num_attention_heads"] * config["head_dim"]
    for layer in range(config["num_hidden_layers"]):
        for part in PARTS:
            down = random.standard_normal((RANK, config["hidden_size"])).astype(np.float32)
            up = (SCALE * random.standard_normal((rows, RANK))).astype(np.float32)
            yield layer, part, down, up


def write_folder(config: dict, out: Path) -> None:
    from safetensors.numpy import save_file

    tensors = {}
    for layer, part, down, up in matrices(config):
        name = f"base_model.model.model.layers.{layer}.self_attn.{part}"
        tensors[f"{name}.lora_A.weight"] = down
        tensors[f"{name}.lora_B.weight"] = up
    out.mkdir(parents=True, exist_ok=True)
    save_file(tensors, out / "adapter_model.safetensors", metadata={"format": "pt"})
    settings = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "tiny-qwen3",
        "r": RANK,
        "lora_alpha": ALPHA,
        "lora_dropout": 0.0,
        "bias": "none",
        "target_modules": list(PARTS),
        "inference_mode": True,
    }
    (out / "adapter_config.json").write_text(json.dumps(settings, indent=2) + "\n")


def write_gguf(config: dict, out: Path) -> None:
    import gguf

    writer = gguf.GGUFWriter(str(out), "qwen3")
    writer.add_type("adapter")
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, ALPHA)
    for layer, part, down, up in matrices(config):
        name = f"blk.{layer}.{GGUF_PARTS[part]}.weight"
        writer.add_tensor(f"{name}.lora_a", down)
        writer.add_tensor(f"{name}.lora_b", up)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
