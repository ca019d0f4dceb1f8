"""Writes trajectories of OpenPipe's ART in foreign/, and art-rows.json: what its own reader finds in them.

    pip install openpipe-art==0.5.23 pyarrow duckdb
    python lib/formats/golden/writers/make_art_rows.py

Run in the root of the repository. lib/formats/trainers/art.test.ts compares lib/formats with the files: a Parquet file and the dumps of
the same trajectories. make_art.py writes the file of an older version. Only the modules of the trajectories are loaded.
"""
import importlib.util
import json
import sys
import types
from datetime import UTC, datetime, timedelta
from pathlib import Path

package = types.ModuleType("art")
package.__path__ = importlib.util.find_spec("art").submodule_search_locations
sys.modules["art"] = package

from art.trajectories import ChatCompletionsExchange, Trajectory, TrajectoryExchanges, TrajectoryGroup  # noqa: E402
from art.utils.trajectory_logging import read_trajectory_groups_parquet, write_trajectory_groups_parquet  # noqa: E402
from openai.types.chat import ChatCompletion  # noqa: E402
from openai.types.chat.chat_completion import Choice  # noqa: E402

FOREIGN = Path("lib/formats/golden/foreign")
TOOL = {"type": "function", "function": {"name": "calculator", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}
QUESTION = {"role": "user", "content": "What is 25 * 17?"}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "425"}


def choice(ids, content, reason="stop", calls=None, **more):
    entries = [{"token": f"token_id:{id}", "bytes": None, "logprob": -id / 100, "top_logprobs": []} for id in ids]
    message = {"role": "assistant", "content": content, "tool_calls": calls}
    return {"index": 0, "finish_reason": reason, "logprobs": {"content": entries}, "message": message, **more}


def exchange(minute, messages, prompt, ids, *reply, **more):
    start = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
    body = {"id": f"r{minute}", "object": "chat.completion", "created": 1767225600, "model": "m", "prompt_token_ids": prompt}
    response = ChatCompletion.model_validate({**body, "choices": [choice(ids, *reply, token_ids=ids, **more)]})
    request = {"model": "m", "messages": messages, "tools": [TOOL], "temperature": 0.5}
    return ChatCompletionsExchange(request=request, response=response, start_time=start, end_time=start + timedelta(seconds=2))


first = [QUESTION, {"role": "assistant", "content": None, "tool_calls": [CALL]}, RESULT]
exchanges = [
    exchange(1, first, [1, 2, 3, 4, 5, 6], [7, 8], "425"),
    exchange(0, [QUESTION], [1, 2, 3], [4, 5], None, "tool_calls", calls=[CALL]),
]
choices = [QUESTION, Choice.model_validate(choice([4, 5], None, "tool_calls", [CALL])), RESULT, Choice.model_validate(choice([7, 8], "425"))]
groups = [
    TrajectoryGroup(
        [
            Trajectory(exchanges=TrajectoryExchanges(chat_completions=exchanges), reward=1.0, metrics={"correct": True}),
            Trajectory(messages_and_choices=choices, tools=[TOOL], reward=0.5),
        ],
        metadata={"task": "t1"},
    ),
    TrajectoryGroup([]),
]
write_trajectory_groups_parquet(groups, FOREIGN / "art-rows.parquet")
dumps = [*(one.model_dump(mode="json") for one in groups[0].trajectories), groups[0].model_dump(mode="json")]
(FOREIGN / "art-trajectories.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in dumps))
read = read_trajectory_groups_parquet(FOREIGN / "art-rows.parquet")
made = [[one.model_dump(mode="json") for one in group.trajectories] for group in read]
Path("lib/formats/golden/art-rows.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
