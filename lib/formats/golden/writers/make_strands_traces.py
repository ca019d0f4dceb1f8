"""Writes traces of Strands Agents in foreign/, and strands-traces.json: the messages of the agent.

    pip install strands-agents==1.62.0 opentelemetry-exporter-otlp-proto-common==1.45.2
    python lib/formats/golden/writers/make_strands_traces.py
    OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental python lib/formats/golden/writers/make_strands_traces.py

Run in the root of the repository. lib/formats/traces/traces.test.ts compares lib/formats with the files. The first run writes an event for
each message, and the same spans as the SDK prints them; the second run writes events with all messages. The file exporter of the collector
writes ids as hexadecimal numbers.
"""
import base64
import json
import os
from pathlib import Path

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from strands import Agent, tool
from strands.models import Model

FOREIGN = Path("lib/formats/golden/foreign")
latest = "gen_ai_latest_experimental" in os.environ.get("OTEL_SEMCONV_STABILITY_OPT_IN", "")
exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
trace.set_tracer_provider(provider)


class Scripted(Model):
    """A model that gives these blocks, one list for each call."""

    def __init__(self, *replies):
        self.replies = list(replies)

    def update_config(self, **config):
        pass

    def get_config(self):
        return {"model_id": "scripted"}

    async def structured_output(self, *args, **kwargs):
        raise NotImplementedError

    async def stream(self, *args, **kwargs):
        blocks = self.replies.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            called = block.get("toolUse")
            if called:
                yield {"contentBlockStart": {"start": {"toolUse": {"name": called["name"], "toolUseId": called["toolUseId"]}}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(called["input"])}}}}
            elif "reasoning" in block:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"reasoningContent": {"text": block["reasoning"]}}}}
            else:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": block["text"]}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if any("toolUse" in block for block in blocks) else "end_turn"}}
        yield {"metadata": {"usage": {"inputTokens": 20, "outputTokens": 8, "totalTokens": 28}, "metrics": {"latencyMs": 5}}}


@tool
def calculator(expression: str) -> str:
    """Calculate an arithmetic expression."""
    left, right = expression.split(" * ")
    return str(int(left) * int(right))


call = {"toolUse": {"name": "calculator", "toolUseId": "call_1", "input": {"expression": "25 * 17"}}}
model = Scripted([{"reasoning": "A product is needed."}, {"text": "Let me calculate."}, call], [{"text": "25 * 17 is 425."}])
agent = Agent(model=model, tools=[calculator], system_prompt="Use the calculator.", callback_handler=None)
agent("What is 25 * 17?")


def hexadecimal(value):
    if isinstance(value, list):
        return [hexadecimal(one) for one in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {key: base64.b64decode(one).hex() if key in ids else hexadecimal(one) for key, one in value.items()}


name = "strands-latest.json" if latest else "strands-events.json"
written = hexadecimal(MessageToDict(encode_spans(exporter.get_finished_spans())))
(FOREIGN / name).write_text(json.dumps(written) + "\n")
if not latest:
    printed = [f"{span.to_json(indent=None)}\n" for span in exporter.get_finished_spans()]
    (FOREIGN / "strands-printed.jsonl").write_text("".join(printed))
Path("lib/formats/golden/strands-traces.json").write_text(json.dumps(agent.messages) + "\n")
