"""Writes replies.json: ids, logprobs and alternatives of the replies in foreign/, as Python reads them.

    pip install openai==3.57.0
    python lib/formats/golden/make_replies.py

Run in the root of the repository. lib/formats/replies/files.test.ts compares lib/formats with the file. The classes of the
openai package read chat completions and their chunks, without validation as its client does; ids are in their extra fields.
"""
import json
from pathlib import Path

from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.completion import Completion

FOREIGN = Path("lib/formats/golden/foreign")


def records(name):
    text = (FOREIGN / name).read_text()
    if name.endswith(".sse"):
        lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return [json.loads(text)]


def extra(model, key):
    return (model.model_extra or {}).get(key)


def choice_ids(reply, choice):
    provider = extra(choice, "provider_specific_fields") or {}
    prompt = [extra(reply, "prompt_token_ids"), extra(choice, "prompt_token_ids"), provider.get("prompt_token_ids")]
    ids = [extra(choice, "token_ids"), extra(choice, "response_token_ids"), provider.get("response_token_ids")]
    return next((x for x in prompt if x is not None), None), next((x for x in ids if x is not None), None)


def chat(value):
    reply = ChatCompletion.construct(**value)
    choice = reply.choices[0]
    prompt, ids = choice_ids(reply, choice)
    content = choice.logprobs.content
    return {
        "prompt": prompt,
        "ids": ids if ids is not None else [extra(entry, "id") for entry in content],
        "logprobs": [entry.logprob for entry in content],
        "texts": [bytes(entry.bytes).hex() for entry in content],
        "content": choice.message.content,
        "calls": [[call.function.name, call.function.arguments] for call in choice.message.tool_calls or []],
        "finish": choice.finish_reason,
    }


def chunks(values):
    parts = [ChatCompletionChunk.construct(**value) for value in values]
    choices = [part.choices[0] for part in parts if part.choices]
    content = [entry for choice in choices if choice.logprobs for entry in choice.logprobs.content or []]
    calls = {}
    for choice in choices:
        for call in choice.delta.tool_calls or []:
            one = calls.setdefault(call.index, ["", ""])
            one[0] += call.function.name or ""
            one[1] += call.function.arguments or ""
    ids = [extra(choice, "token_ids") for choice in choices]
    return {
        "prompt": next((extra(part, "prompt_token_ids") for part in parts if extra(part, "prompt_token_ids")), None),
        "ids": [i for some in ids if some for i in some] or None,
        "logprobs": [entry.logprob for entry in content],
        "texts": [bytes(entry.bytes).hex() for entry in content],
        "content": "".join(choice.delta.content or "" for choice in choices),
        "calls": list(calls.values()),
        "finish": [choice.finish_reason for choice in choices if choice.finish_reason][-1],
    }


def completion(value):
    reply = Completion.construct(**value)
    choice = reply.choices[0]
    prompt, ids = choice_ids(reply, choice)
    logprobs = choice.logprobs.token_logprobs
    echoed = len(logprobs) == len(prompt) + len(ids)
    listed = extra(choice, "prompt_logprobs")
    before = [entry and entry[str(i)]["logprob"] for i, entry in zip(prompt, listed)] if listed else None
    return {
        "prompt": prompt,
        "promptLogprobs": logprobs[: len(prompt)] if echoed else before,
        "ids": ids,
        "logprobs": logprobs[len(prompt) :] if echoed else logprobs,
        "finish": choice.finish_reason,
    }


def vllm_generate(value):
    choice = value["choices"][0]
    content = choice["logprobs"]["content"]
    tops = [[[top["token_id"], top["logprob"]] for top in entry["top_logprobs"]] for entry in content]
    return {"prompt": None, "ids": choice["token_ids"], "logprobs": [entry["logprob"] for entry in content], "tops": tops, "finish": choice["finish_reason"]}


def llama(values):
    entries = [entry for value in values for entry in value.get("completion_probabilities", [])]
    tops = [[[top["id"], top["logprob"]] for top in entry["top_logprobs"]] for entry in entries]
    return {
        "prompt": None,
        "ids": [i for value in values for i in value["tokens"]],
        "logprobs": [entry["logprob"] for entry in entries],
        "tops": tops,
        "texts": [bytes(entry["bytes"]).hex() for entry in entries],
        "content": "".join(value["content"] for value in values),
        "finish": values[-1]["stop_type"],
    }


READ = {
    "openai-responses.jsonl": ("chat-completion", lambda r: [chat(x) for x in r]),
    "openai-chunks.jsonl": ("chat-completion-stream", lambda r: [chunks(r)]),
    "openai-completion.json": ("completion", lambda r: [completion(x) for x in r]),
    "litellm-responses.jsonl": ("chat-completion", lambda r: [chat(x) for x in r]),
    "vllm-chat.json": ("chat-completion", lambda r: [chat(x) for x in r]),
    "vllm-chat.sse": ("chat-completion-stream", lambda r: [chunks(r)]),
    "vllm-completion.json": ("completion", lambda r: [completion(x) for x in r]),
    "vllm-generate.json": ("vllm-generate", lambda r: [vllm_generate(x) for x in r]),
    "llama-cpp-chat.json": ("chat-completion", lambda r: [chat(x) for x in r]),
    "llama-cpp-completion.json": ("llama-cpp-completion", lambda r: [llama(r)]),
    "llama-cpp-completion.sse": ("llama-cpp-completion-stream", lambda r: [llama(r)]),
}
made = {name: {"format": format, "samples": read(records(name))} for name, (format, read) in READ.items()}
Path("lib/formats/golden/replies.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
