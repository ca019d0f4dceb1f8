"""Writes a session of Google's ADK and the history of a language model of DSPy in foreign/.

    pip install google-adk==2.13.0 dspy==3.4.1       # in environments of their own
    python lib/formats/golden/writers/make_histories.py adk|dspy

Run in the root of the repository. The classes of ADK write its session; DSPy calls a scripted server.
lib/formats/frameworks/histories.test.ts opens the files.
"""
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

FOREIGN = Path("lib/formats/golden/foreign")
QUESTION = "What is 25 * 17?"


def write_adk():
    from google.adk.events import Event
    from google.adk.sessions import Session
    from google.genai import types

    def event(author, role, *parts, **more):
        return Event(author=author, invocation_id="i", timestamp=1796000000.5, content=types.Content(role=role, parts=[types.Part(**part) for part in parts]), **more)

    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=20, candidates_token_count=7, thoughts_token_count=4)
    about = {"usage_metadata": usage, "model_version": "gemini-2.5-flash"}
    call = {"id": "c", "name": "calculator", "args": {"expression": "25 * 17"}}
    result = {"id": "c", "name": "calculator", "response": {"result": 425}}
    session = Session(
        id="s",
        app_name="math",
        user_id="u",
        events=[
            event("user", "user", {"text": QUESTION}),
            event("solver", "model", {"text": "A product.", "thought": True}, {"function_call": call}, **about),
            event("solver", "user", {"function_response": result}),
            Event(author="solver", invocation_id="i"),
            event("solver", "model", {"text": "It is 425."}, **about),
        ],
    )
    (FOREIGN / "adk-session.json").write_text(session.model_dump_json(exclude_none=True) + "\n")
    (FOREIGN / "adk-events.jsonl").write_text("".join(one.model_dump_json(by_alias=True) + "\n" for one in session.events))


class Server(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = {"role": "assistant", "content": "[[ ## answer ## ]]\n425\n\n[[ ## completed ## ]]", "reasoning_content": "A product."}
        choices = [{"index": index, "message": message, "finish_reason": "stop"} for index in range(request.get("n", 1))]
        usage = {"prompt_tokens": 20, "completion_tokens": 11, "total_tokens": 31}
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": request["model"], "choices": choices, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def write_dspy():
    import dspy

    server = HTTPServer(("127.0.0.1", 0), Server)
    Thread(target=server.serve_forever, daemon=True).start()
    model = dspy.LM("openai/tiny-qwen3", api_base=f"http://127.0.0.1:{server.server_port}/v1", api_key="none", cache=False)
    with dspy.context(lm=model):
        dspy.Predict("question -> answer")(question=QUESTION)
    model(QUESTION, n=2, temperature=0.5)
    lines = [json.dumps(call, default=str) for call in model.history]
    (FOREIGN / "dspy-history.jsonl").write_text("\n".join(lines) + "\n")


{"adk": write_adk, "dspy": write_dspy}[sys.argv[1]]()
