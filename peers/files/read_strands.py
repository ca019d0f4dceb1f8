"""Reads our strands-sglang files with strands-sglang's own class, and prints the results or fails.

    python read_strands.py FILE...

A file is one record or JSON lines. The output is a JSON list of lengths and sums of each record, and the record written
again.
"""

import json
import sys

from strands_sglang import Rollout


def read(text):
    rollout = Rollout.model_validate_json(text)
    n = len(rollout.token_ids)
    assert len(rollout.loss_mask) == len(rollout.logprobs) == n, "columns of other lengths"
    assert sum(length for _, length in rollout.segment_info) == n, "segments of another length"
    return {
        "tokens": n,
        "trained": sum(rollout.loss_mask),
        "idSum": sum(rollout.token_ids),
        "logprobSum": sum(value for value in rollout.logprobs if value is not None),
        "segments": len(rollout.segment_info),
        "initialPromptLength": rollout.initial_prompt_length,
        "again": json.loads(rollout.model_dump_json()),
    }


def records(text):
    try:
        json.loads(text)
        return [text]
    except json.JSONDecodeError:
        return [line for line in text.split("\n") if line.strip()]


found = [read(record) for file in sys.argv[1:] for record in records(open(file, encoding="utf-8").read())]
print(json.dumps(found))
