"""Runs an agent's harness against a server: `clients.py NAME ORIGIN KEY MODE TASK`. Prints the texts and the tool results that it got as JSON.

MODE is `stream` or `whole`; TASK is a ClientTask of clients.ts as JSON. Only the address and the key differ
from what a user of the harness writes. Every client asks the question, runs the tool that the model calls, and sends the result.
"""

import asyncio
import functools
import json
import os
import sys

NAME, ORIGIN, KEY, MODE, TASK = sys.argv[1:]
QUESTION, TOOL, MAX_TOKENS = (json.loads(TASK)[name] for name in ("question", "tool", "maxTokens"))
SAMPLING = {name: value for name, value in json.loads(TASK).items() if name == "temperature"}
RETRIES = json.loads(TASK).get("retries", 0)
SYSTEM = "You are a calculator."


def add(a: int, b: int) -> str:
    """Adds two integers."""
    return str(a + b)


def calculator(expression: str) -> str:
    """Calculates an expression."""
    left, right = expression.split("+")
    return add(int(left), int(right))


DESCRIPTION = {"add": add, "calculator": calculator}[TOOL].__doc__
SCHEMA = {
    "type": "object",
    "properties": {
        "add": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "calculator": {"expression": {"type": "string"}},
    }[TOOL],
    "required": {"add": ["a", "b"], "calculator": ["expression"]}[TOOL],
    "additionalProperties": False,
}


def recording(results):
    """Returns the tool as a function that adds its result to a list."""
    function = {"add": add, "calculator": calculator}[TOOL]

    @functools.wraps(function)
    def run(*values, **named):
        results.append(function(*values, **named))
        return results[-1]

    return run


def openai_chat(origin, key, stream):
    from openai import OpenAI

    client = OpenAI(base_url=f"{origin}/v1", api_key=key, max_retries=RETRIES)
    tools = [{"type": "function", "function": {"name": TOOL, "description": DESCRIPTION, "parameters": SCHEMA}}]
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
    results = []
    run = recording(results)
    while True:
        request = {"model": "tiny", "messages": messages, "tools": tools, "temperature": 0, "max_tokens": MAX_TOKENS}
        if stream:
            with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as events:
                for _ in events:
                    pass
                completion = events.get_final_completion()
        else:
            completion = client.chat.completions.create(**request)
        message = completion.choices[0].message
        if not message.tool_calls:
            return {"text": message.content, "results": results, "tokens": completion.usage.total_tokens}
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in message.tool_calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
        for call in calls:
            run(**json.loads(call["function"]["arguments"]))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": results[-1]})


def openai_responses(origin, key, stream):
    from openai import OpenAI

    client = OpenAI(base_url=f"{origin}/v1", api_key=key, max_retries=RETRIES)
    tools = [{"type": "function", "name": TOOL, "description": DESCRIPTION, "parameters": SCHEMA, "strict": True}]
    items = [{"role": "user", "content": QUESTION}]
    results = []
    run = recording(results)
    while True:
        request = {"model": "tiny", "instructions": SYSTEM, "input": items, "tools": tools, "max_output_tokens": MAX_TOKENS, **SAMPLING}
        if stream:
            with client.responses.stream(**request) as events:
                for _ in events:
                    pass
                response = events.get_final_response()
        else:
            response = client.responses.create(**request)
        items = items + [item.model_dump(exclude_none=True) for item in response.output]
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            return {"text": response.output_text, "results": results, "tokens": response.usage.total_tokens}
        for call in calls:
            run(**json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": results[-1]})


def anthropic_messages(origin, key, stream):
    from anthropic import Anthropic

    client = Anthropic(base_url=origin, api_key=key, max_retries=RETRIES)
    tools = [{"name": TOOL, "description": DESCRIPTION, "input_schema": SCHEMA}]
    messages = [{"role": "user", "content": QUESTION}]
    results = []
    run = recording(results)
    while True:
        request = {"model": "tiny", "system": SYSTEM, "messages": messages, "tools": tools, "max_tokens": MAX_TOKENS}
        if stream:
            with client.messages.stream(**request, extra_body=SAMPLING) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**request, extra_body=SAMPLING)
        messages.append({"role": "assistant", "content": message.content})
        calls = [block for block in message.content if block.type == "tool_use"]
        if not calls:
            text = "".join(block.text for block in message.content if block.type == "text")
            return {
                "text": text,
                "results": results,
                "tokens": message.usage.input_tokens
                + (message.usage.cache_read_input_tokens or 0)
                + message.usage.output_tokens,
            }
        contents = []
        for call in calls:
            run(**call.input)
            contents.append({"type": "tool_result", "tool_use_id": call.id, "content": results[-1]})
        messages.append({"role": "user", "content": contents})


