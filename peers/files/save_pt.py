"""Writes the .pt files of convert.test.ts with torch.save.

    python save_pt.py FOLDER

rollout.pt has samples as slime dumps them, train.pt columns of tensors as miles dumps them, old.pt the same in the format before zip,
unsafe.pt an object of a class of its own, sparse.pt a sparse tensor and a lone surrogate, complex.pt and meta.pt tensors without numbers for
JSON, and cycle.pt a dict that contains itself,
numpy.pt numbers and an array of numpy, and protocol-4.pt a pickle that torch does not load. The output is a JSON object with the numbers in train.pt.
"""

import json
import sys
from pathlib import Path

import numpy
import torch


class Sample:
    def __init__(self, tokens):
        self.tokens = tokens


folder = Path(sys.argv[1])
sample = {
    "index": 0,
    "group_index": 3,
    "prompt": "1 + 1?",
    "tokens": [5, 6, 7, 8],
    "response": "2",
    "response_length": 2,
    "reward": 0.5,
    "loss_mask": [1, 1],
    "rollout_log_probs": [-0.25, -1.5],
    "status": "completed",
    "metadata": {},
}
torch.save({"rollout_id": 7, "samples": [sample, {**sample, "index": 1}]}, folder / "rollout.pt")
log_probs = [torch.tensor([-0.1, -2.3], dtype=torch.float32), torch.tensor([-0.7], dtype=torch.bfloat16)]
columns = {
    "tokens": [torch.tensor([5, 6, 7, 8]), torch.tensor([5, 9])],
    "response_lengths": [2, 1],
    "loss_masks": [torch.tensor([1, 0], dtype=torch.int32), torch.tensor([1], dtype=torch.int32)],
    "rollout_log_probs": [torch.tensor([-0.25, -1.5]), torch.tensor([-0.5])],
    "log_probs": log_probs,
}
train = {"rollout_id": 7, "rank": 0, "rollout_data": columns}
torch.save(train, folder / "train.pt")
torch.save(train, folder / "old.pt", _use_new_zipfile_serialization=False)
torch.save({"samples": [Sample([1])]}, folder / "unsafe.pt")
sparse = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (4,))
torch.save([{**sample, "sparse": sparse, "text": "\ud800"}], folder / "sparse.pt")
torch.save([{"complex": torch.tensor([1 + 2j])}], folder / "complex.pt")
torch.save([{"meta": torch.empty(2, device="meta")}], folder / "meta.pt")
cycle: dict = {}
cycle["self"] = cycle
torch.save(cycle, folder / "cycle.pt")
scalars = {"reward": numpy.float64(0.5), "group_index": numpy.int32(3), "done": numpy.bool_(True), "name": numpy.str_("x")}
torch.save([{**sample, **scalars, "advantages": numpy.array([1.5, 2.5], dtype=numpy.float32)}], folder / "numpy.pt")
torch.save([sample], folder / "protocol-4.pt", pickle_protocol=4)
print(json.dumps([column.tolist() for column in log_probs]))
