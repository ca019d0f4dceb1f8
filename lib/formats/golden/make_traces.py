"""Writes traces.json: ids, logprobs, rewards and messages of the traces and text files in foreign/, as Python reads them.

    pip install inspect_ai==0.3.285 pyarrow
    python lib/formats/golden/make_traces.py

Run in the root of the repository. lib/formats/traces/files.test.ts and lib/formats/conversations/files.test.ts compare lib/formats
with the file. Inspect's own reader reads its logs; the other files are JSON or Parquet.
"""
import json
from pathlib import Path

import pyarrow.parquet as parquet
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import value_to_float

FOREIGN = Path("lib/formats/golden/foreign")


def turn(prompt, ids, logprobs):
    return {"prompt": prompt, "ids": ids, "logprobs": logprobs}


def chat_turn(reply):
    choice = reply["choices"][0]
    prompt = reply.get("prompt_token_ids") or choice["prompt_token_ids"]
    ids = choice["token_ids"] if "token_ids" in choice else choice["response_token_ids"]
    return turn(prompt, ids, [entry["logprob"] for entry in choice["logprobs"]["content"]])


def inspect(name):
    runs = []
    for sample in read_eval_log(str(FOREIGN / name), resolve_attachments=True).samples:
        replies = [event.call.response for event in sample.events if event.event == "model"]
        score = next(iter(sample.scores.values()))
        runs.append(
            {
                "id": str(sample.id),
                "epoch": sample.epoch,
                "reward": value_to_float()(score.value),
                "roles": [message.role for message in sample.messages],
                "texts": [message.text for message in sample.messages],
                "turns": [chat_turn(reply) for reply in replies if "choices" in reply],
            }
        )
    return runs


def agent_lightning():
    events = json.loads((FOREIGN / "agent-lightning-events.json").read_text())
    turns = [chat_turn(event["data"]["response"]) for event in events if event["event_type"] == "model_request"]
    return [{"reward": [event["data"]["value"] for event in events if event["event_type"] == "reward"][-1], "turns": turns}]


def otlp():
    trace = json.loads((FOREIGN / "otlp-openinference.json").read_text())
    spans = [span for part in trace["resourceSpans"] for scope in part["scopeSpans"] for span in scope["spans"]]
    turns = []
    for span in sorted(spans, key=lambda span: int(span["startTimeUnixNano"])):
        values = {entry["key"]: entry["value"].get("stringValue") for entry in span.get("attributes", [])}
        if values.get("openinference.span.kind") == "LLM":
            turns.append(chat_turn(json.loads(values["output.value"])))
    return [{"turns": turns}]


def mlflow():
    spans = json.loads((FOREIGN / "mlflow-trace.json").read_text())["data"]["spans"]
    models = [span for span in spans if json.loads(span["attributes"]["mlflow.spanType"]) == "CHAT_MODEL"]
    return [{"turns": [chat_turn(json.loads(span["attributes"]["mlflow.spanOutputs"])) for span in models]}]


def rows(name):
    return parquet.read_table(FOREIGN / name).to_pylist()


def lines(name):
    return [json.loads(line) for line in (FOREIGN / name).read_text().splitlines()]


made = {
    "inspect": {name: inspect(name) for name in ("inspect-mockllm.eval", "inspect-server.eval")},
    "agent-lightning-events.json": agent_lightning(),
    "otlp-openinference.json": otlp(),
    "mlflow-trace.json": mlflow(),
    "rows": {name: rows(name) for name in ("trl-completions.parquet", "hf-messages.parquet")},
    "scores": {
        "verl-3.jsonl": [row["score"] for row in lines("verl-3.jsonl")],
    },
}
Path("lib/formats/golden/traces.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
