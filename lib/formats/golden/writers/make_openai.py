"""Writes the files of OpenAI's Batch and Responses APIs in foreign/, and openai.json: what the classes of openai read in them.

    pip install openai==3.57.0
    python lib/formats/golden/writers/make_openai.py

Run in the root of the repository. lib/formats/replies/openai.test.ts compares lib/formats with the file. The classes of the package
check each request and each reply, and write it as model_dump_json does.
"""
import json
from pathlib import Path

from openai import omit
from openai.lib.streaming.responses._responses import ResponseStreamState
from openai.types.chat import ChatCompletion
from openai.types.responses import (
    Response,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseReasoningItem,
    ResponseStreamEvent,
)
from pydantic import TypeAdapter

FOREIGN = Path("lib/formats/golden/foreign")
TOOL = {
    "type": "function",
    "name": "calculator",
    "description": "Calculate an arithmetic expression.",
    "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    "strict": True,
}
INSTRUCTIONS = "Use the calculator."
SETTINGS = {"model": "gpt-5-mini", "instructions": INSTRUCTIONS, "tools": [TOOL], "reasoning": {"effort": "low"}, "top_logprobs": 2}


def lines(name, values):
    (FOREIGN / name).write_text("".join(json.dumps(value) + "\n" for value in values))


def entry(token, logprob):
    tops = [{"token": token, "bytes": list(token.encode()), "logprob": logprob}, {"token": "?", "bytes": [63], "logprob": -4.5}]
    return {"token": token, "bytes": list(token.encode()), "logprob": logprob, "top_logprobs": tops}


def text(item, tokens):
    content = [{"type": "output_text", "text": "".join(tokens), "annotations": [], "logprobs": [entry(token, -0.25) for token in tokens]}]
    return {"id": item, "type": "message", "role": "assistant", "status": "completed", "phase": "final_answer", "content": content}


def thought(item, summary, content=None):
    return {
        "id": item,
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": summary}] if summary else [],
        "content": [{"type": "reasoning_text", "text": content}] if content else None,
        "encrypted_content": "gAAAAA==",
    }


def called(item, call, arguments):
    return {"id": item, "type": "function_call", "call_id": call, "name": "calculator", "arguments": arguments, "status": "completed"}


def response(number, output, previous=None, **more):
    value = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1764000000 + number,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "metadata": {},
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": previous,
        "temperature": 1.0,
        "tool_choice": "auto",
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": {
            "input_tokens": 60 + 20 * number,
            "input_tokens_details": {"cached_tokens": 16 * (number - 1), "cache_write_tokens": 0},
            "output_tokens": 24,
            "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 84 + 20 * number,
        },
        **SETTINGS,
        **more,
    }
    return json.loads(Response.model_validate(value).model_dump_json())


def pair(number, given, output, previous=None, **more):
    request = {**SETTINGS, "input": given, **({"previous_response_id": previous} if previous else {})}
    return {"request": request, "response": response(number, output, previous, **more)}


QUESTION = "What is 25 * 17, and 3 * 4?"
CALLS = [
    thought("rs_1", "Two products are needed."),
    called("fc_1", "call_1", '{"expression": "25 * 17"}'),
    called("fc_2", "call_2", '{"expression": "3 * 4"}'),
]
RESULTS = [
    {"type": "function_call_output", "call_id": "call_1", "output": "425"},
    {"type": "function_call_output", "call_id": "call_2", "output": "12"},
]
ANSWER = [thought("rs_2", "", "Both are known."), text("msg_2", ["425", " and", " 12", "."])]
MORE = [{"role": "user", "content": [{"type": "input_text", "text": "Add them."}]}]
CUT = [text("msg_3", ["The", " sum"])]
LENGTH = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
FAILURE = {"status": "failed", "error": {"code": "server_error", "message": "The model could not be loaded."}, "usage": None}

