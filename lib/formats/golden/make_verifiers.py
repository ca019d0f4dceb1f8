"""Writes verifiers.json: the training samples of a file of traces as verifiers' own classes give them.

    pip install verifiers==0.4.0
    python lib/formats/golden/make_verifiers.py

Run in the root of the repository. foreign/verifiers-traces.jsonl was written by verifiers 0.4.0 with its train client against vLLM.
"""
import json
from importlib.metadata import version
from pathlib import Path

from verifiers.v1.trace import Branch, Trace

HERE = Path("lib/formats/golden")


def sample(branch: Branch, trace: Trace) -> dict:
    return {
        "ids": branch.token_ids,
        "mask": [int(bit) for bit in branch.sampled_mask],
        # 0.0 at tokens that were not sampled.
        "logprobs": branch.logprobs,
        "reward": trace.reward,
        "group": trace.task.key,
        "finish": [call.finish_reason for call in branch.calls],
    }


def shared(branches: list[Branch]) -> int:
    """Number of ids with which the two paths of a trace begin."""
    first, second = (branch.token_ids for branch in branches)
    return next(index for index, (one, other) in enumerate(zip(first, second)) if one != other)


def plain(value: dict) -> dict:
    """Removes fields that verifiers computes when it writes a trace."""
    return {key: each for key, each in value.items() if key not in ("num_input_tokens", "num_output_tokens", "num_total_tokens")}


def main() -> None:
    lines = (HERE / "foreign/verifiers-traces.jsonl").read_text().splitlines()
    traces = [Trace.model_validate(plain(trace)) for line in lines for trace in json.loads(line)["traces"]]
    golden = {
        "verifiers": version("verifiers"),
        "shared": [shared(trace.branches) for trace in traces],
        "samples": [[sample(branch, trace) for branch in trace.branches] for trace in traces],
    }
    (HERE / "verifiers.json").write_text(json.dumps(golden) + "\n")


main()
