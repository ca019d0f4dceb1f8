"""Writes a database of rLLM's model gateway in foreign/, the same traces as JSON lines, and rllm.json: what its store returns of them.

    pip install rllm-model-gateway==0.1.0
    python lib/formats/golden/writers/make_rllm.py

Run in the root of the repository. lib/files/rllm-gateway.test.ts compares lib/formats with the files. Two sessions take turns; the
second call of each is streamed.
"""
import asyncio
import json
from pathlib import Path

from rllm_model_gateway.data_process import build_trace_record, build_trace_record_from_chunks
from rllm_model_gateway.store.sqlite_store import SqliteTraceStore

FOREIGN = Path("lib/formats/golden/foreign")
FILE = FOREIGN / "rllm-gateway.sqlite"
FILE.unlink(missing_ok=True)
SESSIONS = ["math:0", "math:1"]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "calculator",
            "description": "Calculate an arithmetic expression.",
            "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
        },
    }
]
QUESTION = {"role": "user", "content": "What is 25 * 17?"}
CALL = {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}


def request(messages, **more):
    return {"model": "tiny-qwen3", "messages": messages, "tools": TOOLS, "temperature": 0.7, "logprobs": True, "return_token_ids": True, **more}


def logprobs(tokens):
    return {"content": [{"token": text, "logprob": logprob, "bytes": list(text.encode()), "top_logprobs": []} for _, text, logprob in tokens]}


def whole(prompt, tokens, message):
    """A reply in the layout of vLLM."""
    choice = {"index": 0, "message": message, "logprobs": logprobs(tokens), "finish_reason": "tool_calls", "token_ids": [id for id, _, _ in tokens]}
    usage = {"prompt_tokens": len(prompt), "completion_tokens": len(tokens)}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1796000000, "model": "tiny-qwen3", "choices": [choice], "usage": usage, "prompt_token_ids": prompt}


def chunks(prompt, tokens, deltas):
    choices = [{"index": 0, "delta": delta, "logprobs": logprobs([token]), "token_ids": [token[0]]} for token, delta in zip(tokens, deltas)]
    choices[-1]["finish_reason"] = "stop"
    made = [{"object": "chat.completion.chunk", "model": "tiny-qwen3", "choices": [choice]} for choice in choices]
    made[0]["prompt_token_ids"] = prompt
    return [*made, {"object": "chat.completion.chunk", "choices": [], "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(tokens)}}]


def traces(session, number):
    prompt = [1, 2, 3]
    called = [(4, "call", -0.25), (5 + number, " calculator", -0.5)]
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": CALL}]}
    yield build_trace_record(session, request([QUESTION]), whole(prompt, called, message), 250.0, metadata={"sample": number})
    later = [*prompt, *(id for id, _, _ in called), 7, 8]
    answer = [(9, "425", -0.125), (10, ".", -1.5)]
    messages = [QUESTION, message, {"role": "tool", "tool_call_id": "call_1", "content": "425"}]
    deltas = [{"role": "assistant", "content": "425"}, {"content": "."}]
    yield build_trace_record_from_chunks(session, request(messages, stream=True), chunks(later, answer, deltas), 500.0)


async def main():
    store = SqliteTraceStore(str(FILE))
    turns = zip(*(traces(session, number) for number, session in enumerate(SESSIONS)))
    for index, trace in enumerate(trace for turn in turns for trace in turn):
        made = trace.model_copy(update={"trace_id": f"trace-{index}", "timestamp": 1796000000.0 + index})
        await store.store_trace(made.trace_id, made.session_id, made.model_dump())
    made = {session: await store.get_session_traces(session) for session in SESSIONS}
    await store._conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    await store.close()
    (FOREIGN / "rllm-gateway.jsonl").write_text("".join(json.dumps(trace) + "\n" for rows in made.values() for trace in rows))
    fields = ["prompt_token_ids", "completion_token_ids", "logprobs"]
    golden = {session: [{field: trace[field] for field in fields} for trace in rows] for session, rows in made.items()}
    Path("lib/formats/golden/rllm.json").write_text(json.dumps(golden, separators=(",", ":")) + "\n")


asyncio.run(main())
