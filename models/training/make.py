"""Everything from the seed: training, export and scores, and if asked for, the tokenizer.

    python make.py --work /tmp/tiny-qwen3

--work keeps checkpoints and logs, outside the repository. The steps:

    tokenizer   FOLDER/tokenizer.json. Not by default: the tokenizer was trained once and stays, because recorded
                rollouts hold its ids. --new-tokenizer trains it again, on the dialogues as they are now.
    train       WORK/run/last.pt, WORK/run/log.jsonl
    export      FOLDER (config.json, generation_config.json, tokenizer_config.json, onnx/model.onnx)
    score       WORK/scores.json
    card        FOLDER/README.md: checksum and scores
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
STEPS = ("tokenizer", "train", "export", "score", "card")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=HERE.parent / "tiny-qwen3")
    parser.add_argument("--only", choices=STEPS, nargs="+", default=STEPS[1:])
    parser.add_argument("--new-tokenizer", action="store_true")
    options = parser.parse_args()
    run, folder = options.work.resolve() / "run", options.folder.resolve()
    scores = options.work.resolve() / "scores.json"
    commands = {
        "tokenizer": ["tokenizer.py", folder],
        "train": ["train.py", "--tokenizer", folder, "--out", run],
        "export": ["export.py", run / "last.pt", folder, folder],
        "score": ["score.py", folder, "--out", scores],
        "card": ["card.py", folder, scores],
    }
    for step in STEPS:
        if step in options.only or (step == "tokenizer" and options.new_tokenizer):
            command = [sys.executable, *map(str, commands[step])]
            subprocess.run(command, cwd=HERE, check=True, env={**os.environ, "OMP_WAIT_POLICY": "PASSIVE"})


if __name__ == "__main__":
    main()