def openai_agents(origin, key, stream, kind="chat"):
    from agents import (
        Agent,
        ModelSettings,
        OpenAIChatCompletionsModel,
        OpenAIResponsesModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=f"{origin}/v1", api_key=key, max_retries=RETRIES)
    results = []
    tool = function_tool(recording(results), name_override=TOOL, description_override=DESCRIPTION)
    model_class = OpenAIChatCompletionsModel if kind == "chat" else OpenAIResponsesModel
    agent = Agent(
        name="calculator",
        instructions=SYSTEM,
        tools=[tool],
        model=model_class(model="tiny", openai_client=client),
        model_settings=ModelSettings(**SAMPLING),
    )

    async def run():
        if not stream:
            return await Runner.run(agent, QUESTION)
        result = Runner.run_streamed(agent, QUESTION)
        async for _ in result.stream_events():
            pass
        return result

    result = asyncio.run(run())
    usage = result.raw_responses[-1].usage
    return {"text": result.final_output, "results": results, "tokens": usage.total_tokens or None}


def strands_openai(origin, key, stream):
    from strands import Agent, tool
    from strands.models.openai import OpenAIModel

    results = []
    run = tool(name=TOOL, description=DESCRIPTION)(recording(results))
    model = OpenAIModel(client_args={"base_url": f"{origin}/v1", "api_key": key}, model_id="tiny", params={"max_tokens": MAX_TOKENS, **SAMPLING})
    agent = Agent(model=model, tools=[run], system_prompt=SYSTEM, callback_handler=None)
    result = agent(QUESTION)
    text = "".join(block.get("text", "") for block in result.message["content"])
    return {"text": text, "results": results, "tokens": None}


def mini_swe_agent(origin, key, stream):
    os.environ["MSWEA_SILENT_STARTUP"] = "1"
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from minisweagent.agents.default import DefaultAgent
    from minisweagent.environments.local import LocalEnvironment
    from minisweagent.models.litellm_model import LitellmModel

    model = LitellmModel(
        model_name="openai/tiny",
        model_kwargs={"api_base": f"{origin}/v1", "api_key": key, "max_tokens": MAX_TOKENS, "drop_params": True},
        cost_tracking="ignore_errors",
    )
    agent = DefaultAgent(
        model,
        LocalEnvironment(cwd=os.getcwd()),
        system_template="You run commands.",
        instance_template="{{task}}",
        step_limit=4,
    )
    ended = agent.run("Print the sum of 17 and 25, then submit.")
    results = [message["content"] for message in agent.messages if message["role"] == "tool"]
    return {"text": ended.get("exit_status"), "results": results, "tokens": None}


CLIENTS = {
    "openai chat": openai_chat,
    "openai responses": openai_responses,
    "anthropic": anthropic_messages,
    "openai-agents chat": openai_agents,
    "openai-agents responses": lambda origin, key, stream: openai_agents(origin, key, stream, "responses"),
    "strands": strands_openai,
    "mini-swe-agent": mini_swe_agent,
}

if __name__ == "__main__":
    print(json.dumps(CLIENTS[NAME](ORIGIN, KEY, MODE == "stream")))
