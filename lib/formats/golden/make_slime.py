"""Writes a rollout dump of slime in foreign/, with slime's own classes, and converts it as users do.

    git clone https://github.com/THUDM/slime && git -C slime checkout 624b824
    pip install torch numpy httpx pybase64
    PYTHONPATH=slime python lib/formats/golden/make_slime.py

Run in the root of the repository. lib/formats/trainers/slime.test.ts opens the file. The modules that slime needs for training are empty.
"""
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

for module in ("ray", "ray.actor", "sglang", "sglang_router"):
    sys.modules[module] = MagicMock()
import torch
from slime.observability.rollout_data_utils import save_debug_rollout_data
from slime.utils.types import Sample


def sample(index, rollout_id=None):
    made = Sample(0, index, rollout_id, prompt=[{"role": "user", "content": "What is 25 * 17?"}], tokens=[1, 2, 3], label="425")
    calls = {"type": "stop"}, {"type": "length"}
    first, last = ({"finish_reason": reason, "weight_version": version} for reason, version in zip(calls, "78"))
    made.append_response_tokens(tokens=[10, 11], log_probs=[-0.5, -0.25], meta_info=first, text="call")
    made.append_response_tokens(tokens=[20], trainable=False, text="result")
    made.append_response_tokens(tokens=[12], log_probs=[-0.75], meta_info=last, text="answer")
    made.reward = float(index)
    made.rollout_routed_experts = torch.arange(24, dtype=torch.int32).reshape(6, 2, 2)
    return made


with tempfile.TemporaryDirectory() as folder:
    # Two samples of the second rollout, as a compaction makes them.
    save_debug_rollout_data(f"{folder}/{{rollout_id}}.pt", [sample(0), sample(1, 1), sample(2, 1)], rollout_id=3, evaluation=False)
    subprocess.run([sys.executable, "public/convert_pt.py", f"{folder}/3.pt"], check=True)
    Path("lib/formats/golden/foreign/slime-rollout-data.jsonl").write_text(Path(folder, "3.jsonl").read_text())
