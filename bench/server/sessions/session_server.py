"""A session server as trainers write them: `session_server.py PORT SGLANG TOKENIZER_FOLDER`. It keeps the ids of every conversation, renders and
encodes only the messages that are new, sends ids to SGLang's /generate, and answers chat completions. Everything is in memory."""

import json
import re
import sys
import time
import uuid
from pathlib import Path

import httpx
import uvicorn
from fastapi import FastAPI, Request
from transformers import PreTrainedTokenizerFast

PORT, SGLANG, FOLDER = int(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
config = json.loads((FOLDER / "tokenizer_config.json").read_text())
tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"), eos_token=config["eos_token"])
tokenizer.chat_template = config["chat_template"]
CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
BEFORE = [{"role": "user", "content": "-"}, {"role": "assistant", "content": "-"}]
BEFORE_END = "<|im_start|>assistant\n-<|im_end|>"
app = FastAPI()
client = httpx.AsyncClient(timeout=None, limits=httpx.Limits(max_connections=None, max_keepalive_connections=None))
sessions: dict[str, dict] = {}


def new_ids(session, messages, tools):
    """Returns the ids of the messages that the session does not have, with the generation prompt."""
    if not session["messages"]:
        text = tokenizer.apply_chat_template(messages, tools=tools, tokenize=False, add_generation_prompt=True)
    else:
        assert messages[: len(session["messages"])] == session["messages"], "the history has changed"
        added = messages[len(session["messages"]) :]
        text = tokenizer.apply_chat_template(BEFORE + added, tokenize=False, add_generation_prompt=True)
        text = text.partition(BEFORE_END)[2]
    return tokenizer.encode(text, add_special_tokens=False)


def message_of(ids):
    """Returns the message that the client gets for sampled ids."""
    thought, _, text = tokenizer.decode(ids, skip_special_tokens=True).rpartition("</think>")
    calls = [json.loads(call) for call in CALL.findall(text)]
    message = {"role": "assistant", "content": CALL.sub("", text).strip(), "reasoning_content": thought.removeprefix("<think>").strip()}
    functions = [{"name": call["name"], "arguments": json.dumps(call["arguments"])} for call in calls]
    called = [{"id": f"call_{uuid.uuid4().hex}", "type": "function", "function": function} for function in functions]
    return {**message, "tool_calls": called} if called else message


@app.post("/sessions/{name}/v1/chat/completions")
async def chat(name: str, request: Request):
    body = await request.json()
    session = sessions.setdefault(name, {"messages": [], "ids": [], "logprobs": [], "mask": [], "records": []})
    ids = session["ids"] + new_ids(session, body["messages"], body.get("tools"))
    sampling = {"temperature": body["temperature"], "max_new_tokens": body["max_tokens"], "no_stop_trim": True}
    sent = {"input_ids": ids, "sampling_params": sampling, "return_logprob": True}
    info = (await client.post(f"{SGLANG}/generate", json=sent)).json()["meta_info"]
    logprobs, sampled = zip(*((row[0], row[1]) for row in info["output_token_logprobs"]))
    prompt = len(ids) - len(session["ids"])
    message = message_of(sampled)
    usage = {"prompt_tokens": len(ids), "completion_tokens": len(sampled), "total_tokens": len(ids) + len(sampled)}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}
    answer = {"id": uuid.uuid4().hex, "object": "chat.completion", "created": int(time.time()), "model": body["model"], "usage": usage}
    session.update(messages=[*body["messages"], message], ids=[*ids, *sampled])
    session["logprobs"] += [None] * prompt + list(logprobs)
    session["mask"] += [0] * prompt + [1] * len(sampled)
    session["records"].append({"request": body, "response": {**answer, "choices": [{**choice, "meta_info": info}]}})
    return {**answer, "choices": [choice]}


@app.get("/sessions/{name}")
async def records(name: str):
    return {"session_id": name, "metadata": {"accumulated_token_ids": sessions[name]["ids"]}}


uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning", access_log=False, timeout_keep_alive=600)
