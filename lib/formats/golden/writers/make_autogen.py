"""Writes the messages of a run of AutoGen in foreign/.

    pip install autogen-agentchat==0.7.5 autogen-ext==0.7.5
    python lib/formats/golden/writers/make_autogen.py

Run in the root of the repository. The client replays its replies. lib/formats/frameworks/autogen.test.ts opens the file.
"""
import asyncio
import json
from pathlib import Path

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import CreateResult, ModelInfo, RequestUsage
from autogen_ext.models.replay import ReplayChatCompletionClient

USAGE = RequestUsage(prompt_tokens=20, completion_tokens=11)


async def calculator(expression: str) -> str:
    """Calculates."""
    return "425"


async def run():
    call = FunctionCall(id="call_1", name="calculator", arguments='{"expression": "25 * 17"}')
    replies = [
        CreateResult(finish_reason="function_calls", content=[call], usage=USAGE, cached=False, thought="A product."),
        CreateResult(finish_reason="stop", content="It is 425.", usage=USAGE, cached=False, thought="Done."),
    ]
    info = ModelInfo(vision=False, function_calling=True, json_output=False, family="unknown", structured_output=False)
    client = ReplayChatCompletionClient(replies, model_info=info)
    agent = AssistantAgent("solver", client, tools=[calculator], reflect_on_tool_use=True)
    result = await agent.run(task="What is 25 * 17?")
    messages = [message.model_dump(mode="json") for message in result.messages]
    Path("lib/formats/golden/foreign/autogen.json").write_text(json.dumps(messages) + "\n")


asyncio.run(run())
