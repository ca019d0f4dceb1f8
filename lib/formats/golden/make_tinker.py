"""Writes tinker.json: the calls of a captured run as tinker-cookbook's own reader gives them, by group and trajectory.

    pip install --no-deps tinker-cookbook==0.6.1
    python lib/formats/golden/make_tinker.py

Run in the root of the repository. foreign/tinker-capture.sqlite was written by the capture store of tinker-cookbook 0.6.1, and
foreign/tinker-rows.json contains its rows.
"""
import json
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

from tinker_cookbook.capture.store.db import CaptureDB

HERE = Path("lib/formats/golden")

with tempfile.TemporaryDirectory() as folder:
    # The reader changes the journal mode of its file.
    copy = shutil.copy(HERE / "foreign/tinker-capture.sqlite", folder)
    rows = CaptureDB(copy).query_rows("calc-run")
calls = [
    {
        "group": row["group_idx"],
        "trajectory": row["traj_idx"],
        "prompt": row["prompt_tokens"],
        "sampled": row["sampled_tokens"],
        "logprobs": row["logprobs"],
        "version": row["policy_version"],
    }
    for row in rows
]
(HERE / "tinker.json").write_text(json.dumps({"tinker-cookbook": version("tinker-cookbook"), "calls": calls}) + "\n")
