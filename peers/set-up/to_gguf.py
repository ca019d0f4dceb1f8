"""Write the shipped model as a GGUF file (fp32), which llama.cpp loads.

    python to_gguf.py ../../models/tiny-qwen3 OUT.gguf

The names of tensors and fields are those of gguf-py. The pre-tokenizer is called qwen2: llama.cpp has none with the
model's own pattern, so its encoding of text differs. A token-in/token-out client sends ids and does not notice.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import gguf

sys.path.insert(0, str(Path(__file__).parents[2] / "models" / "training"))
from to_transformers import weights  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the shipped model folder")
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    config = json.loads((options.folder / "config.json").read_text())
    writer = gguf.GGUFWriter(str(options.out), "qwen3")
    add_config(writer, config)
    add_tokenizer(writer, options.folder, config)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, config["num_hidden_layers"])
    for name, value in weights(options.folder / "onnx" / "model.onnx").items():
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def add_config(writer: gguf.GGUFWriter, config: dict) -> None:
    writer.add_name("tiny-qwen3")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])


def add_tokenizer(writer: gguf.GGUFWriter, folder: Path, config: dict) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    tokens = [""] * config["vocab_size"]
    types = [gguf.TokenType.NORMAL] * config["vocab_size"]
    for content, id in tokenizer["model"]["vocab"].items():
        tokens[id] = content
    for added in tokenizer["added_tokens"]:
        tokens[added["id"]] = added["content"]
        types[added["id"]] = gguf.TokenType.CONTROL if added["special"] else gguf.TokenType.USER_DEFINED
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_eos_token_id(config["eos_token_id"])
    writer.add_pad_token_id(config["pad_token_id"])
    writer.add_add_bos_token(False)
    template = settings.get("chat_template")
    if template is not None:
        writer.add_chat_template(template)


if __name__ == "__main__":
    main()
