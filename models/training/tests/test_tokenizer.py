import json
import random
import unittest
from pathlib import Path

try:
    from batches import encode
    from tokenizer import ADDED, SPECIAL, Codec
except ImportError:
    raise unittest.SkipTest("tokenizers or torch is not installed") from None

import dialogues
from source import Source

FOLDER = Path(__file__).parent.parent.parent / "tiny-qwen3"


class Tokenizer(unittest.TestCase):
    codec = Codec(FOLDER)

    def test_every_text_comes_back(self):
        source = Source("test tokenizer")
        texts = [segment.text for _ in range(200) for segment in dialogues.example(source).segments]
        for text in [
            *texts,
            "日本語 🙂👍🏽",
            "naïve café — “quotes”",
            "tabs\tand\r\nlines",
            "\u00a0",
            "<|im_",
            "<think>x</think>",
            "\x00\x7f",
        ]:
            self.assertEqual(self.codec.decode(self.codec.encode(text)), text)

    def test_the_first_ids_are_the_special_and_added_tokens(self):
        self.assertEqual([self.codec.id(token) for token in SPECIAL + ADDED], list(range(9)))
        content = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))
        self.assertEqual([token["special"] for token in content["added_tokens"]], [True] * 3 + [False] * 6)

    def test_no_word_has_its_space_inside_its_token(self):
        for token in self.codec.tokenizer.get_vocab():
            if any(character.isalnum() and character.isascii() for character in token):
                self.assertFalse("Ġ" in token, token)

    def test_a_name_is_the_same_ids_wherever_it_stands(self):
        for name in ("Paris", "value-103", "get_weather", "getWeather", "AAPL", "42", "b@example.org"):
            ids = self.codec.encode(name)
            for text in (f'say "{name}"', f"in {name}.", f"({name})", f"'{name}'", f"{name}\n"):
                encoded = self.codec.encode(text)
                self.assertTrue(
                    any(encoded[start : start + len(ids)] == ids for start in range(len(encoded))), (name, text)
                )

    def test_dropout_changes_the_ids_and_never_the_text(self):
        text = '<tool_call>\n{"name": "calculator", "arguments": {"expression": "25 * 17"}}\n</tool_call><|im_end|>'
        plain = self.codec.encode(text)
        variants = [self.codec.encode_with_dropout(text, 0.3, random.Random(seed)) for seed in range(20)]
        self.assertTrue(all(self.codec.decode(ids) == text for ids in variants))
        self.assertTrue(any(ids != plain for ids in variants))
        self.assertEqual(variants[3], self.codec.encode_with_dropout(text, 0.3, random.Random(3)))
        self.assertEqual(self.codec.encode_with_dropout(text, 0.0, random.Random(1)), plain)

    def test_the_mask_covers_exactly_the_tokens_of_the_trained_segments(self):
        source = Source("test mask")
        for _ in range(50):
            segments = dialogues.example(source).segments
            ids, trained = encode(self.codec, segments, 0.0, random.Random(0))
            self.assertEqual(
                self.codec.decode([token for token, mine in zip(ids, trained) if mine]),
                "".join(segment.text for segment in segments if segment.trained),
            )
