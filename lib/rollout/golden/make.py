"""Writes golden.json: the requests and records of strands-sglang 0.6.2 in the scenarios of scenarios.json.

    pip install strands-sglang==0.6.2 strands-agents==1.62.0 transformers==5.23.0
    python lib/rollout/golden/make.py

Run in the root of the repository after npm install; with "-" as its argument it only prints the result. A server of this script answers
/generate with the scenario's replies; the agent, its loop and its tools are the real ones. golden.test.ts plays the same scenarios
through lib/rollout.
"""
import asyncio
import json
import logging
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path

from strands import Agent, ModelRetryStrategy
from strands.tools import PythonAgentTool
from strands_sglang import LoopLimiter, SGLangClient, SGLangModel, get_tool_parser
from transformers import PreTrainedTokenizerFast

HERE = Path("lib/rollout/golden")
SCRIPT = json.loads((HERE / "scenarios.json").read_text())
# Rollscope's number of attempts for one call. The default of strands-sglang is 61 attempts, one per second.
MAX_RETRIES = 3


def tokenizer_of(entry):
    folder = Path(entry["folder"])
    config = json.loads((folder / "tokenizer_config.json").read_text())
    content = lambda token: token["content"] if isinstance(token, dict) else token
    special = {name: content(config[name]) for name in ("bos_token", "eos_token") if config.get(name)}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **special)
    if "addedTokens" in entry:
        tokenizer.add_special_tokens({"additional_special_tokens": entry["addedTokens"]})
    template = (HERE / "templates" / entry["template"]).read_text() if "template" in entry else config["chat_template"]
    tokenizer.chat_template = entry.get("templatePrefix", "") + template
    return tokenizer


def numerator(token_id, index):
    """Returns n of the logprob -n/512, which is exact in binary and depends on the token and its index."""
    return (token_id * 31 + index * 7) % 2000 + 1


def reply_of(script, request, tokenizer, stop):
    """Returns status, content type and body for one entry of a scenario's replies."""
    if isinstance(script, str):
        script = {"pieces": [script]}
    if "status" in script:
        return script["status"], json.dumps(script["body"])
    if "raw" in script:
        return 200, script["raw"]
    ids = [token for piece in script["pieces"] for token in tokenizer.encode(piece, add_special_tokens=False)]
    ids = ids[: len(ids) - script.get("dropped", 0)]
    finish = {"type": script.get("finish", "stop")}
    text_ids = ids
    if finish["type"] == "length":
        finish["length"] = len(ids)
    if finish["type"] == "stop" and "stopString" not in script:
        ids = ids + tokenizer.encode(script.get("stop", stop), add_special_tokens=False)
        finish["matched"] = ids[-1]
    text = tokenizer.decode(text_ids, skip_special_tokens=False)
    if "stopString" in script:
        finish["matched"] = script["stopString"]
        text = text[: text.index(script["stopString"])]
    sent = request["input_ids"]
    start = request["logprob_start_len"]
    entry = lambda token, index: [-numerator(token, index) / 512, token, None]
    meta = {
        "id": "x", "finish_reason": finish, "prompt_tokens": len(sent), "completion_tokens": len(ids), "cached_tokens": start, "e2e_latency": 0.25,
        "input_token_logprobs": [[None, sent[start], None]] + [entry(token, start + 1 + i) for i, token in enumerate(sent[start + 1:])],
        "output_token_logprobs": [entry(token, len(sent) + i) for i, token in enumerate(ids)],
    }
    for key in script.get("without", []):
        del meta[key]
    return 200, json.dumps({"text": text, "output_ids": ids, "meta_info": meta})


class Server:
    """Answers with the current scenario's replies and keeps the requests."""

    def play(self, scenario, tokenizer, stop):
        self.models = {"data": [{"max_model_len": scenario["contextLength"]}] if "contextLength" in scenario else []}
        self.replies, self.tokenizer, self.stop, self.requests = list(scenario["replies"]), tokenizer, stop, []

    def answer(self, request):
        script = self.replies.pop(0) if self.replies else {"status": 404, "body": {"error": {"message": "the script has no more replies"}}}
        status, body = reply_of(script, request, self.tokenizer, self.stop)
        self.requests.append((request, status))
        return status, body