# The server keeps the history: each request has only what is new.
lines(
    "openai-responses-api.jsonl",
    [
        pair(1, QUESTION, CALLS),
        pair(2, RESULTS, ANSWER, "resp_1"),
        pair(3, MORE, CUT, "resp_2", **LENGTH),
        pair(4, MORE, [], "resp_2", **FAILURE),
    ],
)
# The client keeps the history, as the list of items that the Agents SDK returns (to_input_list).
ITEMS = [
    {"role": "user", "content": QUESTION},
    *[ResponseReasoningItem.model_validate(CALLS[0]).model_dump(exclude_unset=True)],
    *[ResponseFunctionToolCall.model_validate(call).model_dump(exclude_unset=True) for call in CALLS[1:]],
    *RESULTS,
    ResponseOutputMessage.model_validate(ANSWER[1]).model_dump(exclude_unset=True),
]
(FOREIGN / "openai-items.json").write_text(json.dumps(ITEMS) + "\n")

EVENT = TypeAdapter(ResponseStreamEvent)


def item_events(index, item):
    """Yields the events of an item of a reply, without their numbers."""
    at = {"item_id": item["id"], "output_index": index}
    empty = {"reasoning": {"summary": []}, "function_call": {"arguments": ""}, "message": {"content": []}}[item["type"]]
    yield {"type": "response.output_item.added", "output_index": index, "item": {**item, **empty, "status": "in_progress"}}
    for part, summary in enumerate(item.get("summary", [])):
        place = {**at, "summary_index": part}
        yield {"type": "response.reasoning_summary_part.added", **place, "part": {**summary, "text": ""}}
        for word in summary["text"].split(" "):
            yield {"type": "response.reasoning_summary_text.delta", **place, "delta": word if word is summary["text"] else f"{word} "}
        yield {"type": "response.reasoning_summary_text.done", **place, "text": summary["text"]}
        yield {"type": "response.reasoning_summary_part.done", **place, "part": summary}
    if item["type"] == "function_call":
        for start in range(0, len(item["arguments"]), 9):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"][start : start + 9]}
        yield {"type": "response.function_call_arguments.done", **at, "name": item["name"], "arguments": item["arguments"]}
    for part, block in enumerate(item["content"] if item["type"] == "message" else []):
        place = {**at, "content_index": part}
        yield {"type": "response.content_part.added", **place, "part": {**block, "text": "", "logprobs": []}}
        for token in block["logprobs"]:
            yield {"type": "response.output_text.delta", **place, "delta": token["token"], "logprobs": [token]}
        yield {"type": "response.output_text.done", **place, "text": block["text"], "logprobs": block["logprobs"]}
        yield {"type": "response.content_part.done", **place, "part": block}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def stream_events(whole):
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    parts = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        *(event for index, item in enumerate(whole["output"]) for event in item_events(index, item)),
        {"type": "response.completed", "response": whole},
    ]
    return [json.loads(EVENT.validate_python({**part, "sequence_number": number}).model_dump_json()) for number, part in enumerate(parts)]


STREAMS = [stream_events(response(1, CALLS)), stream_events(response(2, ANSWER[1:]))]
# The connection of the second stream broke in its text.
STREAMS[1] = STREAMS[1][: next(i for i, event in enumerate(STREAMS[1]) if event.get("delta") == " 12") + 1]
lines("openai-responses-events.jsonl", [event for stream in STREAMS for event in stream])

CHAT_TOOL = {"type": "function", "function": {key: TOOL[key] for key in ("name", "description", "parameters")}}
MESSAGES = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": "What is 25 * 17?"}]


def chat(number, choices, **more):
    value = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1764000000, "model": "gpt-5-mini", "choices": choices, **more}
    return json.loads(ChatCompletion.model_validate(value).model_dump_json())


def choice(index, message, reason, tokens=()):
    logprobs = {"content": [entry(token, -0.5) for token in tokens], "refusal": None} if tokens else None
    return {"index": index, "message": {"role": "assistant", "refusal": None, **message}, "finish_reason": reason, "logprobs": logprobs}


def batch_request(name, url, body):
    return {"custom_id": name, "method": "POST", "url": url, "body": body}


def batch_reply(number, name, body, status=200):
    return {
        "id": f"batch_req_{number}",
        "custom_id": name,
        "response": {"status_code": status, "request_id": f"req_{number}", "body": body},
        "error": None,
    }


