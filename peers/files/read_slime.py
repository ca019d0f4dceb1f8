"""Reads our slime files with a class that has slime's documented fields, and prints the results or fails.

    python read_slime.py FILE...

A file is one record or JSON lines. The output is a JSON list of lengths and sums of each record.

slime is not in the package index: the package of that name there is a different one. `Sample` below has the fields, the
defaults, `from_dict` and the checks of slime/utils/types.py as described there, but none of its code. Samples are
prepared as slime prepares them before training. Only Python's standard library is needed.
"""

import json
import math
import sys
from dataclasses import dataclass, field, fields
from enum import Enum


class Status(Enum):
    PENDING = "pending"
    COMPLETED = "completed"
    TRUNCATED = "truncated"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass
class Sample:
    group_index: int | None = None
    index: int | None = None
    rollout_id: int | None = None
    prompt: str | list = ""
    tokens: list = field(default_factory=list)
    multimodal_inputs: dict | None = None
    multimodal_train_inputs: dict | None = None
    multimodal_train_input_id: str | None = None
    apply_chat_template_kwargs: dict = field(default_factory=dict)
    response: str = ""
    response_length: int = 0
    label: str | None = None
    reward: float | dict | None = None
    loss_mask: list | None = None
    weight_versions: list = field(default_factory=list)
    rollout_log_probs: list | None = None
    rollout_top_p_token_ids: list | None = None
    rollout_top_p_token_offsets: list | None = None
    rollout_routed_experts: list | None = None
    remove_sample: bool = False
    teacher_log_probs: list | None = None
    status: Status = Status.PENDING
    metadata: dict = field(default_factory=dict)
    generate_function_path: str | None = None
    custom_rm_path: str | None = None
    train_metadata: dict | None = None
    session_id: str | None = None
    non_generation_time: float = 0.0
    spec_info: dict = field(default_factory=dict)
    prefix_cache_info: dict = field(default_factory=dict)

    @staticmethod
    def from_dict(record):
        """Creates a sample. Names that are not fields become attributes, such as `tool_iters` and `tool_calls`."""
        known = {one.name for one in fields(Sample)}
        sample = Sample(**{name: value for name, value in record.items() if name in known})
        sample.status = Status(record["status"])
        for name in record.keys() - known:
            setattr(sample, name, record[name])
        return sample

    def check(self):
        assert all(isinstance(token, int) and token >= 0 for token in self.tokens), "tokens that are no ids"
        assert 0 <= self.response_length <= len(self.tokens), "response_length beyond the tokens"
        assert isinstance(self.prompt, (str, list)) and isinstance(self.response, str)
        assert all(one is None or type(one) is int for one in (self.group_index, self.index)), "numbers that are none"
        assert self.reward is None or isinstance(self.reward, (int, float, dict))
        assert isinstance(self.metadata, dict) and self.status in (Status.COMPLETED, Status.TRUNCATED)
        for name in ("loss_mask", "rollout_log_probs"):
            column = getattr(self, name)
            assert column is None or len(column) == self.response_length, f"{name} of another length"
        assert self.loss_mask is None or set(self.loss_mask) <= {0, 1}, "loss_mask that is no mask"
        # These become tensors, so a single null would end the training step.
        assert all(isinstance(one, (int, float)) and math.isfinite(one) for one in self.rollout_log_probs or [])


def read(text):
    sample = Sample.from_dict(json.loads(text))
    sample.check()
    return {
        "tokens": len(sample.tokens),
        "idSum": sum(sample.tokens),
        "responseLength": sample.response_length,
        "responseCharacters": len(sample.response),
        "trained": sample.response_length if sample.loss_mask is None else sum(sample.loss_mask),
        "logprobSum": None if sample.rollout_log_probs is None else sum(sample.rollout_log_probs),
        "status": sample.status.name,
        "group": sample.group_index,
        "index": sample.index,
        "reward": sample.reward,
    }


def records(text):
    try:
        json.loads(text)
        return [text]
    except json.JSONDecodeError:
        return [line for line in text.split("\n") if line.strip()]


def read_file(file):
    samples = [read(record) for record in records(open(file, encoding="utf-8").read())]
    # slime's train dump joins its rows to the samples by `index`.
    indices = [one["index"] for one in samples if one["index"] is not None]
    assert len(set(indices)) == len(indices), "two samples of one index"
    return samples


print(json.dumps([one for file in sys.argv[1:] for one in read_file(file)]))
