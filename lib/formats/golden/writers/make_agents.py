"""Writes trajectories of SWE-agent and OpenHands in foreign/, and agents.json: what Python reads in them.

    pip install openhands-sdk==1.58.2
    git clone https://github.com/SWE-agent/SWE-agent           # at 3ea751c
    git clone https://github.com/All-Hands-AI/OpenHands        # at 156d068
    python lib/formats/golden/writers/make_agents.py SWE-agent OpenHands

Run in the root of the repository. lib/formats/coding-agents/agents.test.ts compares lib/formats with the file. The files of SWE-agent and
of OpenHands before 1.0 are test data of their repositories: of the evaluation's line, the first and the last events. The classes of
the SDK wrote the events since 1.0.
"""
import json
import subprocess
import sys
from pathlib import Path

from openhands.sdk.event import (
    ActionEvent,
    AgentErrorEvent,
    MessageEvent,
    ObservationEvent,
    PauseEvent,
    SystemPromptEvent,
    UserRejectObservation,
)
from openhands.sdk.llm import Message, MessageToolCall, TextContent, ThinkingBlock
from openhands.sdk.tool.builtins import FinishTool, ThinkTool
from openhands.sdk.tool.builtins.finish import FinishAction
from openhands.sdk.tool.builtins.think import ThinkAction, ThinkObservation

FOREIGN = Path("lib/formats/golden/foreign")
SWE = "tests/test_data/trajectories/gpt4__swe-agent-test-repo__default_from_url__t-0.00__p-0.95__c-3.00__install-1/6e44b9__sweagenttestrepo-1c2844.traj"


def stored(repository, path):
    return subprocess.check_output(["git", "-C", repository, "show", f"HEAD:{path}"], text=True)


def text(content):
    return [TextContent(text=content)]


def action(number, call, name, arguments, thought="", value=None, **more):
    tool_call = MessageToolCall(id=call, name=name, arguments=json.dumps(arguments), origin="completion")
    return ActionEvent(
        thought=text(thought) if thought else [],
        action=value,
        tool_name=name,
        tool_call_id=call,
        tool_call=tool_call,
        llm_response_id=f"resp-{number}",
        **more,
    )


thinking = ThinkingBlock(thinking="I should think twice.", signature="c2ln")
first = action(1, "c1", "think", {"thought": "a"}, "Two thoughts.", ThinkAction(thought="a"), thinking_blocks=[thinking])
second = action(1, "c2", "think", {"thought": "b"}, value=ThinkAction(thought="b"))
refused = action(2, "c3", "think", {}, reasoning_content="Once more.")
failed = action(3, "c4", "unknown", {})
finish = action(4, "c5", "finish", {"message": "Done."}, value=FinishAction(message="Done."))
tools = [*FinishTool.create(), *ThinkTool.create()]
events = [
    SystemPromptEvent(source="agent", system_prompt=TextContent(text="You are an agent."), tools=tools),
    MessageEvent(source="user", llm_message=Message(role="user", content=text("Think.")), extended_content=text(" Now.")),
    first,
    second,
    ObservationEvent(observation=ThinkObservation.from_text("Logged a."), action_id=first.id, tool_name="think", tool_call_id="c1"),
    ObservationEvent(observation=ThinkObservation.from_text("Logged b."), action_id=second.id, tool_name="think", tool_call_id="c2"),
    PauseEvent(),
    refused,
    UserRejectObservation(rejection_reason="Not now.", action_id=refused.id, tool_name="think", tool_call_id="c3"),
    failed,
    AgentErrorEvent(error="Tool 'unknown' not found.", tool_name="unknown", tool_call_id="c4"),
    finish,
]
swe_agent, open_hands = sys.argv[1:]
run = json.loads(stored(swe_agent, SWE))
(FOREIGN / "swe-agent.json").write_text(json.dumps(run) + "\n")
line = json.loads(stored(open_hands, "evaluation/benchmarks/multi_swe_bench/examples/output.jsonl").splitlines()[0])
history = line["history"]
line["history"] = history[1:6] + history[-3:]
(FOREIGN / "openhands-output.jsonl").write_text(json.dumps(line) + "\n")
old = json.loads(stored(open_hands, "tests/runtime/trajs/basic.json"))
(FOREIGN / "openhands-events.json").write_text(json.dumps(old) + "\n")
written = [event.model_dump(mode="json") for event in events]
(FOREIGN / "openhands-sdk-events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in written))


def model_calls(history):
    """Returns the calls of each action before 1.0, as the reply of the server has them."""
    metadata = [event["tool_call_metadata"] for event in history if event.get("action") and event["source"] == "agent" and "tool_call_metadata" in event]
    return [[call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])] for one in metadata for call in one["model_response"]["choices"][0]["message"]["tool_calls"]]


made = {
    "swe": {
        "roles": [message["role"] for message in run["history"]],
        "calls": [[call["id"], call["function"]["name"]] for message in run["history"] for call in message.get("tool_calls") or []],
        "results": [message["tool_call_ids"][0] for message in run["history"] if message["role"] == "tool"],
    },
    "output": {"calls": model_calls(line["history"])},
    "events": {"calls": model_calls(old)},
    # The SDK itself makes the messages of a model call from events.
    "sdk": [message.model_dump(mode="json", exclude_defaults=True) for message in ActionEvent.events_to_messages([event for event in events if not isinstance(event, PauseEvent)])],
}
Path("lib/formats/golden/agents.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
