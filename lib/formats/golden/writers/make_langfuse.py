"""Writes observations of Langfuse in foreign/: the spans that its client records, and the same as the classes of its interface.

    pip install langfuse==5.0.4 openai==3.57.0
    python lib/formats/golden/writers/make_langfuse.py

Run in the root of the repository. lib/formats/traces/observations.test.ts reads the files. A server with scripted replies answers two calls.
"""
import json
from datetime import datetime, timezone
from pathlib import Path

import httpx
from langfuse import Langfuse
from langfuse.api import ObservationV2
from langfuse.openai import OpenAI
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

FOREIGN = Path("lib/formats/golden/foreign")
CALL = {"id": "call_1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "25 * 17"}'}}
TOOLS = [{"type": "function", "function": {"name": "calculator", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}}}}]
REPLIES = iter([({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool_calls"), ({"role": "assistant", "content": "425."}, "stop")])


def reply(request):
    message, reason = next(REPLIES)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
    return httpx.Response(200, json={"id": "chatcmpl-1", "object": "chat.completion", "created": 1796000000, "model": "tiny-qwen3", "choices": [choice], "usage": usage})


exporter = InMemorySpanExporter()
client = Langfuse(public_key="none", secret_key="none", base_url="http://server", span_exporter=exporter)
model = OpenAI(base_url="http://server/v1", api_key="none", http_client=httpx.Client(transport=httpx.MockTransport(reply)))
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 25 * 17?"}]
with client.start_as_current_observation(name="agent", as_type="agent"):
    model.chat.completions.create(model="tiny-qwen3", messages=messages, tools=TOOLS, temperature=0.5)
    messages += [{"role": "assistant", "content": None, "tool_calls": [CALL]}, {"role": "tool", "tool_call_id": "call_1", "content": "425"}]
    model.chat.completions.create(model="tiny-qwen3", messages=messages, tools=TOOLS, temperature=0.5)
client.flush()
spans = exporter.get_finished_spans()
(FOREIGN / "langfuse-spans.jsonl").write_text("".join(span.to_json(indent=None) + "\n" for span in spans))


def observation(span):
    """The fields that the server takes from the attributes of a span."""
    kept = {key.removeprefix("langfuse.observation."): value for key, value in span.attributes.items()}
    values = {key: json.loads(kept[key]) for key in ("input", "output", "usage_details") if key in kept}
    start, end = (datetime.fromtimestamp(time / 1e9, timezone.utc) for time in (span.start_time, span.end_time))
    more = {"model": kept.get("model.name"), "model_parameters": json.loads(kept.get("model.parameters", "null"))}
    usage = {key: count for key, count in values.pop("usage_details", {}).items() if count is not None}
    ids = {"id": f"{span.context.span_id:x}", "trace_id": f"{span.context.trace_id:x}", "project_id": "p"}
    return ObservationV2(**ids, **values, **more, usage_details=usage, type=kept["type"].upper(), name=span.name, start_time=start, end_time=end)


(FOREIGN / "langfuse-observations.jsonl").write_text("".join(observation(span).model_dump_json() + "\n" for span in spans))