USAGE = {"prompt_tokens": 64, "completion_tokens": 20, "total_tokens": 84, "prompt_tokens_details": {"cached_tokens": 32}}
CALL = {"content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}]}
REFUSED = {"error": {"message": "Unsupported value: 'temperature' does not support 3.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}
EXPIRED = {"code": "batch_expired", "message": "This request could not be executed before the completion window expired."}
BATCH_INPUT = [
    batch_request("task-1", "/v1/chat/completions", {"model": "gpt-5-mini", "messages": MESSAGES, "tools": [CHAT_TOOL]}),
    batch_request("task-2", "/v1/chat/completions", {"model": "gpt-5-mini", "messages": MESSAGES[1:], "n": 2, "logprobs": True}),
    batch_request("task-3", "/v1/responses", {**SETTINGS, "input": QUESTION}),
    batch_request("task-4", "/v1/chat/completions", {"model": "gpt-5-mini", "messages": MESSAGES[1:], "temperature": 3}),
    batch_request("task-5", "/v1/chat/completions", {"model": "gpt-5-mini", "messages": MESSAGES[1:]}),
]
# The lines of the output are in another order than those of the input.
BATCH_OUTPUT = [
    batch_reply(2, "task-2", chat(2, [choice(0, {"content": "425"}, "stop", ["425"]), choice(1, {"content": "It is"}, "length", ["It", " is"])], usage=USAGE)),
    batch_reply(1, "task-1", chat(1, [choice(0, CALL, "tool_calls")], usage=USAGE)),
    batch_reply(3, "task-3", response(1, CALLS)),
    batch_reply(4, "task-4", REFUSED, 400),
    {"id": "batch_req_5", "custom_id": "task-5", "response": None, "error": EXPIRED},
]
lines("openai-batch-input.jsonl", BATCH_INPUT)
lines("openai-batch-output.jsonl", BATCH_OUTPUT)


def reply_of(value):
    """Returns what a reply has, as the classes of the package read it."""
    if value.get("object") == "response":
        read = Response.construct(**value)
        return {
            "text": read.output_text,
            "reasoning": [part.text for item in read.output if item.type == "reasoning" for part in item.content or item.summary],
            "calls": [[item.call_id, item.name, item.arguments] for item in read.output if item.type == "function_call"],
            "prompt": read.usage and read.usage.input_tokens,
            "completion": read.usage and read.usage.output_tokens,
            "cached": read.usage and read.usage.input_tokens_details.cached_tokens,
        }
    read = ChatCompletion.construct(**value)
    return {
        "texts": [one.message.content or "" for one in read.choices],
        "calls": [[call.id, call.function.name, call.function.arguments] for call in read.choices[0].message.tool_calls or []],
        "prompt": read.usage.prompt_tokens,
        "completion": read.usage.completion_tokens,
        "cached": read.usage.prompt_tokens_details.cached_tokens,
    }


def read(name):
    return [json.loads(line) for line in (FOREIGN / name).read_text().splitlines()]


def streamed(events):
    """Returns what the client has of a stream after each of its events."""
    state = ResponseStreamState(input_tools=[TOOL], text_format=omit)
    for event in events:
        read = state.handle_event(EVENT.validate_python(event))
        snapshot = getattr(read[-1], "response", None) if read else None
    return reply_of((snapshot or state._ResponseStreamState__current_snapshot).model_dump(warnings=False))


def streams(events):
    starts = [number for number, event in enumerate(events) if event["type"] == "response.created"]
    return [events[start:end] for start, end in zip(starts, [*starts[1:], len(events)])]


made = {
    "streams": [streamed(stream) for stream in streams(read("openai-responses-events.jsonl"))],
    "responses": [reply_of(line["response"]) for line in read("openai-responses-api.jsonl")],
    "batch": {
        line["custom_id"]: reply_of(line["response"]["body"])
        for line in read("openai-batch-output.jsonl")
        if line["response"] and line["response"]["status_code"] == 200
    },
}
Path("lib/formats/golden/openai.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
