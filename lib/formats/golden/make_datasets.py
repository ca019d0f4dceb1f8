"""Writes datasets.json and the rows of a token data set as JSON lines.

    pip install pyarrow
    python lib/formats/golden/make_datasets.py messages-tokens-logprobs.parquet

Run in the root of the repository. The file was written by datasets 5.2.0.
"""
import json
import sys
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path("lib/formats/golden")
rows = pq.read_table(sys.argv[1]).to_pylist()
(HERE / "foreign/token-dataset.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
KEYS = ["prompt_token_ids", "completion_token_ids", "logprobs", "reward", "prompt_id"]
(HERE / "datasets.json").write_text(json.dumps([{key: row[key] for key in KEYS} for row in rows]) + "\n")
