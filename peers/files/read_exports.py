"""Reads our exported files with the classes of the programs that they are for, and prints what these find, or fails.

    python read_exports.py FORMAT FILE

FORMAT is atif (harbor), verifiers, parquet (datasets), torchrl, verl, skyrl, openai-messages (openai), template-messages (datasets
and transformers) or csv (pandas). FILE is JSON lines,
Parquet or CSV. The output is a JSON list with an object for each record: the ids, the mask, the logprobs of trained tokens and the
messages that the program sees.

verl and SkyRL are installed without what they import, which needs a GPU. Only the classes and functions that read a record are taken
from their files.
"""

import ast
import importlib.util
import json
import os
import sys


def lines(file):
    with open(file, encoding="utf-8") as opened:
        return [json.loads(line) for line in opened if line.strip()]


def read_atif(file):
    from harbor.models.trajectories import Trajectory

    for record in lines(file):
        trajectory = Trajectory.model_validate(record)
        called = [step for step in trajectory.steps if step.metrics is not None]
        last = called[-1].metrics
        yield {
            "ids": last.prompt_token_ids + last.completion_token_ids,
            "completions": [step.metrics.completion_token_ids for step in called],
            "logprobs": [step.metrics.logprobs for step in called],
            "steps": [step.source for step in trajectory.steps],
            "calls": [
                [call.function_name, call.arguments] for step in trajectory.steps for call in step.tool_calls or []
            ],
            "results": [
                result.content
                for step in trajectory.steps
                if step.observation
                for result in step.observation.results
            ],
        }


def read_verifiers(file):
    from verifiers.v1.trace import Trace

    for record in lines(file):
        trace = Trace.model_validate(record)
        (branch,) = trace.branches
        yield {
            "ids": branch.token_ids,
            "mask": [int(bit) for bit in branch.sampled_mask],
            "logprobs": branch.logprobs,
            "roles": [message.role for message in branch.messages],
            "reward": trace.reward,
        }


def read_parquet(file):
    import datasets

    for row in datasets.Dataset.from_parquet(file):
        yield {
            "ids": row["input_ids"],
            "labels": row["labels"],
            "mask": row["loss_mask"],
            "logprobs": row["logprobs"],
            "roles": [message["role"] for message in row["messages"]],
            "calls": [
                [call["function"]["name"], json.loads(call["function"]["arguments"])]
                for message in row["messages"]
                for call in message["tool_calls"] or []
            ],
            "reward": row["reward"],
        }


def read_torchrl(file):
    import torch
    from tensordict import TensorDict
    from torchrl.modules.llm.policies import LogProbs, Masks, Text, Tokens

    for record in lines(file):
        columns = {
            name: {key: torch.tensor(values) if isinstance(values, list) else values for key, values in record[name].items()}
            for name in ("tokens", "masks", "log_probs")
        }
        sample = TensorDict(
            tokens=Tokens(**columns["tokens"]),
            masks=Masks(**columns["masks"]),
            log_probs=LogProbs(**columns["log_probs"]),
            text=Text(**record["text"]),
        )
        joined = torch.cat([sample["tokens"].prompt, sample["tokens"].response])
        assert torch.equal(joined, sample["tokens", "full"])
        mask = sample["masks", "all_assistant_mask"]
        yield {
            "ids": sample["tokens", "full"].tolist(),
            "mask": mask.int().tolist(),
            "logprobs": sample["log_probs", "full"][mask].tolist(),
            "text": sample["text"].full,
        }


def defined(package, file, names, around):
    """Runs only the named definitions of a file of a package, with the names around them."""
    folder = importlib.util.find_spec(package).submodule_search_locations[0]
    path = os.path.join(folder, file)
    with open(path, encoding="utf-8") as opened:
        module = ast.parse(opened.read(), path)
    module.body = [node for node in module.body if getattr(node, "name", None) in names]
    assert len(module.body) == len(names), f"{path} has other names"
    exec(compile(module, path, "exec"), around)
    return [around[name] for name in names]


def read_verl(file):
    import typing

    import torch
    from pydantic import BaseModel

    _, AgentLoopOutput = defined(
        "verl",
        "experimental/agent_loop/agent_loop.py",
        ["AgentLoopMetrics", "AgentLoopOutput"],
        {"BaseModel": BaseModel, "Any": typing.Any, "Optional": typing.Optional, "torch": torch},
    )
    for record in lines(file):
        output = AgentLoopOutput(**record).as_dict()
        mask = output["response_mask"]
        yield {
            "prompt": output["prompts"].tolist(),
            "response": output["responses"].tolist(),
            "mask": mask.tolist(),
            "logprobs": output["rollout_log_probs"][mask.bool()].tolist(),
            "reward": output["rm_scores"].sum().item(),
            "turns": output["num_turns"],
        }


def read_skyrl(file):
    import logging

    import numpy

    validate, _ = defined(
        "skyrl",
        "train/utils/trainer_utils.py",
        ["validate_generator_output", "_validate_per_token_side_channels"],
        {
            "np": numpy,
            "logger": logging.getLogger(),
            "GeneratorOutput": dict,
            "SAMPLE_SUPPORT_FIELD": "rollout_sample_support",
        },
    )
    for record in lines(file):
        validate(1, record)
        mask = record["loss_masks"][0]
        yield {
            "prompt": record["prompt_token_ids"][0],
            "response": record["response_ids"][0],
            "mask": mask,
            "logprobs": [score for score, bit in zip(record["rollout_logprobs"][0], mask) if bit],
            "reward": record["rewards"][0],
        }


def read_openai_messages(file):
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
    from pydantic import TypeAdapter

    messages = TypeAdapter(list[ChatCompletionMessageParam])
    tools = TypeAdapter(list[ChatCompletionFunctionToolParam])
    for record in lines(file):
        read = messages.validate_python(record["messages"])
        yield {
            "roles": [message["role"] for message in read],
            "calls": [
                [call["function"]["name"], json.loads(call["function"]["arguments"])]
                for message in read
                for call in message.get("tool_calls", [])
            ],
            "tools": [tool["function"]["name"] for tool in tools.validate_python(record["tools"])],
        }


def read_template_messages(file):
    import datasets
    from transformers.utils.chat_template_utils import render_jinja_template

    template = (
        "{% for message in messages %}{% for call in message.tool_calls or [] %}"
        "{{ call.function.name }} {{ call.function.arguments | tojson }}\n{% endfor %}{% endfor %}"
    )
    for row in datasets.Dataset.from_json(file):
        rendered, _ = render_jinja_template([row["messages"]], tools=row["tools"], chat_template=template)
        calls = [line.split(" ", 1) for line in rendered[0].splitlines()]
        yield {
            "roles": [message["role"] for message in row["messages"]],
            "calls": [[name, json.loads(text)] for name, text in calls],
        }


def read_csv(file):
    import pandas

    for row in pandas.read_csv(file).to_dict("records"):
        yield {key: row[key] for key in ["id", "reward", "tokens", "trained_tokens", "title", "tool_calls"]}


readers = {
    "atif": read_atif,
    "verifiers": read_verifiers,
    "parquet": read_parquet,
    "torchrl": read_torchrl,
    "verl": read_verl,
    "skyrl": read_skyrl,
    "openai-messages": read_openai_messages,
    "template-messages": read_template_messages,
    "csv": read_csv,
}
print(json.dumps(list(readers[sys.argv[1]](sys.argv[2]))))
