"""Writes trajectories of an evaluation of tinker-cookbook in foreign/, with its own classes.

    pip install --no-deps tinker-cookbook==0.6.1
    python lib/formats/golden/writers/make_tinker_eval.py

Run in the root of the repository. lib/formats/conversations/text-dumps.test.ts opens the file. The classes need no model, so the modules of
models that they import are empty.
"""
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

for module in ("tinker", "torch", "tinker_cookbook.renderers", "tinker_cookbook.renderers.base", "tinker_cookbook.rl", "tinker_cookbook.rl.types"):
    sys.modules[module] = MagicMock()
import importlib.util

package = Path(importlib.util.find_spec("tinker_cookbook").submodule_search_locations[0])
spec = importlib.util.spec_from_file_location("evaluation_types", package / "eval/benchmarks/_types.py")
types = sys.modules["evaluation_types"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(types)

turns = [
    types.StoredTurn("user", "<|im_start|>user\nWhat is 25 * 17?<|im_end|>\n<|im_start|>assistant\n", 14),
    types.StoredTurn("assistant", "A product.<|im_end|>", 4),
    types.StoredTurn("environment", "<|im_start|>user\nAnd?<|im_end|>\n<|im_start|>assistant\n", 9),
    types.StoredTurn("assistant", "425<|im_end|>", 4, {"seconds": 0.5}),
]
first = types.StoredTrajectory(0, "math", "math-1f", turns, 1.0, {"correct": 1.0}, {"expected": "425"}, None, 2.5)
second = types.StoredTrajectory(1, "math", "math-1f", turns[:2], 0.0, {"correct": 0.0}, {}, "Timeout after 2 s", 2.0)
lines = [json.dumps(dict(one.to_dict())) + "\n" for one in (first, second)]
Path("lib/formats/golden/foreign/tinker-eval.jsonl").write_text("".join(lines))
