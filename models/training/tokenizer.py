"""The byte-level BPE tokenizer: trained here, written as tokenizer.json and tokenizer_config.json, and read again.

Copying is most of what the model does, so the same characters must be the same tokens wherever they stand: no word has
its space inside its token, digits and capital letters that follow each other stay single, and the punctuation of JSON
keeps to itself.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import dialogues
from source import Source

HERE = Path(__file__).parent

# Ids 0 to 8. As in Qwen3 only the first three are special: the others survive skip_special_tokens.
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ADDED = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

VOCABULARY = 1024
SAMPLES = 12_000
SEED = "tokenizer 1"

# lower-case word | capital and what follows | other scripts | one digit | JSON punctuation | any other sign | spaces
PATTERN = r"""\p{Ll}+|\p{Lu}\p{Ll}*|\p{L}|\p{N}|["{}\[\],:]+(?: ["{\[]+)*|[^\s\p{L}\p{N}]|[\r\n]+|[^\S\r\n]+"""

MAX_LENGTH = 4096


def train() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=SPECIAL + ADDED,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=3,
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def corpus() -> Iterator[str]:
    """Dialogues, without the tools part that is the same in each: its words need no more weight than once."""
    source = Source(SEED)
    for _ in range(SAMPLES):
        for segment in dialogues.example(source).segments:
            yield segment.text


def save(tokenizer: Tokenizer, folder: Path) -> None:
    content = json.loads(tokenizer.to_str())
    for token in content["added_tokens"]:
        token["special"] = token["content"] in SPECIAL
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "tokenizer.json", content, indent=None)
    write_json(folder / "tokenizer_config.json", configuration(content))


def configuration(content: dict[str, Any]) -> dict[str, Any]:
    """tokenizer_config.json for a tokenizer.json, with the chat template in it."""
    decoder = {
        str(token["id"]): {
            key: token[key] for key in ("content", "lstrip", "normalized", "rstrip", "single_word", "special")
        }
        for token in content["added_tokens"]
    }
    return {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": decoder,
        "additional_special_tokens": SPECIAL[1:],
        "bos_token": None,
        "chat_template": (HERE / "chat_template.jinja").read_text(encoding="utf-8").rstrip("\n"),
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": MAX_LENGTH,
        "pad_token": "<|endoftext|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": None,
    }


def write_json(path: Path, value: object, indent: int | None = 2) -> None:
    separators = (",", ":") if indent is None else None
    path.write_text(
        json.dumps(value, ensure_ascii=False, indent=indent, separators=separators) + "\n", encoding="utf-8"
    )


class Codec:
    """Text to ids and back; and, for training, the same text in ids that the tokenizer itself would not choose."""

    def __init__(self, folder: Path) -> None:
        path = folder / "tokenizer.json"
        self.tokenizer = Tokenizer.from_file(str(path))
        model = json.loads(path.read_text(encoding="utf-8"))["model"]
        vocabulary = model["vocab"]
        self.parts: dict[int, tuple[int, int]] = {}
        for merge in model["merges"]:
            left, right = merge if isinstance(merge, list) else merge.split(" ")
            self.parts.setdefault(vocabulary[left + right], (vocabulary[left], vocabulary[right]))

    def size(self) -> int:
        return self.tokenizer.get_vocab_size()

    def id(self, token: str) -> int:
        return self.tokenizer.token_to_id(token)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids: list[int]) -> str:
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def encode_with_dropout(self, text: str, share: float, chance: random.Random) -> list[int]:
        """BPE dropout: each token's last merge is undone with this chance, and again in its parts. Seeded, unlike the
        dropout inside the tokenizers library."""
        return [piece for token in self.encode(text) for piece in self.split(token, share, chance)]

    def split(self, token: int, share: float, chance: random.Random) -> list[int]:
        if token not in self.parts or chance.random() >= share:
            return [token]
        left, right = self.parts[token]
        return self.split(left, share, chance) + self.split(right, share, chance)


if __name__ == "__main__":
    import sys

    save(train(), Path(sys.argv[1]))
