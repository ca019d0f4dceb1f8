"""Writes tables of Weights & Biases and of pandas in foreign/.

    pip install wandb==0.31.0 pandas==3.1.1
    python lib/formats/golden/writers/make_tables.py

Run in the root of the repository. The tables have the columns that TRL 1.16.0, OpenRLHF 0.11.2 and verl 0.9.1 log.
lib/formats/reading/tables.test.ts opens them.
"""
import json
import os
import shutil
import tempfile
from pathlib import Path

import pandas
import wandb

FOREIGN = Path("lib/formats/golden/foreign")
TABLES = {
    "wandb-trl": (["step", "prompt", "completion", "accuracy", "advantage"], [["1", "2 + 3?", " 5", 1.0, 0.5], ["1", "2 + 3?", " 6", 0.0, -0.5]]),
    "wandb-openrlhf": (["global_step", "text", "reward"], [[1, "2 + 3? 5", 1.0], [2, "2 + 3? 6", float("nan")]]),
    "wandb-verl": (
        ["step", "input_1", "output_1", "score_1", "input_2", "output_2", "score_2"],
        [[10, "2 + 3?", " 5", 1.0, "25 * 17?", " 425", 1.0], [20, "2 + 3?", " 6", 0.0, "25 * 17?", " 42", 0.0]],
    ),
}
folder = tempfile.mkdtemp()
run = wandb.init(mode="offline", dir=folder, project="tables", settings=wandb.Settings(console="off"))
for name, (columns, data) in TABLES.items():
    run.log({name: wandb.Table(columns=columns, data=data)})
run.finish()
for path in Path(folder).glob("**/media/table/*.table.json"):
    shutil.copy(path, FOREIGN / f"{path.name.split('_')[0]}.table.json")
columns, data = TABLES["wandb-trl"]
pandas.DataFrame(data, columns=columns).to_json(FOREIGN / "pandas-split.json", orient="split")
