"""Writes token exports of prime-rl in foreign/, with its own exporter: two sequences of a batch with padding, and one with loss weights.

    git clone https://github.com/PrimeIntellect-ai/prime-rl && git -C prime-rl checkout 559b447
    pip install torch beartype jaxtyping
    PYTHONPATH=prime-rl/src python lib/formats/golden/make_prime_rl.py

Run in the root of the repository. lib/formats/trainers/trainers.test.ts opens the file. The settings, which need more packages, are empty.
"""
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import torch


class Loss(SimpleNamespace):
    pass


configs = sys.modules["prime_rl.configs"] = MagicMock()
sys.modules["prime_rl.configs.trainer"] = configs.trainer
configs.trainer.DefaultLossConfig = Loss
sys.modules["prime_rl.utils"] = sys.modules["prime_rl.utils.utils"] = MagicMock()
from prime_rl.trainer.rl.token_export import TokenExporter


def batch(ids, mask, **more):
    numbers = torch.arange(len(ids), dtype=torch.float32)
    sampled = torch.tensor(mask, dtype=torch.bool)
    return (
        {
            "input_ids": torch.tensor([ids]),
            "position_ids": torch.arange(len(ids))[None],
            "loss_mask": sampled[None],
            "advantages": torch.where(sampled, 0.5, 0.0)[None],
            "inference_logprobs": torch.where(sampled, -numbers / 8, 0.0)[None],
            "env_names": ["sum" if id else "" for id in ids],
            **{name: torch.tensor([values]) for name, values in more.items()},
        },
        {"logprobs": (-numbers / 8 - 0.25)[None], "entropy": (numbers / 4)[None]},
    )


with tempfile.TemporaryDirectory() as folder:
    exporter = TokenExporter(Path(folder), 0)
    limits = Loss(dppo_mask_high=0.2, dppo_mask_low=0.1)
    exporter.export(3, 0, *batch([1, 2, 10, 11, 1, 3, 12, 0], [0, 0, 1, 1, 0, 0, 1, 0]), [4, 4], limits)
    weights = {"rl_weights": [0.0, 1.0, 1.0], "ce_weights": [0.5, 0.0, 0.0]}
    exporter.export(3, 1, *batch([4, 13, 14], [0, 1, 1], **weights), [3], limits)
    Path("lib/formats/golden/foreign/prime-rl.jsonl").write_text(Path(folder, "token_exports/step_3/rank_0.jsonl").read_text())
