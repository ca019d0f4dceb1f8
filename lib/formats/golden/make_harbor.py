"""Writes harbor.json: the ids and logprobs of each step of ATIF files as Harbor's own models read them.

    pip install --no-deps harbor==0.24.0 && pip install pydantic
    python lib/formats/golden/make_harbor.py

Run in the root of the repository. The files were written by harbor 0.6.1 (1.7) and 0.24.0 (1.8).
"""
import json
from importlib.metadata import version
from pathlib import Path

from harbor.models.trajectories.trajectory import Trajectory

HERE = Path("lib/formats/golden")


def step(metrics) -> dict:
    return {
        "prompt": metrics.prompt_token_ids,
        "completion": metrics.completion_token_ids,
        "logprobs": metrics.logprobs,
        "usage": [metrics.prompt_tokens, metrics.completion_tokens],
    }


golden = {"harbor": version("harbor"), "files": {}}
for name in ["1.7", "1.8"]:
    read = Trajectory.model_validate_json((HERE / f"foreign/atif-{name}.json").read_text())
    golden["files"][name] = [step(each.metrics) for each in read.steps if each.metrics]
(HERE / "harbor.json").write_text(json.dumps(golden) + "\n")
