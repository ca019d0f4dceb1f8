"""Derive a mixture of experts from the shipped model in Hugging Face form: `mixture.py MODEL_FOLDER OUT_FOLDER`.

Every expert is the dense layer with some noise, so the mixture still answers and calls tools. Its routers are random.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

EXPERTS = 8
EXPERTS_PER_TOKEN = 2
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "generation_config.json")


def main(source: Path, out: Path) -> None:
    random = np.random.default_rng(0)
    config = json.loads((source / "config.json").read_text())
    weights = load_file(source / "model.safetensors")
    out.mkdir(parents=True, exist_ok=True)
    for name in TOKENIZER_FILES:
        shutil.copyfile(source / name, out / name)
    mixed = {name: value for name, value in weights.items() if ".mlp." not in name}
    # SGLang ties no embeddings of this architecture.
    mixed["lm_head.weight"] = weights["model.embed_tokens.weight"].copy()
    for layer in range(config["num_hidden_layers"]):
        mlp = f"model.layers.{layer}.mlp"
        mixed[f"{mlp}.gate.weight"] = normal(random, (EXPERTS, config["hidden_size"]), 1.0)
        for expert in range(EXPERTS):
            for part in ("gate_proj", "up_proj", "down_proj"):
                value = weights[f"{mlp}.{part}.weight"]
                noise = normal(random, value.shape, 0.02 * float(value.std()))
                mixed[f"{mlp}.experts.{expert}.{part}.weight"] = value + noise
    save_file(mixed, out / "model.safetensors", metadata={"format": "pt"})
    mixture = {
        **config,
        "architectures": ["Qwen3MoeForCausalLM"],
        "model_type": "qwen3_moe",
        "tie_word_embeddings": False,
        "moe_intermediate_size": config["intermediate_size"],
        "num_experts": EXPERTS,
        "num_experts_per_tok": EXPERTS_PER_TOKEN,
        "norm_topk_prob": True,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [],
        "output_router_logits": False,
        "router_aux_loss_coef": 0.001,
    }
    (out / "config.json").write_text(json.dumps(mixture, indent=2) + "\n")


def normal(random: np.random.Generator, shape: tuple[int, ...], scale: float) -> np.ndarray:
    return (scale * random.standard_normal(shape)).astype(np.float32)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
