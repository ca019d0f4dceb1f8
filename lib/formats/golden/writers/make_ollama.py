"""Writes replies of Ollama in foreign/, and ollama.json: what the classes of its package read in them.

    pip install ollama==0.6.3
    python lib/formats/golden/writers/make_ollama.py

Run in the root of the repository. lib/formats/conversations/ollama.test.ts compares lib/formats with the file.
"""
import json
from pathlib import Path

from ollama import ChatResponse, GenerateResponse

FOREIGN = Path("lib/formats/golden/foreign")
TOOL = {"type": "function", "function": {"name": "calculator", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}}}
QUESTION = [{"role": "system", "content": "Use the calculator."}, {"role": "user", "content": "What is 25 * 17?"}]
CALL = {"function": {"name": "calculator", "arguments": {"expression": "25 * 17"}}}
ENDED = {
    "done": True,
    "total_duration": 4883583458,
    "load_duration": 1334875,
    "prompt_eval_count": 26,
    "prompt_eval_duration": 342546000,
    "eval_count": 12,
    "eval_duration": 4535599000,
}


def chat(message, **more):
    value = {"model": "qwen3", "created_at": "2026-11-30T01:00:00.123456789Z", "done": False, "message": {"role": "assistant", "content": "", **message}, **more}
    return json.loads(ChatResponse(**value).model_dump_json(exclude_none=True))


def generated(text, **more):
    value = {"model": "qwen3", "created_at": "2026-11-30T01:00:00.123456789Z", "done": False, "response": text, **more}
    return json.loads(GenerateResponse(**value).model_dump_json(exclude_none=True))


first = chat({"thinking": "A product is needed.", "tool_calls": [CALL]}, done_reason="stop", **ENDED)
request = {"model": "qwen3", "messages": QUESTION, "tools": [TOOL], "options": {"temperature": 0.5}, "stream": False}
results = [*QUESTION, first["message"], {"role": "tool", "tool_name": "calculator", "content": "425"}]
logprobs = [{"token": token, "logprob": -0.25, "top_logprobs": [{"token": token, "logprob": -0.25}]} for token in ("425", ".")]
second = chat({"content": "425."}, done_reason="length", logprobs=logprobs, **ENDED)
pairs = [{"request": request, "response": first}, {"request": {**request, "messages": results}, "response": second}]
(FOREIGN / "ollama.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
chunks = [
    chat({"thinking": "A pro"}),
    chat({"thinking": "duct."}),
    chat({"content": "Let me "}),
    chat({"content": "see."}),
    chat({"tool_calls": [CALL]}),
    chat({}, done_reason="stop", **ENDED),
    generated("25 * 17 "),
    generated("is 425.", done_reason="stop", context=[1, 2, 3], **ENDED),
]
(FOREIGN / "ollama-stream.jsonl").write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks))


def read(name):
    return [json.loads(line) for line in (FOREIGN / name).read_text().splitlines()]


def joined(values):
    replies = [(GenerateResponse if "response" in value else ChatResponse)(**value) for value in values]
    messages = [reply.message if isinstance(reply, ChatResponse) else None for reply in replies]
    return {
        "text": "".join(message.content or "" if message else reply.response for message, reply in zip(messages, replies)),
        "thinking": "".join(message.thinking or "" for message in messages if message),
        "calls": [[call.function.name, call.function.arguments] for message in messages if message for call in message.tool_calls or []],
        "prompt": replies[-1].prompt_eval_count,
        "completion": replies[-1].eval_count,
    }


streamed = read("ollama-stream.jsonl")
made = {"replies": [joined([pair["response"]]) for pair in read("ollama.jsonl")], "streams": [joined(streamed[:6]), joined(streamed[6:])]}
Path("lib/formats/golden/ollama.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
