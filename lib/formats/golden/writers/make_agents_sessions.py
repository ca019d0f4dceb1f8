"""Writes a database of the OpenAI Agents SDK in foreign/, and agents-sessions.json: the items that its sessions return.

    pip install openai-agents==0.24.0
    python lib/formats/golden/writers/make_agents_sessions.py

Run in the root of the repository. lib/files/agents-sessions.test.ts compares lib/formats with the file. Two sessions take turns, and an
agent with a scripted model wrote the items of the first.
"""
import asyncio
import json
import sqlite3
from pathlib import Path

from agents import Agent, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText, ResponseReasoningItem

FILE = Path("lib/formats/golden/foreign/agents-sessions.sqlite")
FILE.unlink(missing_ok=True)
set_tracing_disabled(True)


def text(content):
    part = ResponseOutputText(type="output_text", text=content, annotations=[])
    return ResponseOutputMessage(id="msg_1", type="message", role="assistant", status="completed", content=[part])


class Scripted(Model):
    def __init__(self, *outputs):
        self.outputs = list(outputs)

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=self.outputs.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


@function_tool
def calculator(expression: str) -> str:
    """Calculate an arithmetic expression."""
    left, right = expression.split(" * ")
    return str(int(left) * int(right))


thought = ResponseReasoningItem(id="rs_1", type="reasoning", summary=[{"type": "summary_text", "text": "A product is needed."}])
call = ResponseFunctionToolCall(id="fc_1", call_id="call_1", type="function_call", name="calculator", arguments='{"expression": "25 * 17"}')


async def main():
    sessions = [SQLiteSession(name, FILE) for name in ("math", "greeting")]
    await sessions[1].add_items([{"role": "user", "content": "Hello"}])
    agent = Agent(name="math", tools=[calculator], model=Scripted([thought, call], [text("25 * 17 is 425.")]))
    await Runner.run(agent, "What is 25 * 17?", session=sessions[0])
    await sessions[1].add_items([{"role": "assistant", "content": "Hi."}])
    made = {session.session_id: await session.get_items() for session in sessions}
    Path("lib/formats/golden/agents-sessions.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
    for session in sessions:
        session.close()


asyncio.run(main())
# The times of the rows are those of this run.
database = sqlite3.connect(FILE)
for table, column in (("agent_messages", "created_at"), ("agent_sessions", "created_at"), ("agent_sessions", "updated_at")):
    database.execute(f"UPDATE {table} SET {column} = '2026-11-30 01:00:00'")
database.commit()
database.execute("VACUUM")
database.close()