def serve(server):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send(200, json.dumps(server.models if self.path == "/v1/models" else {"has_image_understanding": False}))

        def do_POST(self):
            self.send(*server.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

        def send(self, status, body):
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{http.server_port}"


def tool_of(name, runs):
    definition = SCRIPT["tools"][name]

    async def run(tool_use, **_):
        given = tool_use["input"]
        runs.append([name, given])
        await asyncio.sleep(given.get("delayMs", 0) / 1000)
        if "raises" in definition:
            raise ValueError(definition["raises"])
        text = re.sub(r"\{(\w+)\}", lambda match: str(given.get(match[1], "")), definition["returns"])
        return {"toolUseId": tool_use["toolUseId"], "status": "success", "content": [{"text": text}]}

    spec = {"name": name, "description": definition["description"], "inputSchema": {"json": definition["inputSchema"]}}
    return PythonAgentTool(name, spec, run)


LIMITS = {"maxToolIterations": "max_tool_iters", "maxToolCalls": "max_tool_calls", "maxParallelToolCalls": "max_parallel_tool_calls", "maxMessages": "max_messages"}


async def play(scenario, server, url, tokenizer):
    stop = SCRIPT["tokenizers"][scenario["tokenizer"]]["stop"]
    server.play(scenario, tokenizer, stop)
    client = SGLangClient(url, max_retries=MAX_RETRIES, retry_delay=0)
    limits = scenario.get("limits", {})
    config = {"enable_thinking": scenario["thinking"]} if "thinking" in scenario else {}
    if "contextWindow" in limits:
        config["context_window_limit"] = limits["contextWindow"]
    model = SGLangModel(
        client=client, tokenizer=tokenizer, tool_parser=get_tool_parser(scenario.get("parser", "hermes")),
        sampling_params=scenario.get("sampling", {"temperature": 1, "max_new_tokens": 500}), **config,
    )
    runs = []
    # Only one attempt: strands would repeat a call that the client has aborted, after a wait of four seconds or more.
    agent = Agent(
        model=model, tools=[tool_of(name, runs) for name in scenario.get("tools", [])], system_prompt=scenario.get("system"), callback_handler=None,
        messages=[{"role": m["role"], "content": [{"text": m["content"]}]} for m in scenario.get("history", [])],
        hooks=[LoopLimiter(**{LIMITS[name]: value for name, value in limits.items() if name in LIMITS})],
        retry_strategy=ModelRetryStrategy(max_attempts=1),
    )
    outcomes = []
    for question in scenario["questions"]:
        blocks = [{"text": part} for part in ([question] if isinstance(question, str) else question)]
        try:
            outcomes.append((await agent.invoke_async(blocks)).stop_reason)
        except Exception as error:  # Whatever it is, it is what the user of the package gets.
            cause = getattr(error, "original_exception", error)
            outcomes.append(" ".join([type(cause).__name__, *([str(cause.status)] if hasattr(cause, "status") else [])]))
    await client.close()
    rollout = model.rollout
    assert rollout.loss_mask == [int(is_output) for is_output, length in rollout.segment_info for _ in range(length)]
    return {
        "requests": [compact(request, status, rollout.token_ids) for request, status in server.requests],
        "samplingParams": server.requests[0][0]["sampling_params"] if server.requests else None,
        "tokenIds": rollout.token_ids,
        "lossMask": run_lengths(rollout.loss_mask),
        "logprobs": [None if value is None else round(-value * 512) for value in rollout.logprobs],
        "segments": [[int(is_output), length] for is_output, length in rollout.segment_info],
        "toolRuns": runs,
        "outcomes": outcomes,
    }


def compact(request, status, recorded):
    """Returns the sent ids as the number of recorded ids that they begin with, and the remaining ids."""
    ids = request["input_ids"]
    kept = next((i for i, (a, b) in enumerate(zip(ids, recorded)) if a != b), min(len(ids), len(recorded)))
    return {"kept": kept, "more": ids[kept:], "logprobStartLen": request["logprob_start_len"], "maxNewTokens": request["sampling_params"].get("max_new_tokens"), "status": status}


def run_lengths(bits):
    runs = []
    for bit in bits:
        if runs and runs[-1][0] == bit:
            runs[-1][1] += 1
        else:
            runs.append([bit, 1])
    return runs


async def main():
    logging.disable(logging.ERROR)
    server = Server()
    url = serve(server)
    tokenizers = {name: tokenizer_of(entry) for name, entry in SCRIPT["tokenizers"].items()}
    golden = {}
    for scenario in SCRIPT["scenarios"]:
        golden[scenario["name"]] = await play(scenario, server, url, tokenizers[scenario["tokenizer"]])
    made_with = ", ".join(f"{name} {version(name)}" for name in ("strands-sglang", "strands-agents", "transformers", "tokenizers"))
    lines = ",\n".join(f"{json.dumps(name, ensure_ascii=False)}:{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}" for name, value in golden.items())
    text = f'{{"made with":{json.dumps(made_with)},"scenarios":{{\n{lines}\n}}}}\n'
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(text)
    else:
        (HERE / "golden.json").write_text(text)


asyncio.run(main())
