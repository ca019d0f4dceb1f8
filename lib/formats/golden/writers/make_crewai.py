"""Writes the output of a crew of CrewAI in foreign/.

    pip install crewai==1.15.30
    python lib/formats/golden/writers/make_crewai.py

Run in the root of the repository. The model is scripted, so no server is needed. lib/formats/frameworks/histories.test.ts opens the file.
"""
import json
import os
from pathlib import Path

os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool


@tool("multiply")
def multiply(a: int, b: int) -> str:
    """Multiplies two numbers."""
    return str(a * b)


class Scripted(BaseLLM):
    def call(self, messages, tools=None, available_functions=None, **_):
        if any(message["role"] == "tool" for message in messages) or not tools:
            return "It is 425."
        called = {"name": "multiply", "arguments": json.dumps({"a": 25, "b": 17})}
        return [{"id": "call_1", "type": "function", "function": called}]

    def supports_function_calling(self):
        return True


agent = Agent(role="Calculator", goal="Compute", backstory="You compute.", tools=[multiply], llm=Scripted(model="scripted"))
tasks = [Task(description=text, expected_output="A number", agent=agent) for text in ("What is 25 * 17?", "Repeat it.")]
output = Crew(agents=[agent], tasks=tasks).kickoff()
Path("lib/formats/golden/foreign/crewai.json").write_text(json.dumps(output.model_dump(mode="json")))
os._exit(0)
