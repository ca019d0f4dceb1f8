"""Writes the chat of two agents of AG2 in foreign/.

    pip install ag2==0.14.0 openai==3.57.0
    python lib/formats/golden/make_ag2.py

Run in the root of the repository. A server in this process gives the replies. lib/formats/frameworks/autogen.test.ts opens the file.
"""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from autogen import ConversableAgent

CALL = {"id": "c1", "type": "function", "function": {"name": "multiply", "arguments": '{"a":25,"b":17}'}}


class Replies(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        is_called = any(message["role"] == "tool" for message in request["messages"])
        message = {"content": "425. TERMINATE"} if is_called else {"content": None, "tool_calls": [CALL]}
        choice = {
            "index": 0,
            "message": {"role": "assistant", **message},
            "finish_reason": "stop" if is_called else "tool_calls",
        }
        usage = {"prompt_tokens": 20, "completion_tokens": 11, "total_tokens": 31}
        reply = {"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Replies)
threading.Thread(target=server.serve_forever, daemon=True).start()
model = {"model": "m", "api_key": "none", "base_url": f"http://127.0.0.1:{server.server_port}/v1"}
solver = ConversableAgent(
    "calc",
    system_message="You compute.",
    llm_config={"config_list": [model], "cache_seed": None},
    human_input_mode="NEVER",
)
user = ConversableAgent(
    "user",
    llm_config=False,
    human_input_mode="NEVER",
    is_termination_msg=lambda message: "TERMINATE" in (message.get("content") or ""),
)


@user.register_for_execution()
@solver.register_for_llm(description="Multiplies two numbers.")
def multiply(a: int, b: int) -> str:
    return str(a * b)


chat = user.initiate_chat(solver, message="What is 25*17?", max_turns=4, silent=True)
Path("lib/formats/golden/foreign/ag2-chat.json").write_text(json.dumps(chat.chat_history) + "\n")
