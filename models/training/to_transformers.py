"""Derive a folder that transformers and SGLang load, from the ONNX file, which holds the only copy of the weights.

    python to_transformers.py ../tiny-qwen3 OUT

Writes model.safetensors (fp32, the names of Qwen3ForCausalLM, tied embeddings) beside copies of the four JSON files.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

JSON_FILES = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the shipped model folder")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    derive(options.folder, options.out)


def derive(folder: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    save_file(weights(folder / "onnx" / "model.onnx"), str(out / "model.safetensors"), metadata={"format": "pt"})
    for name in JSON_FILES:
        shutil.copyfile(folder / name, out / name)


def weights(path: Path) -> dict[str, np.ndarray]:
    """The export keeps the parameters' names; matrices that MatMul reads are stored transposed."""
    result = {}
    for tensor in onnx.load(path).graph.initializer:
        if tensor.name.startswith("model."):
            value = numpy_helper.to_array(tensor)
            transposed = tensor.name.endswith("_proj.weight")
            result[tensor.name] = np.ascontiguousarray(value.T if transposed else value)
    return result


if __name__ == "__main__":
    main()
