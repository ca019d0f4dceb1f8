"""Reads our exported files with the classes of the programs that they are for, and prints what these find, or fails.

    python read_exports.py FORMAT FILE

FORMAT is atif (harbor), verifiers, parquet (datasets) or torchrl. FILE is JSON lines or Parquet. The output is a JSON list with an
object for each record: the ids, the mask, the logprobs of trained tokens and the messages that the program sees.
"""

import json
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


readers = {"atif": read_atif, "verifiers": read_verifiers, "parquet": read_parquet, "torchrl": read_torchrl}
print(json.dumps(list(readers[sys.argv[1]](sys.argv[2]))))
