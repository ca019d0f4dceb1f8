"""Writes sessions of Claude Code, Codex CLI, Gemini CLI and opencode in foreign/, and coding-agents.json: what their server received and sent.

    npm install @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33   # in FOLDER
    python lib/formats/golden/writers/make_coding_agents.py FOLDER [PROGRAM…]

Run in the root of the repository. Each program runs once with a scripted server: its model calls the shell, and then answers. Texts that
the programs add to every session are cut. lib/formats/coding-agents/coding-agents.test.ts compares lib/formats with the files.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

FOREIGN = Path("lib/formats/golden/foreign")
BIN = Path(sys.argv[1]).resolve() / "node_modules/.bin"
QUESTION = "What is 25 * 17?"
COMMANDS = ["expr 25 '*' 17", "echo two"]
FOLDERS = [".", ".git"]
ANSWER = "The product is 425."
LONGEST = 300
requests = []


def anthropic(request, turn):
    blocks = [{"type": "thinking", "thinking": f"Thought {turn}.", "signature": "c2ln"}]
    if turn == 1:
        blocks += [{"type": "text", "text": "I run it."}]
        blocks += [{"type": "tool_use", "id": f"toolu_{n}", "name": "Bash", "input": {"command": c, "description": "Run"}} for n, c in enumerate(COMMANDS)]
    else:
        blocks += [{"type": "text", "text": ANSWER}]
    reason = {"stop_reason": "tool_use" if turn == 1 else "end_turn", "stop_sequence": None}
    usage = {"input_tokens": 20, "output_tokens": 11, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0}
    message = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": request["model"], "content": [], "stop_reason": None, "usage": usage}
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        deltas = {
            "thinking": lambda: ({"thinking": "", "signature": ""}, [{"type": "thinking_delta", "thinking": block["thinking"]}, {"type": "signature_delta", "signature": "c2ln"}]),
            "text": lambda: ({"text": ""}, [{"type": "text_delta", "text": block["text"]}]),
            "tool_use": lambda: ({"input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]),
        }
        start, parts = deltas[block["type"]]()
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **start}}
        for part in parts:
            yield {"type": "content_block_delta", "index": index, "delta": part}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 11}}
    yield {"type": "message_stop"}


def responses(request, turn):
    items = [{"type": "reasoning", "id": f"rs_{turn}", "summary": [{"type": "summary_text", "text": f"Thought {turn}."}], "encrypted_content": "ZW5j"}]
    if turn == 1:
        items += [{"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "exec_command", "arguments": json.dumps({"cmd": c}), "status": "completed"} for n, c in enumerate(COMMANDS)]
    else:
        items += [{"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}]
    usage = {"input_tokens": 20, "input_tokens_details": {"cached_tokens": 5}, "output_tokens": 11, "output_tokens_details": {"reasoning_tokens": 4}, "total_tokens": 31}
    response = {"id": f"resp_{turn}", "object": "response", "model": request["model"], "output": items, "usage": usage}
    yield {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": {**response, "status": "completed"}}


def gemini(request, turn):
    parts = [{"text": f"Thought {turn}.", "thought": True}]
    if turn == 1:
        parts += [{"text": "I run it."}, *({"functionCall": {"name": "list_directory", "args": {"dir_path": name}}} for name in FOLDERS)]
    else:
        parts += [{"text": ANSWER}]
    usage = {"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 4, "cachedContentTokenCount": 5, "totalTokenCount": 31}
    yield {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}


def completions(request, turn):
    delta = {"role": "assistant", "reasoning_content": f"Thought {turn}.", "content": ANSWER if turn == 2 else "I run it."}
    if turn == 1 and "tools" in request:
        delta["tool_calls"] = [{"index": n, "id": f"call_{n}", "type": "function", "function": {"name": "bash", "arguments": json.dumps({"command": c, "description": "Run"})}} for n, c in enumerate(COMMANDS)]
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
    yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if "tool_calls" in delta else "stop"}]}
    usage = {"prompt_tokens": 20, "completion_tokens": 11, "total_tokens": 31, "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 4}}
    yield {**chunk, "choices": [], "usage": usage}


class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.reply(b"{}", "application/json")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        events = {"messages": anthropic, "responses": responses, "completions": completions}.get(self.path.split("?")[0].split("/")[-1])
        if ":streamGenerateContent" in self.path:
            events = gemini
        if events is None:
            return self.reply(b'{"input_tokens": 20}', "application/json")
        requests.append(request)
        turn = 2 if any(word in json.dumps(request) for word in ('"tool_result"', '"function_call_output"', '"functionResponse"', '"role": "tool"')) else 1
        lines = [(f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events(request, turn)]
        return self.reply("".join(lines).encode(), "text/event-stream")

    def reply(self, body, kind):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
Thread(target=server.serve_forever, daemon=True).start()
ADDRESS = f"http://127.0.0.1:{server.server_port}"
HOME = Path(tempfile.mkdtemp())
PROJECT = HOME / "project"
PROJECT.mkdir()
(HOME / ".codex").mkdir()
(HOME / ".codex/config.toml").write_text(
    f'model = "gpt-5-codex"\nmodel_provider = "scripted"\n[model_providers.scripted]\nname = "scripted"\nbase_url = "{ADDRESS}/v1"\nwire_api = "responses"\nenv_key = "KEY"\n'
)
(HOME / ".config/opencode").mkdir(parents=True)
PROVIDER = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": f"{ADDRESS}/v1", "apiKey": "none"}, "models": {"scripted": {"name": "scripted"}}}
(HOME / ".config/opencode/opencode.json").write_text(json.dumps({"provider": {"scripted": PROVIDER}, "autoupdate": False, "share": "disabled"}))
(HOME / ".gemini").mkdir()
(HOME / ".gemini/settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false}}')
ENVIRONMENT = {
    "HOME": str(HOME),
    "PATH": os.environ["PATH"],
    "KEY": "none",
    "ANTHROPIC_BASE_URL": ADDRESS,
    "ANTHROPIC_API_KEY": "none",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "GEMINI_API_KEY": "none",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "GOOGLE_GEMINI_BASE_URL": ADDRESS,
}


def cut(value):
    """Returns the value with short texts, and the folder by another name."""
    if isinstance(value, dict):
        return {key: cut(one) for key, one in value.items()}
    if isinstance(value, list):
        return [cut(one) for one in value[:8]]
    if not isinstance(value, str):
        return value
    text = value.replace(str(HOME), "/home/user").replace(HOME.name, "user").replace(ADDRESS, "http://127.0.0.1:8000")
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"


def execute(command):
    return subprocess.run([str(BIN / command[0]), *command[1:]], cwd=PROJECT, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=True, timeout=300).stdout


def run(name, command, pattern):
    """Runs a program, and writes its session. Returns its last request."""
    requests.clear()
    execute(command)
    [path] = HOME.glob(pattern)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (FOREIGN / f"{name}.jsonl").write_text("".join(json.dumps(cut(line), ensure_ascii=False) + "\n" for line in lines))
    return requests[-1]


def claude_code():
    last = run("claude-code", ["claude", "-p", QUESTION, "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"], ".claude/projects/*/*.jsonl")
    blocks = [block for message in last["messages"] if isinstance(message["content"], list) for block in message["content"]]
    return {
        "calls": [[block["id"], block["name"], block["input"]] for block in blocks if block["type"] == "tool_use"],
        "results": {block["tool_use_id"]: block["content"] for block in blocks if block["type"] == "tool_result"},
    }


def codex_cli():
    last = run("codex", ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", QUESTION], ".codex/sessions/*/*/*/*.jsonl")
    return {
        "calls": [[item["call_id"], item["name"], json.loads(item["arguments"])] for item in last["input"] if item["type"] == "function_call"],
        "results": {item["call_id"]: item["output"] for item in last["input"] if item["type"] == "function_call_output"},
    }


def gemini_cli():
    last = run("gemini-cli", ["gemini", "-m", "gemini-2.5-flash", "--yolo", "-p", QUESTION], ".gemini/tmp/*/chats/*.jsonl")
    parts = [part for content in last["contents"] for part in content["parts"]]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    return {
        # Its file has the name before the id of each call.
        "calls": [[f"{call['name']}__{call['id']}", call["name"], call["args"]] for call in calls],
        "results": {f"{result['name']}__{result['id']}": cut(result["response"].get("output") or result["response"].get("error")) for result in results},
    }


def opencode():
    requests.clear()
    execute(["opencode", "run", "-m", "scripted/scripted", QUESTION])
    [last] = [request for request in requests if request["messages"][-1]["role"] == "tool"]
    [[session]] = sqlite3.connect(HOME / ".local/share/opencode/opencode.db").execute("select id from session")
    (FOREIGN / "opencode.json").write_text(json.dumps(cut(json.loads(execute(["opencode", "export", session]))), ensure_ascii=False) + "\n")
    calls = [call for message in last["messages"] for call in message.get("tool_calls") or []]
    return {
        "calls": [[call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])] for call in calls],
        "results": {message["tool_call_id"]: message["content"] for message in last["messages"] if message["role"] == "tool"},
    }


PROGRAMS = {"claude-code": claude_code, "codex": codex_cli, "gemini-cli": gemini_cli, "opencode": opencode}
path = Path("lib/formats/golden/coding-agents.json")
golden = json.loads(path.read_text()) if path.exists() else {}
for name in sys.argv[2:] or PROGRAMS:
    golden[name] = PROGRAMS[name]()
    path.write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")
