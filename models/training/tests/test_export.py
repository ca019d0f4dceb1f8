import dataclasses
import unittest

try:
    import numpy as np
    import onnxruntime
    import torch
except ImportError:
    raise unittest.SkipTest("torch or onnxruntime is not installed") from None

import export
from model import Qwen3, Shape

SMALL = Shape(
    vocab_size=64,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    head_dim=8,
)


class Export(unittest.TestCase):
    """The hand-written graph against torch, on a model with random weights."""

    @classmethod
    def setUpClass(cls):
        torch.manual_seed(5)
        cls.model = Qwen3(SMALL).eval()
        for parameter in cls.model.parameters():
            if parameter.dim() == 1:
                torch.nn.init.uniform_(parameter, 0.5, 1.5)
        proto = export.build(export.weights_of(cls.model), SMALL)
        cls.session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
        cls.ids = torch.randint(0, 64, (2, 23))
        with torch.no_grad():
            cls.expected = cls.model(cls.ids).view(2, 23, -1).numpy()

    def run_graph(self, ids, mask, positions, past=None, keep=0):
        empty = np.zeros((ids.shape[0], SMALL.num_key_value_heads, 0, SMALL.head_dim), np.float32)
        past = past or [empty] * (2 * SMALL.num_hidden_layers)
        names = [
            f"past_key_values.{layer}.{part}" for layer in range(SMALL.num_hidden_layers) for part in ("key", "value")
        ]
        feeds = {
            "input_ids": ids,
            "attention_mask": mask,
            "position_ids": positions,
            "num_logits_to_keep": np.array(keep, np.int64),
            **dict(zip(names, past)),
        }
        logits, *present = self.session.run(None, feeds)
        return logits, present

    def test_all_positions_at_once(self):
        logits, _ = self.run_graph(self.ids.numpy(), ones(2, 23), positions(2, 0, 23))
        np.testing.assert_allclose(logits, self.expected, atol=2e-5)

    def test_in_two_pieces_with_the_cache(self):
        ids = self.ids.numpy()
        first, cache = self.run_graph(ids[:, :9], ones(2, 9), positions(2, 0, 9))
        second, _ = self.run_graph(ids[:, 9:], ones(2, 23), positions(2, 9, 23), cache)
        np.testing.assert_allclose(np.concatenate((first, second), 1), self.expected, atol=2e-5)

    def test_padded_on_the_left_and_only_the_last_logits(self):
        ids = np.concatenate((np.zeros((2, 4), np.int64), self.ids.numpy()), 1)
        mask = np.concatenate((np.zeros((2, 4), np.int64), ones(2, 23)), 1)
        logits, _ = self.run_graph(ids, mask, np.maximum(mask.cumsum(1) - 1, 0), keep=3)
        self.assertEqual(logits.shape, (2, 3, 64))
        np.testing.assert_allclose(logits, self.expected[:, -3:], atol=2e-5)

    def test_transformers_computes_the_same(self):
        try:
            from transformers import Qwen3Config, Qwen3ForCausalLM
        except ImportError:
            self.skipTest("transformers is not installed")
        known = {key: value for key, value in dataclasses.asdict(SMALL).items() if key != "rope_theta"}
        configuration = Qwen3Config(
            **known, tie_word_embeddings=True, rope_parameters={"rope_type": "default", "rope_theta": SMALL.rope_theta}
        )
        theirs = Qwen3ForCausalLM(configuration).eval()
        theirs.load_state_dict({**self.model.state_dict(), "lm_head.weight": self.model.model.embed_tokens.weight})
        with torch.no_grad():
            np.testing.assert_allclose(theirs(input_ids=self.ids).logits.numpy(), self.expected, atol=2e-5)


def ones(rows: int, length: int) -> "np.ndarray":
    return np.ones((rows, length), np.int64)


def positions(rows: int, start: int, end: int) -> "np.ndarray":
    return np.tile(np.arange(start, end, dtype=np.int64), (rows, 1))
