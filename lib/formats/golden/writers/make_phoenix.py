"""Writes spans of Phoenix in foreign/: those that its client returns, and its data frame as JSON lines and Parquet.

    pip install arize-phoenix==20.26.1 arize-phoenix-client==3.5.0 arize-phoenix-otel==0.17.2 openinference-instrumentation-openai==0.1.66
    PHOENIX_WORKING_DIR=$(mktemp -d) phoenix serve
    python lib/formats/golden/writers/make_phoenix.py

Run in the root of the repository. PHOENIX_COLLECTOR_ENDPOINT is the address of the server. lib/formats/traces/observations.test.ts reads the
files. A model with scripted replies in the layout of vLLM answers two calls.
"""
import json
import os
import time
from pathlib import Path

import httpx
import openai
from openinference.instrumentation.openai import OpenAIInstrumentor
from phoenix.client import Client
from phoenix.otel import register

FOREIGN = Path("lib/formats/golden/foreign")
SERVER = os.environ.get("PHOENIX_COLLECTOR_ENDPOINT", "http://127.0.0.1:6006")
CALL = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}
TOOLS = [{"type": "function", "function": {"name": "calculator", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}}}]
REPLIES = iter(
    [
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool_calls", [1, 2, 3], [4, 5]),
        ({"role": "assistant", "content": "425."}, "stop", [1, 2, 3, 4, 5, 6], [7, 8]),
    ]
)


def reply(request):
    message, reason, prompt, ids = next(REPLIES)
    content = [{"token": "x", "logprob": -0.5, "bytes": [120], "top_logprobs": []} for _ in ids]
    choice = {"index": 0, "message": message, "finish_reason": reason, "token_ids": ids, "logprobs": {"content": content}}
    usage = {"prompt_tokens": len(prompt), "completion_tokens": len(ids), "total_tokens": len(prompt) + len(ids)}
    more = {"choices": [choice], "usage": usage, "prompt_token_ids": prompt}
    return httpx.Response(200, json={"id": "chatcmpl-1", "object": "chat.completion", "created": 1796000000, "model": "tiny-qwen3", **more})


provider = register(endpoint=f"{SERVER}/v1/traces", project_name="golden", batch=False, verbose=False)
OpenAIInstrumentor().instrument(tracer_provider=provider)
model = openai.OpenAI(base_url="http://server/v1", api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(reply)))
messages = [{"role": "user", "content": "What is 25 * 17?"}]
with provider.get_tracer("agent").start_as_current_span("agent", attributes={"openinference.span.kind": "AGENT"}):
    model.chat.completions.create(model="tiny-qwen3", messages=messages, tools=TOOLS, temperature=0.5, logprobs=True)
    messages += [{"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1", "content": "425"}]
    model.chat.completions.create(model="tiny-qwen3", messages=messages, tools=TOOLS, temperature=0.5, logprobs=True)
provider.force_flush()
spans = Client(base_url=SERVER).spans
# The server stores what it receives within seconds.
time.sleep(10)
found = spans.get_spans(project_identifier="golden")
(FOREIGN / "phoenix-spans.jsonl").write_text("".join(json.dumps(span) + "\n" for span in found))
frame = spans.get_spans_dataframe(project_identifier="golden")
frame.to_json(FOREIGN / "phoenix-frame.jsonl", orient="records", lines=True, date_format="iso")
frame.to_parquet(FOREIGN / "phoenix-frame.parquet")
