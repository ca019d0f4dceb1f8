import hashlib
import json
import unittest
from pathlib import Path

HERE = Path(__file__).parent.parent
FOLDER = HERE.parent / "tiny-qwen3"


class ModelFolder(unittest.TestCase):
    def test_it_holds_what_the_app_loads_and_nothing_else(self):
        files = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file())
        self.assertEqual(
            files,
            [
                "README.md",
                "config.json",
                "generation_config.json",
                "onnx/model.onnx",
                "tokenizer.json",
                "tokenizer_config.json",
            ],
        )

    def test_the_weights_are_small_and_the_card_names_their_checksum(self):
        content = (FOLDER / "onnx" / "model.onnx").read_bytes()
        self.assertLessEqual(len(content), 10_000_000)
        self.assertIn(hashlib.sha256(content).hexdigest(), (FOLDER / "README.md").read_text(encoding="utf-8"))

    def test_the_chat_template_in_the_folder_is_the_one_here(self):
        configuration = json.loads((FOLDER / "tokenizer_config.json").read_text(encoding="utf-8"))
        self.assertEqual(
            configuration["chat_template"], (HERE / "chat_template.jinja").read_text(encoding="utf-8").rstrip("\n")
        )

    def test_generation_considers_all_tokens(self):
        generation = json.loads((FOLDER / "generation_config.json").read_text(encoding="utf-8"))
        model = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
        self.assertEqual(generation["top_k"], model["vocab_size"])

    def test_generation_stops_at_the_end_of_a_turn_or_of_the_text(self):
        generation = json.loads((FOLDER / "generation_config.json").read_text(encoding="utf-8"))
        tokens = json.loads((FOLDER / "tokenizer.json").read_text(encoding="utf-8"))["added_tokens"]
        ids = {token["content"]: token["id"] for token in tokens}
        self.assertEqual(generation["eos_token_id"], [ids["<|im_end|>"], ids["<|endoftext|>"]])
        self.assertEqual(
            json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))["eos_token_id"], ids["<|im_end|>"]
        )
