"""Writes golden.json: records from strands-sglang's own classes, of this version and of older ones.

    pip install strands-sglang==0.6.2
    for v in 0.0.1 0.2.6 0.3.1 0.4.3; do pip install --no-deps --target .cache/strands-sglang/$v strands-sglang==$v; done
    python lib/formats/golden/make.py .cache/strands-sglang

Run in the root of the repository. strands-sglang.test.ts compares lib/formats with the file. Texts remain texts,
because Python's json writes NaN, which is not valid JSON.
"""
import base64
import dataclasses
import importlib.util
import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from strands_sglang import Rollout, SGLangModel

OLDER = ["0.0.1", "0.2.6", "0.3.1"]
# is_output, ids, logprobs. Two responses follow each other, and a prompt begins with a number that JSON cannot represent.
SEGMENTS = [
    (False, [151644, 872, 198], [None, -2.5, -1e-9]),
    (True, [9707, 0], [-0.25, -0.0]),
    (True, [151645], [-3.0517578125e-05]),
    (False, [198, 151644], None),
    (True, [220, 17, 151645], [-11.75, None, -0.001]),
]
ODD = [(False, [1, 2], [None, float("-inf")]), (True, [3, 4, 5], [float("nan"), float("inf"), -1.0])]


def rollout(segments, experts=False, kind=Rollout):
    made = kind()
    for is_output, ids, logprobs in segments:
        (made.add_response if is_output else made.add_prompt)(ids, logprobs)
        if is_output and experts:
            rows = np.arange(len(ids) * 2 * 4, dtype=np.int32)
            made.add_routed_experts(base64.b64encode(rows.tobytes()).decode())
    return made


def plain(value):
    """Returns numbers that JSON cannot represent as texts."""
    return [None if v is None else v if np.isfinite(v) else str(v) for v in value]


def expected(made):
    return {
        "ids": made.token_ids,
        "mask": [int(bit) for bit in made.loss_mask],
        "logprobs": plain(made.logprobs),
        "segments": [[bool(is_output), length] for is_output, length in made.segment_info],
    }


def module_of(folder, number, name):
    """Loads the modules of records without their package, which needs another version of Strands."""
    spec = importlib.util.spec_from_file_location(f"{name}_{number.replace('.', '_')}", folder / number / "strands_sglang" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def older(folder, number):
    manager = module_of(folder, number, "token").TokenManager()
    for is_output, ids, logprobs in SEGMENTS:
        (manager.add_response if is_output else manager.add_prompt)(ids, logprobs)
    tokens = [[dataclasses.asdict(token) for token in segment] for segment in manager.segments]
    flat = {"token_ids": manager.token_ids, "logprobs": manager.logprobs}
    return {
        f"{number} flat lists and segment_info": {**flat, "loss_mask": manager.loss_mask, "segment_info": manager.segment_info},
        f"{number} output_mask": {**flat, "output_mask": [bool(bit) for bit in manager.loss_mask], "segment_info": manager.segment_info},
        f"{number} segments of tokens": {"segments": tokens},
        f"{number} everything": {**flat, "loss_mask": manager.loss_mask, "segment_info": manager.segment_info, "segments": tokens, "tokens": sum(tokens, [])},
    }, manager


def cases(folder):
    usual, odd, routed = rollout(SEGMENTS), rollout(ODD), rollout(SEGMENTS, experts=True)
    routed.image_data.append("data:image/png;base64,iVBORw0KGgo=")
    yield "Rollout.model_dump_json", usual.model_dump_json(), usual
    yield "Rollout.model_dump and json.dumps", json.dumps(usual.model_dump()), usual
    yield "NaN and infinities by json.dumps", json.dumps(odd.model_dump()), odd
    yield "NaN and infinities by model_dump_json", odd.model_dump_json(), Rollout.model_validate_json(odd.model_dump_json())
    yield "routed experts and images", routed.model_dump_json(), routed
    yield "an empty Rollout", Rollout().model_dump_json(), Rollout()
    beside = {"rollout": usual.model_dump(), "messages": [{"role": "user", "content": [{"text": "hi"}]}], "reward": 1.0, "task": {"id": 7}}
    yield "under a key, with other things", json.dumps(beside, indent=2), usual
    earlier = rollout(SEGMENTS, experts=True, kind=module_of(folder, "0.4.3", "rollout").Rollout)
    yield "0.4.3 Rollout.model_dump_json", earlier.model_dump_json(), earlier
    for number in OLDER:
        dumps, manager = older(folder, number)
        for name, dump in dumps.items():
            yield name, json.dumps(dump), manager


def histories():
    """Returns the dump of a model that was reset twice: the finished rollouts and the current one."""
    model = SGLangModel(client=None, tokenizer=None)
    for segments in (SEGMENTS, SEGMENTS[:2], SEGMENTS[:1]):
        model.reset()  # an empty rollout does not become history
        model.rollout = rollout(segments, experts=True)
    finished, current = model.rollout_history, model.rollout
    dumped, last = [made.model_dump() for made in finished], current.model_dump()
    every = [*finished, current]
    beside = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "reward": 0.5, "task": {"id": 7}}
    yield "a model: rollout and rollout_history", json.dumps({"rollout": last, "rollout_history": dumped, **beside}), every
    yield "a rollout with rollout_history beside its fields", json.dumps({**last, "rollout_history": dumped}), every
    yield "rollout_history alone", json.dumps({"rollout_history": dumped}), finished
    yield "rollout_history with other things", json.dumps({"rollout_history": dumped, **beside}), finished
    yield "a list of the history and the rollout", json.dumps([*dumped, last]), every
    yield "a line for each rollout", "".join(made.model_dump_json() + "\n" for made in every), every
    yield "a list of models", json.dumps([{"rollout": last, "rollout_history": dumped}] * 2), every * 2
    model.reset()
    yield "a model that has just been reset", json.dumps({"rollout": model.rollout.model_dump(), "rollout_history": [made.model_dump() for made in model.rollout_history]}), [*every, model.rollout]


golden = {
    "made with": f"strands-sglang {version('strands-sglang')}, 0.4.3 and {', '.join(OLDER)}",
    "cases": [{"name": name, "text": text, **expected(made)} for name, text, made in cases(Path(sys.argv[1]))],
    "histories": [{"name": name, "text": text, "rollouts": [expected(made) for made in rollouts]} for name, text, rollouts in histories()],
}
Path("lib/formats/golden/golden.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
