"""Writes conversations of LangChain, LangGraph, Pydantic AI and LangSmith in foreign/, and messages.json: what the packages find in them.

    pip install langchain-core==1.8.3 langgraph==1.2.24 langsmith==0.15.1 pydantic-ai-slim==2.68.0 openai==3.57.0
    python lib/formats/golden/writers/make_messages.py

Run in the root of the repository. lib/formats/conversations/agent-messages.test.ts compares lib/formats with the files. Scripted models
answer one question; the runs of LangSmith are those that its client sends to a server.
"""
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Annotated, TypedDict

import httpx
import openai
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumps
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, convert_to_openai_messages, messages_to_dict
from langchain_core.tracers import LangChainTracer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langsmith import Client
from langsmith.run_helpers import tracing_context
from langsmith.wrappers import wrap_openai
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

FOREIGN = Path("lib/formats/golden/foreign")
QUESTION = "What is 25 * 17?"
ARGUMENTS = {"expression": "25 * 17"}


def scripted():
    metadata = {"model_name": "tiny-qwen3", "finish_reason": "stop"}
    call = {"name": "calculator", "args": ARGUMENTS, "id": "call_1", "type": "tool_call"}
    return GenericFakeChatModel(
        messages=iter([AIMessage("", tool_calls=[call], response_metadata=metadata), AIMessage("425.", response_metadata=metadata)])
    )


class State(TypedDict):
    messages: Annotated[list, add_messages]


def graph(model):
    built = StateGraph(State)
    built.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    built.add_node("tool", lambda state: {"messages": [ToolMessage("425", tool_call_id="call_1", name="calculator")]})
    built.add_edge(START, "model")
    built.add_conditional_edges("model", lambda state: "tool" if state["messages"][-1].tool_calls else END)
    built.add_edge("tool", "model")
    return built.compile()


START_STATE = {"messages": [SystemMessage("Be brief."), HumanMessage(QUESTION)]}


def write_langchain():
    state = graph(scripted()).invoke(START_STATE)
    (FOREIGN / "langgraph-state.json").write_text(dumps(state) + "\n")
    messages = state["messages"]
    (FOREIGN / "langchain-messages.jsonl").write_text(
        json.dumps(messages_to_dict(messages)) + "\n" + json.dumps([message.model_dump() for message in messages]) + "\n"
    )
    return convert_to_openai_messages(messages)


def write_pydantic_ai():
    replies = iter(
        [
            ModelResponse([ThinkingPart("A product is needed."), ToolCallPart("calculator", ARGUMENTS, "call_1")]),
            ModelResponse([TextPart("425.")]),
        ]
    )
    agent = Agent(FunctionModel(lambda messages, info: next(replies), model_name="tiny-qwen3"), instructions="Be brief.")

    @agent.tool_plain
    def calculator(expression: str) -> int:
        left, right = expression.split(" * ")
        return int(left) * int(right)

    result = agent.run_sync(QUESTION)
    (FOREIGN / "pydantic-ai.json").write_bytes(result.all_messages_json() + b"\n")
    return [[part.part_kind for part in message.parts] for message in result.all_messages()]


def write_langsmith():
    runs = {}

    class Sink(BaseHTTPRequestHandler):
        def do_GET(self):
            limits = {"use_multipart_endpoint": False, "size_limit": 100, "size_limit_bytes": 20971520}
            self.answer(json.dumps({"batch_ingest_config": {**limits, "scale_up_nthreads_limit": 1, "scale_up_qsize_trigger": 1000, "scale_down_nempty_trigger": 4}}))

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            for run in [*body.get("post", []), *body.get("patch", [])]:
                known = runs.setdefault(run["id"], {})
                known.update({key: value for key, value in run.items() if value is not None})
            self.answer("{}")

        def answer(self, text):
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *args):
            pass

    server = HTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="none")
    graph(scripted()).invoke(START_STATE, {"callbacks": [LangChainTracer(client=client, project_name="p")]})

    def reply(request):
        """A reply of vLLM with `return_token_ids`."""
        logprobs = {"content": [{"token": text, "logprob": -0.5, "bytes": list(text.encode()), "top_logprobs": []} for text in ("425", ".")]}
        message = {"role": "assistant", "content": "425."}
        choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop", "token_ids": [9, 10]}
        usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
        more = {"choices": [choice], "usage": usage, "prompt_token_ids": [1, 2, 3]}
        return httpx.Response(200, json={"id": "chatcmpl-1", "object": "chat.completion", "created": 1796000000, "model": "tiny-qwen3", **more})

    http = httpx.Client(transport=httpx.MockTransport(reply))
    wrapped = wrap_openai(openai.OpenAI(base_url="http://server/v1", api_key="none", http_client=http))
    with tracing_context(enabled=True, client=client, project_name="p"):
        wrapped.chat.completions.create(model="tiny-qwen3", messages=[{"role": "user", "content": QUESTION}], temperature=0.5, logprobs=True)
    client.flush()
    def parameters(run):
        return {key: value for key, value in run.get("extra", {}).items() if key == "invocation_params"}

    kept = ["id", "trace_id", "parent_run_id", "dotted_order", "name", "run_type", "start_time", "end_time", "inputs", "outputs"]
    lines = [{key: run[key] for key in kept if key in run} | {"extra": parameters(run)} for run in runs.values()]
    (FOREIGN / "langsmith-runs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [[run["run_type"], run["trace_id"]] for run in lines]


made = {"langchain": write_langchain(), "pydantic-ai": write_pydantic_ai(), "langsmith": write_langsmith()}
Path("lib/formats/golden/messages.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
