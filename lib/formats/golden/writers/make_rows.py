"""Writes rows of data sets in foreign/, and rows.json: what TRL and pyarrow read in them.

    pip install datasets==5.2.0 trl==1.16.0
    python lib/formats/golden/writers/make_rows.py

Run in the root of the repository. lib/formats/conversations/dataset-rows.test.ts compares lib/formats with the file. The rows have the
columns that the documentation of TRL and the data preparation of verl (examples/data_preprocess/gsm8k.py) give them.
"""
import json
from pathlib import Path

import pyarrow.parquet as parquet
from datasets import Dataset
from trl import extract_prompt

FOREIGN = Path("lib/formats/golden/foreign")
QUESTION = [{"role": "user", "content": "What color is the sky?"}]
TOOL = {"type": "function", "function": {"name": "add", "description": "Add.", "parameters": {"type": "object", "properties": {}}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}]}


def answer(text):
    return [{"role": "assistant", "content": text}]


completions = [
    {"prompt": QUESTION, "completion": answer("It is blue."), "reward": 1.0, "tools": json.dumps([TOOL])},
    {"prompt": QUESTION, "completion": answer("It is green."), "reward": 0.0, "tools": json.dumps([TOOL])},
]
preferences = [
    {"chosen": QUESTION + answer("It is blue."), "rejected": QUESTION + answer("It is green.")},
    {"chosen": QUESTION + answer("Blue."), "rejected": QUESTION + answer("Green.")},
]
calls = [{"prompt": QUESTION, "completion": [CALL, {"role": "tool", "name": "add", "content": "2"}, *answer("2")]}]
verl = [
    {
        "data_source": "openai/gsm8k",
        "prompt": [{"role": "user", "content": f"What is {index} + 1?"}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(index + 1)},
        "extra_info": {"split": "train", "index": index, "answer": f"#### {index + 1}", "question": f"What is {index} + 1?"},
    }
    for index in range(2)
]
Dataset.from_list(completions).to_json(FOREIGN / "trl-prompt-completion.jsonl")
Dataset.from_list(preferences).to_json(FOREIGN / "trl-preference.jsonl")
(FOREIGN / "trl-tool-calls.jsonl").write_text("".join(json.dumps(row) + "\n" for row in calls))
Dataset.from_list(verl).to_parquet(FOREIGN / "verl-rows.parquet")

explicit = [extract_prompt(row) for row in preferences]
made = {
    # TRL itself finds the prompt that both answers begin with.
    "preference": [[row["prompt"] + row["chosen"], row["prompt"] + row["rejected"]] for row in explicit],
    "completion": [row["prompt"] + row["completion"] for row in completions],
    "verl": parquet.read_table(FOREIGN / "verl-rows.parquet").to_pylist(),
}
Path("lib/formats/golden/rows.json").write_text(json.dumps(made) + "\n")
