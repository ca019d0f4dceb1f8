"""Writes advantages.json: advantages of groups and of their tokens, computed by the functions of verl.

    pip install torch numpy && pip install --no-deps verl==0.9.1
    python make_advantages.py

verl imports what needs a GPU, so only the named functions are taken from its file. The advantage of a token is the gradient of the
loss with respect to its logprob, times the number of samples: the loss is −advantage × logprob, aggregated as verl does.
"""

import ast
import importlib.util
import json
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


def defined(names: list[str]) -> list:
    """Runs only the named definitions of verl's core_algos.py, without decorators and annotations."""
    path = Path(importlib.util.find_spec("verl").submodule_search_locations[0]) / "trainer/ppo/core_algos.py"
    module = ast.parse(path.read_text(), str(path))
    module.body = [node for node in module.body if getattr(node, "name", None) in names]
    for node in module.body:
        node.decorator_list = []
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
    masked_sum = lambda values, mask: torch.where(mask.bool(), values, 0.0).sum()
    around = {"torch": torch, "defaultdict": defaultdict, "verl_F": SimpleNamespace(masked_sum=masked_sum)}
    exec(compile(module, str(path), "exec"), around)
    return [around[name] for name in names]


grpo, rloo, agg_loss = defined(["compute_grpo_outcome_advantage", "compute_rloo_outcome_advantage", "agg_loss"])

ESTIMATORS = {
    "mean-std": lambda *given: grpo(*given, norm_adv_by_std_in_grpo=True),
    "mean": lambda *given: grpo(*given, norm_adv_by_std_in_grpo=False),
    "leave-one-out": rloo,
}
AGGREGATIONS = {"": "seq-mean-token-sum", "-by-length": "seq-mean-token-mean"}


def case(rewards: list[float], trained: list[int]) -> dict:
    mask = torch.zeros(len(rewards), max(trained))
    scores = torch.zeros_like(mask)
    for row, (reward, length) in enumerate(zip(rewards, trained)):
        mask[row, :length] = 1
        scores[row, length - 1] = reward
    index = np.array(["one"] * len(rewards))
    formulas = {}
    for name, estimate in ESTIMATORS.items():
        advantages, _ = estimate(scores.clone(), mask, index)
        for suffix, mode in AGGREGATIONS.items():
            logprobs = torch.zeros_like(mask, requires_grad=True)
            agg_loss(-advantages * logprobs, mask, mode).backward()
            formulas[name + suffix] = {
                "ofSample": advantages[:, 0].tolist(),
                "ofToken": (-logprobs.grad[:, 0] * len(rewards)).tolist(),
            }
    return {"rewards": rewards, "trained": trained, "formulas": formulas}


random = np.random.default_rng(7)
cases = [
    case([1.0, 1.0, 0.05, 0.8, 1.0, 0.5, 0.25, 0.0], [313, 298, 229, 482, 298, 595, 224, 215]),
    case([1.0, 0.0], [3, 40]),
    case([0.1, 0.1, 0.1], [1, 2, 3]),
    *[
        case(random.normal(0, scale, count).tolist(), random.integers(1, 2000, count).tolist())
        for count, scale in [(2, 1.0), (5, 1e-3), (16, 10.0), (64, 1.0)]
    ],
    case(random.integers(0, 2, 32).astype(float).tolist(), random.integers(1, 300, 32).tolist()),
]
Path(__file__).with_name("advantages.json").write_text(json.dumps({"cases": cases}) + "\n")
