"""Writes a file of trajectories of OpenPipe's ART in foreign/, and art.json: what its own reader finds in it.

    pip install openpipe-art==0.5.18 pyarrow duckdb
    python lib/formats/golden/writers/make_art.py

Run in the root of the repository. lib/formats/conversations/files.test.ts compares lib/formats with the file. Only the modules of the
trajectories are loaded, because the package imports a trainer.
"""
import importlib.util
import json
import sys
import types
from pathlib import Path

package = types.ModuleType("art")
package.__path__ = importlib.util.find_spec("art").submodule_search_locations
sys.modules["art"] = package

from art.trajectories import Trajectory, TrajectoryGroup  # noqa: E402
from art.utils.trajectory_logging import read_trajectory_groups_parquet, write_trajectory_groups_parquet  # noqa: E402
from openai.types.chat.chat_completion import Choice  # noqa: E402

FILE = Path("lib/formats/golden/foreign/art-trajectories.parquet")
TOOL = {"type": "function", "function": {"name": "calculator", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}}}
SHOT = [{"role": "user", "content": "What is 2 * 3?"}, {"role": "assistant", "content": "6"}]


def choice(content, reason="stop", calls=None):
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return Choice.model_validate({"index": 0, "finish_reason": reason, "logprobs": None, "message": message})


call = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}


def trajectory(reward, *messages):
    question = {"role": "user", "content": "What is 25 * 17?"}
    return Trajectory(messages_and_choices=[*SHOT, question, *messages], tools=[TOOL], reward=reward, metrics={"correct": reward > 0}, metadata={"task": "t1"})


result = {"role": "tool", "tool_call_id": "call_1", "content": "425"}
groups = [
    TrajectoryGroup([trajectory(1.0, choice(None, "tool_calls", [call]), result, choice("425")), trajectory(0.0, choice("420"))]),
    TrajectoryGroup([trajectory(0.5, choice("425?"))]),
]
write_trajectory_groups_parquet(groups, FILE)
made = [
    [{"messages": one.messages(), "reward": one.reward, "metrics": one.metrics} for one in group.trajectories]
    for group in read_trajectory_groups_parquet(FILE)
]
Path("lib/formats/golden/art.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
