"""Writes rollouts of NeMo-Gym in foreign/, with its own converter of replies, its classes and its collection of rollouts.

    pip install nemo-gym==0.4.0
    python lib/formats/golden/writers/make_nemo_gym.py

Run in the root of the repository. lib/formats/trainers/trainers.test.ts reads the file. Two tasks have two rollouts each; the agent is
scripted, so no server is needed.
"""
import asyncio
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

from nemo_gym.base_resources_server import BaseVerifyResponse
from nemo_gym.openai_utils import NeMoGymFunctionCallOutput, NeMoGymResponse, NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.responses_converter import ResponsesConverter
from nemo_gym.rollout_collection import RolloutCollectionHelper

FILE = Path("lib/formats/golden/foreign/nemo-gym.jsonl")
TOOLS = [
    {
        "type": "function",
        "name": "calculator",
        "description": "Calculate an arithmetic expression.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
        "strict": True,
    }
]
CALL = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}
CONVERTER = ResponsesConverter(return_token_id_information=True)


def items(prompt, generated, logprobs, **message):
    ids = {"prompt_token_ids": prompt, "generation_token_ids": generated, "generation_log_probs": logprobs}
    return CONVERTER.postprocess_assistant_message_dict({"role": "assistant", **message, **ids})


def rollout(task, number):
    first = items([1, 2, 3], [4, 5, 6 + number], [-0.25, -0.5, -0.125], content="<think>A product.</think>", tool_calls=[CALL])
    result = NeMoGymFunctionCallOutput(call_id="call_1", output="425")
    last = items([1, 2, 3, 4, 5, 6 + number, 8, 9], [10, 11], [-1.5, -2.0], content="425.")
    request = NeMoGymResponseCreateParamsNonStreaming(input=[{"role": "user", "content": "What is 25 * 17?"}], tools=TOOLS, temperature=1.0)
    about = {"id": f"resp_{task}_{number}", "created_at": 1796000000.0, "model": "tiny-qwen3", "object": "response", "temperature": 1.0}
    choice = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": TOOLS}
    response = NeMoGymResponse(output=[*first, result, *last], **about, **choice)
    return BaseVerifyResponse(responses_create_params=request, response=response, reward=float(number)).model_dump()


class Scripted(RolloutCollectionHelper):
    def _preprocess_rows_from_config(self, config):
        return [{"_ng_task_index": task, "_ng_rollout_index": number, "agent_ref": {"name": "math"}} for task in (0, 1) for number in (0, 1)]

    def run_examples(self, rows, semaphore=None):
        async def run(row):
            return row, rollout(row["_ng_task_index"], row["_ng_rollout_index"])

        return [run(row) for row in rows]


FILE.unlink(missing_ok=True)
with tempfile.TemporaryDirectory() as folder:
    written = Path(folder) / "rollouts.jsonl"
    inputs = Path(folder) / "inputs.jsonl"
    config = SimpleNamespace(
        output_jsonl_fpath=str(written),
        materialized_jsonl_fpath=inputs,
        resume_from_cache=False,
        num_samples_in_parallel=None,
        disable_aggregation=True,
        upload_rollouts_to_wandb=False,
    )
    asyncio.run(Scripted().run_from_config(config))
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    # The ids of messages are random.
    for row in rows:
        for index, item in enumerate(row["response"]["output"]):
            if str(item.get("id")).startswith(("msg_", "rs_")):
                item["id"] = f"item_{index}"
    FILE.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
