"""Runs agents of the published strands-sglang against a server and prints their rollouts as JSON.

    python agent.py BASE_URL MODEL_FOLDER < conversations.json

A conversation is {"prompts": [...], "thinking": bool}: one agent, invoked once for each prompt, greedy.
"""

from __future__ import annotations

import asyncio
import json
import sys
from fractions import Fraction

from strands import Agent
from strands.tools.tools import PythonAgentTool
from strands_sglang import SGLangClient, SGLangModel, get_tokenizer

CALCULATOR = {
    "name": "calculator",
    "description": "Evaluate an arithmetic expression.",
    "inputSchema": {
        "json": {
            "type": "object",
            "properties": {
                "expression": {
                    "type": "string",
                    "description": "The expression, for example (1 + 2) * 3. Operators: + - * / % **",
                }
            },
            "required": ["expression"],
        }
    },
}


def calculate(use, **_):
    """Evaluates exact arithmetic with whole numbers, which is all that the conversations need."""
    text = use["input"]["expression"].replace("^", "**")
    if not set(text) <= set("0123456789+-*/%(). "):
        raise ValueError(f"not an expression: {text}")
    try:
        value = Fraction(eval(text, {"__builtins__": {}}))  # noqa: S307: digits and operators only
    except ZeroDivisionError:
        return {"toolUseId": use["toolUseId"], "status": "error", "content": [{"text": "Error: division by zero"}]}
    return {"toolUseId": use["toolUseId"], "status": "success", "content": [{"text": str(value)}]}


async def rollout(client, tokenizer, conversation):
    model = SGLangModel(
        client=client,
        tokenizer=tokenizer,
        sampling_params={"temperature": 0, "max_new_tokens": 512},
        enable_thinking=conversation["thinking"],
    )
    agent = Agent(
        model=model,
        tools=[PythonAgentTool("calculator", CALCULATOR, calculate)],
        system_prompt="You are a helpful assistant.",
        callback_handler=None,
    )
    for prompt in conversation["prompts"]:
        await agent.invoke_async(prompt)
    return json.loads(model.rollout.model_dump_json())


async def main():
    base_url, folder = sys.argv[1:]
    tokenizer = get_tokenizer(folder)
    async with SGLangClient(base_url=base_url, max_retries=2) as client:
        rollouts = [await rollout(client, tokenizer, conversation) for conversation in json.load(sys.stdin)]
    json.dump(rollouts, sys.stdout)


asyncio.run(main())
