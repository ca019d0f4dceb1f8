"""Writes miles.json and the JSON of miles' dumps: tokens, masks, rewards, groups and every column of each sample.

    pip install pyarrow
    python lib/formats/golden/make_miles.py FOLDER

Run in the root of the repository. FOLDER has rollout_data-0.pt, train_data-0_0.pt and dashboard_columns-rollout_0.parquet, which the
dump pipeline of miles (31f1ca9) wrote. The reader of .pt files below gives the lists of torch.load(...).tolist(), and executes
nothing of the file.
"""
import array
import json
import pickle
import sys
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

HERE = Path("lib/formats/golden")
CODES = {"LongStorage": "q", "IntStorage": "i", "FloatStorage": "f"}


class Reader(pickle.Unpickler):
    def __init__(self, file: zipfile.ZipFile, root: str) -> None:
        super().__init__(file.open(f"{root}/data.pkl"))
        self.file, self.root = file, root

    def find_class(self, module: str, name: str):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, size, *_: storage[offset : offset + size[0]].tolist()
        if name == "OrderedDict":
            return dict
        if name in CODES:
            return CODES[name]
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, parts):
        _, code, key, *_ = parts
        return array.array(code, self.file.read(f"{self.root}/data/{key}"))


def load(path: Path) -> dict:
    with zipfile.ZipFile(path) as file:
        return Reader(file, file.namelist()[0].split("/")[0]).load()


folder = Path(sys.argv[1])
rollout = load(folder / "rollout_data-0.pt")
train = load(folder / "train_data-0_0.pt")
rows = pq.read_table(folder / "dashboard_columns-rollout_0.parquet").to_pylist()
(HERE / "foreign/miles-rollout-data.json").write_text(json.dumps(rollout) + "\n")
(HERE / "foreign/miles-train-data.json").write_text(json.dumps(train) + "\n")
(HERE / "foreign/miles-dashboard-columns.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

columns = train["rollout_data"]
NUMBERS = ["rollout_log_probs", "log_probs", "ref_log_probs", "advantages", "returns", "entropy", "ref_entropy"]
golden = {
    "rollout": [
        {key: sample[key] for key in ["tokens", "response_length", "rollout_log_probs", "reward", "group_index", "index", "status"]}
        for sample in rollout["samples"]
    ],
    "train": [
        {
            "index": columns["sample_indices"][row],
            "tokens": columns["tokens"][row],
            "mask": columns["loss_masks"][row],
            "reward": columns["rewards"][row],
            **{name: columns[name][row] for name in NUMBERS},
        }
        for row in range(len(columns["tokens"]))
    ],
    "columns": [{key: row[key] for key in ["sample_index", "response_length", "tokens", "rollout_log_probs"]} for row in rows],
}
(HERE / "miles.json").write_text(json.dumps(golden) + "\n")
