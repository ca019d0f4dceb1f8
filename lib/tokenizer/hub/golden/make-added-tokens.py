"""Writes added-tokens.json: the ids of texts by tokenizers whose added tokens have all combinations of their flags.

    pip install tokenizers==0.23.2
    python lib/tokenizer/hub/golden/make-added-tokens.py

Run in the root of the repository. tokenizer-files.test.ts compares lib/tokenizer/files with the file, which contains the definitions.
"""
import itertools
import json
import random
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

FLAGS = ["single_word", "lstrip", "rstrip", "normalized", "special"]
PIECES = ["ab", "é", "e\u0301", "<t>", "x", "_", "-", " ", "\t", "\n", "\u00a0", "\u3000", "\ufeff", "\u0085", "1", "²", "日", "\U00010400", "\u200d", "\u0301", "<", ">"]
chosen = random.Random(7)


def tokenizer(flags, normalizer):
    vocabulary = {piece: number for number, piece in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    if normalizer:
        made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.decoder = decoders.ByteLevel()
    made.add_tokens([AddedToken("ab", **flags), AddedToken("abab", normalized=False), AddedToken("é", **flags), AddedToken("<t>", special=True, normalized=False)])
    return made


cases = []
for values, normalizer in itertools.product(itertools.product([False, True], repeat=len(FLAGS)), [False, True]):
    made = tokenizer(dict(zip(FLAGS, values)), normalizer)
    texts = ["".join(chosen.choices(PIECES, k=chosen.randint(1, 8))) for _ in range(24)]
    texts += ["ab", "ab ab", "xab", " ab ", "abab", "\tab\n", "_ab", "ab²"]
    split = []
    for is_split in (False, True):
        made.encode_special_tokens = is_split
        split.append([made.encode(text, add_special_tokens=False).ids for text in texts])
    definition = json.loads(made.to_str())
    changes = {key: definition.pop(key) for key in ("added_tokens", "normalizer")}
    cases.append({**changes, "texts": texts, "ids": split[0], "split": split[1]})

Path("lib/tokenizer/hub/golden/added-tokens.json").write_text(
    json.dumps({"made with": f"tokenizers {tokenizers.__version__}", "definition": definition, "cases": cases}, separators=(",", ":"))
)
