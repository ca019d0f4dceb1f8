"""Writes trainers.json, an AgentLoopOutput that verl dumps, and the evaluation that SkyRL writes, from the examples.

    pip install torch transformers pydantic numpy && pip install --no-deps verl==0.9.1 skyrl==0.4.0
    python lib/formats/golden/make_trainers.py

Run in the root of the repository. Both packages import what needs a GPU, so only the classes and functions that write a record are
taken from their files. trainers.json has the values that the same code reads.
"""
import ast
import importlib.util
import json
import logging
import math
import re
import tempfile
import typing
from pathlib import Path

import torch
from pydantic import BaseModel
from transformers import AutoTokenizer

HERE = Path("lib/formats/golden")
EXAMPLES = ["two-steps", "tool-error"]


def defined(package: str, file: str, names: list[str], around: dict) -> list:
    """Runs only the named definitions of a file of a package, with the names around them."""
    path = Path(importlib.util.find_spec(package).submodule_search_locations[0]) / file
    module = ast.parse(path.read_text(), str(path))
    module.body = [node for node in module.body if getattr(node, "name", None) in names]
    exec(compile(module, str(path), "exec"), around)
    return [around[name] for name in names]


def arrays(name: str) -> dict:
    """The first prompt, and everything after it as response."""
    segments = json.loads(Path(f"public/examples/{name}.json").read_text())["segments"]
    after = [
        (token, int(segment["kind"] == "response"), (segment.get("logprobs") or [None] * len(segment["ids"]))[index] or 0.0)
        for segment in segments[1:]
        for index, token in enumerate(segment["ids"])
    ]
    ids, mask, logprobs = (list(column) for column in zip(*after))
    return {"prompt": segments[0]["ids"], "response": ids, "mask": mask, "logprobs": logprobs}


samples = [arrays(name) for name in EXAMPLES]

_, AgentLoopOutput = defined(
    "verl",
    "experimental/agent_loop/agent_loop.py",
    ["AgentLoopMetrics", "AgentLoopOutput"],
    {"BaseModel": BaseModel, "Any": typing.Any, "Optional": typing.Optional, "torch": torch},
)
outputs = [
    AgentLoopOutput(
        prompt_ids=sample["prompt"],
        response_ids=sample["response"],
        response_mask=sample["mask"],
        response_logprobs=sample["logprobs"],
        reward_score=reward,
        num_turns=4,
        metrics={"generate_sequences": 1.5, "tool_calls": 0.25},
        extra_fields={"turn_scores": [], "tool_rewards": []},
    )
    for sample, reward in zip(samples, [1.0, 0.0])
]
lines = [output.model_dump_json() for output in outputs]
(HERE / "foreign/verl-agent-loop.jsonl").write_text("".join(line + "\n" for line in lines))
read = [AgentLoopOutput.model_validate_json(line) for line in lines]

(dump, _) = defined(
    "skyrl",
    "train/utils/trainer_utils.py",
    ["dump_per_dataset_eval_results", "sanitize_data_source"],
    {
        **{name: getattr(typing, name) for name in ["Any", "Dict", "List"]},
        **{"AutoTokenizer": AutoTokenizer, "GeneratorOutput": dict, "Path": Path},
        **{"json": json, "math": math, "re": re, "logger": logging.getLogger()},
    },
)
tokenizer = AutoTokenizer.from_pretrained("models/tiny-qwen3")
with tempfile.TemporaryDirectory() as folder:
    dump(
        Path(folder),
        tokenizer,
        {
            "prompt_token_ids": [sample["prompt"] for sample in samples],
            "response_ids": [sample["response"] for sample in samples],
            # A reward for each token, and one for the whole response.
            "rewards": [[0.0] * (len(samples[0]["response"]) - 1) + [1.0], 0.5],
            "stop_reasons": ["stop", "length"],
        },
        ["gsm8k", "gsm8k"],
        ["calculator", "calculator"],
        [{"max_turns": 4}, {"max_turns": 4}],
        {"eval/gsm8k/avg_score": 0.75},
    )
    written = (Path(folder) / "gsm8k.jsonl").read_text()
(HERE / "foreign/skyrl-eval.jsonl").write_text(written)

golden = {
    "verl": [
        {
            "ids": tensors["prompts"].tolist() + tensors["responses"].tolist(),
            "mask": [0] * len(tensors["prompts"]) + tensors["response_mask"].tolist(),
            # The tensors of logprobs have 32 bits.
            "logprobs": [score for score, bit in zip(output.response_logprobs, output.response_mask) if bit],
            "reward": tensors["rm_scores"].sum().item(),
        }
        for output, tensors in ((output, output.as_dict()) for output in read)
    ],
    "skyrl": [
        {
            "prompt": tokenizer.decode(sample["prompt"]),
            "response": tokenizer.decode(sample["response"]),
            "reward": reward,
            "stop": stop,
        }
        for sample, reward, stop in zip(samples, [1.0, 0.5], ["stop", "length"])
    ],
}
(HERE / "trainers.json").write_text(json.dumps(golden, ensure_ascii=False) + "\n")
