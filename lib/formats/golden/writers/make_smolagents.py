"""Writes the memory of an agent of smolagents in foreign/.

    pip install "smolagents[openai]==1.26.0"
    python lib/formats/golden/writers/make_smolagents.py

Run in the root of the repository. The model is scripted, so no server is needed. The system prompt, which smolagents adds, is cut.
lib/formats/frameworks/smolagents.test.ts opens the file.
"""
import json
from pathlib import Path

from openai.types.chat import ChatCompletion
from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole
from smolagents.monitoring import TokenUsage


@tool
def multiply(a: int, b: int) -> int:
    """Multiplies two numbers.

    Args:
        a: The first number.
        b: The second number.
    """
    return a * b


class Scripted(Model):
    replies = iter([("I multiply.", "multiply", {"a": 25, "b": 17}), ("", "final_answer", {"answer": "425"})])

    def generate(self, messages, **_):
        content, name, arguments = next(self.replies)
        call = {"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        raw = ChatCompletion(
            id="c",
            object="chat.completion",
            created=1796000000,
            model="tiny-qwen3",
            choices=[{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": content, "tool_calls": [call]}}],
            usage={"prompt_tokens": 20, "completion_tokens": 11, "total_tokens": 31},
        )
        function = ChatMessageToolCallFunction(name=name, arguments=arguments)
        calls = [ChatMessageToolCall(id=call["id"], type="function", function=function)]
        return ChatMessage(MessageRole.ASSISTANT, content, calls, raw, TokenUsage(20, 11))


agent = ToolCallingAgent(tools=[multiply], model=Scripted(model_id="tiny-qwen3"), verbosity_level=0)
agent.run("What is 25 * 17?")
steps = agent.memory.get_full_steps()
for step in steps:
    for message in step.get("model_input_messages") or []:
        if message["role"] == "system":
            message["content"][0]["text"] = message["content"][0]["text"][:100]
Path("lib/formats/golden/foreign/smolagents.json").write_text(json.dumps(steps) + "\n")
