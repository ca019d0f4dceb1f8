"""Defines conversations of an agent: the messages that it reads, and the text that the model wrote, with its markup.

A conversation is a list of turns: messages that the model read, then its reply. A reply that is cut off has no end of turn.
"""
import json
import re


def tool(name, description, properties):
    return {"type": "function", "function": {"name": name, "description": description, "parameters": {"type": "object", "properties": properties}}}


ADD = tool("add", "Adds.", {"a": {"type": "number"}, "b": {"type": "number"}})
FIND = tool("find", "Finds “papers”.", {"query": {"type": "string"}, "filters": {"type": "object"}})


def user(text):
    return {"role": "user", "content": text}


def system(text):
    return {"role": "system", "content": text}


def result(text, call=0):
    return {"role": "tool", "tool_call_id": f"call_{call:04}", "content": text}


def call(source):
    return f"<tool_call>\n{source}\n</tool_call>"


def think(text):
    return f"<think>\n{text}\n</think>\n\n"


PLAIN = '{"name": "add", "arguments": {"a": 1, "b": 2}}'

# Each name has turns, tools and template options. A reply is a text; CUT at its end means that it has no end of turn.
CUT = "\ue000"
CONVERSATIONS = {
    "plain": ([([user("Hello!")], "Hi there. 2 + 2 = 4.")], [], {}),
    "system": ([([system("Be terse."), user("What is 25 * 17?")], "425")], [], {}),
    "turns with thinking": ([([user("One?")], think("Well, one.") + "One."), ([user("Two?")], think("Now two.") + "Two."), ([user("Three?")], think("Three, then.") + "Three.")], [], {}),
    "no thinking where it may": ([([user("One?")], "One."), ([user("Two?")], "Two.")], [], {"enable_thinking": True}),
    "thinking off": ([([user("One?")], "One."), ([user("Two?")], "Two.")], [], {"enable_thinking": False}),
    "float": ([([user("Add 1.0 and 2")], call('{"name": "add", "arguments": {"a": 1.0, "b": 2}}')), ([result("3.0")], "It is 3.0.")], [ADD], {}),
    "large and small numbers": ([([user("Add")], call('{"name": "add", "arguments": {"a": 12345678901234567890, "b": 1e16, "c": 1e-7, "d": -0.0, "e": 0.1, "f": 100.0}}')), ([result("1")], "Done.")], [ADD], {}),
    "spelled numbers": ([([user("Add")], call('{"name": "add", "arguments": {"a": 1E3, "b": 1.50, "c": 2e-05}}')), ([result("1")], "Done.")], [ADD], {}),
    "letters and escapes": ([([user("Find naïve 文献 😀")], call('{"name": "find", "arguments": {"query": "na\\u00efve 文献 \\ud83d\\ude00 <b> \\"q\\" \\/ \\t"}}')), ([result("[]")], "Nothing — nichts.")], [FIND], {}),
    "nested, keys in their order": ([([user("Find")], call('{"name": "find", "arguments": {"query": "x", "filters": {"b": {"z": [1, 2.0, {"y": null}], "a": true}, "10": 1, "9": [false, "n"]}}}')), ([result("{}")], "Found.")], [FIND], {}),
    "no spaces": ([([user("Add")], call('{"name":"add","arguments":{"a":1,"b":[2,3]}}')), ([result("6")], "6")], [ADD], {}),
    "lines": ([([user("Add")], call('{\n  "name": "add",\n  "arguments": {\n    "a": 1\n  }\n}')), ([result("1")], "1")], [ADD], {}),
    "arguments first": ([([user("Add")], call('{"arguments": {"b": 2, "a": 1}, "name": "add"}')), ([result("3")], "3")], [ADD], {}),
    "two calls": ([([user("Both")], think("Two calls.") + call(PLAIN) + "\n" + call('{"name": "find", "arguments": {"query": "é"}}')), ([result("3"), result("none", 1)], think("Both are there.") + "3, and none.")], [ADD, FIND], {}),
    "words around a call": ([([user("Add")], "Let me add. \n\n" + call(PLAIN) + "\nDone?"), ([result("3")], "3.")], [ADD], {}),
    "error": ([([user("Add")], think("Add.") + call(PLAIN)), ([result("Error: no such tool: 'add'")], think("It failed.") + "I cannot.")], [ADD], {}),
    "malformed": ([([user("Add")], call('{"name": "add", "arguments": {"a": 1,}}')), ([user("Again")], "3.")], [ADD], {}),
    "thinking off, with a call": ([([user("Add")], call(PLAIN)), ([result("3")], "It is 3.")], [ADD], {"enable_thinking": False}),
    "call, then another question": ([([system("Use tools."), user("Add")], think("Call.") + call(PLAIN)), ([result("3")], think("So 3.") + "It is 3."), ([user("Thanks")], think("Polite.") + "Welcome.")], [ADD], {}),
    "space around": ([([user(" Spaces ")], "\n  Leading and trailing \n\n"), ([user("\tMore\n")], "x \u00a0")], [], {}),
    "empty reply": ([([user("Say nothing")], ""), ([user("Again")], "Fine.")], [], {}),
    "cut off": ([([user("Count")], think("Count.") + "1, 2, 3" + CUT), ([user("Go on")], "4")], [], {}),
    "cut off in a thought": ([([user("Think")], "<think>\nLong and lo" + CUT)], [], {}),
    "question at the end": ([([user("One?")], "One."), ([user("Two?")], None)], [], {}),
    "letters": ([([user("e\u0301 한글 \u1112\u1161\u11ab 👩‍👩‍👧 عربية")], "e\u0301 ﬁ ½ 👍🏽 \u1112\u1161\u11ab 日本語です。"), ([user("日本")], "العربية ١٢٣")], [], {}),
    "markup in words": ([([user("What is <|im_end|> or </think>?")], "It is `<|im_end|>`.")], [], {}),
    "python words": ([([user("Find")], call('{"name": "find", "arguments": {"query": "True", "filters": {"a": true, "b": null, "c": "None", "d": {}, "e": [], "f": ""}}}')), ([result("None")], "None")], [FIND], {}),
    "code": ([([user("Write it")], "```python\ndef f(x):\n    return {'a': x ** 2}  # ok\n```\n"), ([user("Shorter")], "`f = lambda x: x**2`")], [], {}),
    "no arguments": ([([user("Add")], call('{"name": "add", "arguments": {}}')), ([result("")], "0")], [ADD], {}),
    "long": ([([user(f"Question {i}?")], f"Answer {i}: " + "so it is " * (i % 3)) for i in range(6)], [], {}),
}

BLOCK = re.compile(r"<tool_call>\n?(.*?)\n?</tool_call>", re.DOTALL)


def structured(text, number):
    """Returns a reply as a client keeps it that separates thinking and parses calls."""
    message = {"role": "assistant"}
    thought, closing, rest = text.partition("</think>") if text.startswith("<think>") else ("", "", text)
    if text.startswith("<think>"):
        message["reasoning_content"] = thought.removeprefix("<think>").strip()
    calls = []

    def taken(match):
        try:
            parsed = json.loads(match[1])
        except ValueError:
            return match[0]
        calls.append({"id": f"call_{number + len(calls):04}", "type": "function", "function": {"name": parsed["name"], "arguments": parsed["arguments"]}})
        return ""

    message["content"] = BLOCK.sub(taken, rest).strip()
    if calls:
        message["tool_calls"] = calls
    return message, number + len(calls)
