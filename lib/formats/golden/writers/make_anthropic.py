"""Writes replies of Anthropic's Messages API in foreign/, and anthropic.json: what the classes of anthropic read in them.

    pip install anthropic==2.14.0
    python lib/formats/golden/writers/make_anthropic.py

Run in the root of the repository. lib/formats/conversations/anthropic.test.ts compares lib/formats with the file. The classes of the
package check each message and each event; its client joins the events.
"""
import json
from pathlib import Path

from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import Message, RawMessageStreamEvent
from pydantic import TypeAdapter

FOREIGN = Path("lib/formats/golden/foreign")
EVENT = TypeAdapter(RawMessageStreamEvent)
TOOL = {"name": "calculator", "input_schema": {"type": "object", "properties": {"expression": {"type": "string"}}}}
REQUEST = {
    "model": "claude-sonnet-5",
    "max_tokens": 1024,
    "system": "Use the calculator.",
    "tools": [TOOL],
    "messages": [{"role": "user", "content": "What is 25 * 17?"}],
}
CONTENT = [
    {"type": "thinking", "thinking": "A product is needed.", "signature": "EqQB"},
    {"type": "text", "text": "Let me calculate.", "citations": None},
    {"type": "tool_use", "id": "toolu_1", "name": "calculator", "input": {"expression": "25 * 17"}},
]


def message(number, content, reason, usage, sequence=None):
    value = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_reason": reason,
        "stop_sequence": sequence,
        "usage": {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 32, **usage},
    }
    return json.loads(Message.model_validate(value).model_dump_json(exclude_none=True))


def pieces(text, length=8):
    return [text[start : start + length] for start in range(0, len(text), length)]


def block_events(index, block):
    kind = block["type"]
    empty = {"thinking": {"thinking": "", "signature": ""}, "text": {"text": ""}, "tool_use": {"input": {}}}[kind]
    yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
    if kind == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": part} for part in pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif kind == "text":
        deltas = [{"type": "text_delta", "text": part} for part in pieces(block["text"])]
    else:
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in ["", *pieces(json.dumps(block["input"]))]]
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def stream_events(whole):
    begun = {**whole, "content": [], "stop_reason": None, "stop_sequence": None, "usage": {**whole["usage"], "output_tokens": 1}}
    parts = [
        {"type": "message_start", "message": begun},
        *(event for index, block in enumerate(whole["content"]) for event in block_events(index, block)),
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": whole.get("stop_sequence")},
            "usage": {"output_tokens": whole["usage"]["output_tokens"]},
        },
        {"type": "message_stop"},
    ]
    return [json.loads(EVENT.validate_python(part).model_dump_json(exclude_none=True)) for part in parts]


first = message(1, CONTENT, "tool_use", {"input_tokens": 8, "output_tokens": 24})
second = message(2, [{"type": "text", "text": "25 * 17 is 425.", "citations": None}], "stop_sequence", {"input_tokens": 8, "output_tokens": 9}, "425")
(FOREIGN / "anthropic-message.json").write_text(json.dumps({"request": REQUEST, "response": first}) + "\n")
# A ping may follow any event. The connection of the third stream broke in the arguments.
events = [*stream_events(first), *stream_events(second), *stream_events(first)[:-5]]
events.insert(1, {"type": "ping"})
(FOREIGN / "anthropic-events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def reply_of(read):
    return {
        "text": "".join(block.text for block in read.content if block.type == "text"),
        "thinking": "".join(block.thinking for block in read.content if block.type == "thinking"),
        "calls": [[block.id, block.name, block.input] for block in read.content if block.type == "tool_use"],
        "stop": read.stop_reason,
        "sequence": read.stop_sequence,
        "usage": read.usage.model_dump(exclude_none=True),
    }


def streamed(values):
    snapshots = []
    for value in values:
        if value["type"] == "ping":
            continue
        if value["type"] == "message_start":
            snapshots.append(None)
            buffers = {}
        event = EVENT.validate_python(value)
        snapshots[-1] = accumulate_event(event=event, current_snapshot=snapshots[-1], json_bufs=buffers)
    return [reply_of(one) for one in snapshots]


written = [json.loads(line) for line in (FOREIGN / "anthropic-events.jsonl").read_text().splitlines()]
made = {
    "message": reply_of(Message.model_validate(json.loads((FOREIGN / "anthropic-message.json").read_text())["response"])),
    "streams": streamed(written),
}
Path("lib/formats/golden/anthropic.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
