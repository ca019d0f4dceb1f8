"""Runs the rollouts of client.ts with the published strands-sglang. It reads a task as JSON from standard input and prints a result."""

from __future__ import annotations

import asyncio
import hashlib
import json
import resource
import struct
import sys
import time
from pathlib import Path

from strands import Agent
from strands.tools.tools import PythonAgentTool
from strands_sglang import SGLangClient, SGLangModel
from transformers import PreTrainedTokenizerFast

TASK = json.load(sys.stdin)


class Client(SGLangClient):
    """Adds alternatives to requests, which the package does not support."""

    async def generate(self, input_ids, **fields):
        if TASK["alternatives"] > 0:
            fields["top_logprobs_num"] = TASK["alternatives"]
        return await super().generate(input_ids, **fields)


def load_tokenizer():
    folder = Path(TASK["tokenizerFolder"])
    config = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), eos_token=config["eos_token"])
    tokenizer.chat_template = config["chat_template"]
    return tokenizer


def read_page(use, **_):
    return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": TASK["pages"][use["input"]["page"]]}]}


async def one_rollout(client, tokenizer, number):
    model = SGLangModel(client=client, tokenizer=tokenizer, sampling_params=TASK["sampling"])
    tools = [
        PythonAgentTool(
            spec["name"],
            {"name": spec["name"], "description": spec["description"], "inputSchema": {"json": spec["inputSchema"]}},
            read_page,
        )
        for spec in [TASK["tool"], *TASK["otherTools"]]
    ]
    agent = Agent(
        model=model,
        tools=tools,
        system_prompt=TASK["systemPrompt"],
        callback_handler=None,
    )
    result = await agent.invoke_async(TASK["prompts"][number])
    assert result.stop_reason == "end_turn", result.stop_reason
    return model.rollout


async def rollouts(client, tokenizer, first, last):
    """Returns the output tokens of all rollouts and the ids of the first."""
    numbers = iter(range(first, last))
    found = {"tokens": 0, "ids": []}

    async def work():
        for number in numbers:
            rollout = await one_rollout(client, tokenizer, number)
            found["tokens"] += sum(rollout.loss_mask)
            if number == first:
                found["ids"] = rollout.token_ids

    await asyncio.gather(*(work() for _ in range(TASK["concurrency"])))
    return found


async def main():
    tokenizer = load_tokenizer()
    async with Client(TASK["baseUrl"]) as client:
        before = await rollouts(client, tokenizer, 0, TASK["warmUp"])
        started, started_cpu = time.perf_counter(), time.process_time()
        found = await rollouts(client, tokenizer, TASK["warmUp"], len(TASK["prompts"]))
        cpu, wall = time.process_time() - started_cpu, time.perf_counter() - started
    ids = before["ids"]
    print(
        json.dumps(
            {
                "cpuMs": 1000 * cpu,
                "outputTokens": found["tokens"],
                "wallMs": 1000 * wall,
                "peaksMebibytes": [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024],
                "idsHash": hashlib.sha256(struct.pack(f"<{len(ids)}I", *ids)).hexdigest(),
                "idsLength": len(ids),
            }
        )
    )


asyncio.run(main())
