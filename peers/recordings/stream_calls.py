"""Gives texts with calls, cut at random, to SGLang's own streaming parser (`--tool-call-parser qwen`).

Writes a list: [pieces, the result of each piece: [text, [[index, name, arguments], ...]], the remaining arguments or null].
Usage: python stream_calls.py [seed [cases]]
"""

import json
import logging
import random
import sys

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.qwen25_detector import Qwen25Detector

logging.disable(logging.CRITICAL)
NAMES = ("calculator", "clock")
TOOLS = [Tool(type="function", function={"name": name, "parameters": {}}) for name in NAMES]
TEXTS = ["12 * 7", 'é"\n', "a\\u0041", "", "<tool_call>", "xxxxxxxxx", "tab\t", "🙂", "a, b: {c} [d]"]
NUMBERS = [1, 1.5, -2, 1e-7, 12345678901234567890, True, False, None]


def value(depth=0):
    kind = random.random()
    if kind < 0.3:
        return random.choice(TEXTS)
    if kind < 0.5:
        return random.choice(NUMBERS)
    if depth > 2:
        return 3
    if kind < 0.75:
        return {random.choice("abcé"): value(depth + 1) for _ in range(random.randint(0, 3))}
    return [value(depth + 1) for _ in range(random.randint(0, 3))]


def call():
    body = {"name": random.choice([*NAMES, *NAMES, "nosuch"])}
    key = random.choice(["arguments"] * 6 + ["parameters", ""])
    if key:
        body[key] = {random.choice("abc"): value() for _ in range(random.randint(0, 3))}
    if random.random() < 0.1:
        body = dict(reversed(list(body.items())))
    separators = random.choice([None, (",", ":")])
    text = json.dumps(body, ensure_ascii=random.random() < 0.3, separators=separators)
    if random.random() < 0.1:
        text = text[: random.randint(0, len(text))]
    if random.random() < 0.05:
        text += "}"
    return f"<tool_call>\n{text}\n</tool_call>"


def pieces_of(text):
    at = 0
    while at < len(text):
        length = random.choice([1, 1, 2, 3, 5, 8, 30])
        yield text[at : at + length]
        at += length
    if random.random() < 0.5:
        yield ""


def case():
    calls = random.choice(["\n", "", " and "]).join(call() for _ in range(random.randint(0, 3)))
    text = random.choice(["", "hi ", "Let me <b> see\n"]) + calls + random.choice(["", "\nbehind", "</tool"])
    if random.random() < 0.2:
        text = text[: random.randint(0, len(text))]
    pieces = list(pieces_of(text))
    detector = Qwen25Detector()
    read = [detector.parse_streaming_increment(piece, TOOLS) for piece in pieces]
    brought = [[one.normal_text, [[c.tool_index, c.name, c.parameters] for c in one.calls]] for one in read]
    return [pieces, brought, still_to_come(detector)]


def still_to_come(detector):
    """Returns the arguments that are not streamed yet, as serving_chat.py's _check_for_unstreamed_tool_args does."""
    index = len(detector.prev_tool_call_arr) - 1
    if index < 0 or index >= len(detector.streamed_args_for_tool):
        return None
    expected = detector.prev_tool_call_arr[index].get("arguments", {})
    written = expected if isinstance(expected, str) else json.dumps(expected, ensure_ascii=False)
    given = detector.streamed_args_for_tool[index]
    rest = written[len(given) :] if written.startswith(given) else ""
    return [index, rest] if rest else None


random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
lines = (json.dumps(case(), separators=(",", ":")) for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 80))
print("[\n" + ",\n".join(lines) + "\n]")
