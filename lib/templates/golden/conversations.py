"""Conversations, tools and options that the real and the realistic templates are rendered with."""


def tool(name, description, properties, required=(), **more):
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters, **more}}


def call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


ADD = tool("add", "Adds two numbers.", {"a": {"type": "number", "description": "One.", "default": 1.0}, "b": {"type": "number", "maximum": 1e21, "minimum": -0.0}}, ["a", "b"])
# Numbers that lose something in other engines, keys that look like numbers, letters outside of ASCII, <, & and quotes.
NESTED = tool("search_文献", "Finds “papers” & more: <b>naïve</b>\nTwo lines.", {
    "query": {"type": "string", "description": "What to look for, 'quoted'", "enum": ["a", "é", "😀"]},
    "filters": {"type": "object", "properties": {"years": {"type": "array", "items": {"type": "integer"}}, "10": {"type": ["integer", "null"]}, "9": {"type": "boolean", "default": False}}, "required": ["10"]},
    "limit": {"type": "integer", "default": 12345678901234567890, "multipleOf": 1.0, "exclusiveMaximum": 1e-7},
    "sort": {"oneOf": [{"type": "string", "description": "by name"}, {"type": "array", "items": {"type": "object", "properties": {"by": {"type": "string"}}}}], "default": None},
}, ["query"], strict=True)
PLAIN = tool("now", "The time.", {})
DEFAULT_TOOLS = [ADD, PLAIN]
DOCUMENTS = [{"title": "Fjords", "text": "Deep & old."}, {"title": "数字", "text": "1.0", "pages": [1, 2.0]}]

CONVERSATIONS = {
    "plain": {"messages": [{"role": "user", "content": "Hello!"}]},
    "system": {"messages": [{"role": "system", "content": "  You are terse. /no_think\n"}, {"role": "user", "content": "Hi\n"}]},
    "turns": {"messages": [
        {"role": "system", "content": "Be kind."}, {"role": "user", "content": "One?"}, {"role": "assistant", "content": "One."}, {"role": "user", "content": " Two? "}, {"role": "assistant", "content": "\n\nTwo.  "}, {"role": "user", "content": "Three?"},
    ]},
    "calls": {"tools": [ADD, NESTED], "messages": [
        {"role": "user", "content": "Add 1.0 and 2"}, {"role": "assistant", "content": "", "tool_calls": [call("call_0001", "add", {"a": 1.0, "b": 2})]}, {"role": "tool", "tool_call_id": "call_0001", "name": "add", "content": "3.0"},
        {"role": "assistant", "content": "It is 3.0."}, {"role": "user", "content": "Thanks"},
    ]},
    "parallel calls": {"tools": [ADD, NESTED, PLAIN], "messages": [
        {"role": "system", "content": "Use tools."}, {"role": "user", "content": "Both"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [
            call("functions.add:0", "add", {"a": 12345678901234567890, "b": 1e-7}),
            call("functions.search:1", "search_文献", {"query": "é😀 <x> 'y' \"z\"", "filters": {"10": None, "9": True, "years": [2020, 2021.0]}, "limit": 1e16}),
            call("functions.now:2", "now", {}),
        ]},
        {"role": "tool", "tool_call_id": "functions.add:0", "content": "12345678901234567890"}, {"role": "tool", "tool_call_id": "functions.search:1", "content": "{\"found\": [1.0, null]}"}, {"role": "tool", "tool_call_id": "functions.now:2", "content": ""},
        {"role": "assistant", "content": "Done\n"},
    ]},
    "arguments as text": {"tools": [ADD], "messages": [
        {"role": "user", "content": "Add"}, {"role": "assistant", "content": "", "tool_calls": [call("abcdefghi", "add", "{\"a\": 1.0,\n \"b\": 2}")]}, {"role": "tool", "tool_call_id": "abcdefghi", "content": "3"}, {"role": "user", "content": "And?"},
    ]},
    "content is null": {"messages": [
        {"role": "user", "content": "Add"}, {"role": "assistant", "content": None, "tool_calls": [call("call_00001", "add", {"a": 1, "b": [1.5, "x", False]})]}, {"role": "tool", "tool_call_id": "call_00001", "content": "3"},
        {"role": "assistant", "content": "3", "tool_calls": None, "reasoning_content": None},
    ]},
    "reasoning": {"tools": [ADD], "messages": [
        {"role": "user", "content": "Think"}, {"role": "assistant", "reasoning_content": "\nHmm, 1 + 1.\n", "content": "2"}, {"role": "user", "content": "Again"},
        {"role": "assistant", "reasoning_content": "First a call.", "content": "", "tool_calls": [call("call_0000002", "add", {"a": 1, "b": 1})]}, {"role": "tool", "tool_call_id": "call_0000002", "content": "2"},
        {"role": "assistant", "reasoning": "Another name for it.", "content": "Two."},
    ]},
    "thinking inside": {"messages": [
        {"role": "user", "content": "Think"}, {"role": "assistant", "content": "<think>\nWell…\n</think>\n\nYes."}, {"role": "user", "content": "<tool_response>x</tool_response>"}, {"role": "assistant", "content": "<think>open and open"}, {"role": "user", "content": "Go on"},
        {"role": "assistant", "content": "a</think>b</think>\nc"},
    ]},
    "gpt-oss thinking": {"messages": [{"role": "developer", "content": "Short."}, {"role": "user", "content": "Q"}, {"role": "assistant", "thinking": "T", "content": "A"}]},
    "parts": {"messages": [
        {"role": "system", "content": [{"type": "text", "text": "Sys "}]}, {"role": "user", "content": [{"type": "text", "text": " Look: "}, {"type": "image"}, {"type": "text", "text": "what?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "A cat"}]},
    ]},
    "letters": {"messages": [
        {"role": "system", "content": "😀 e\u0301 \u200f עברית العربية"}, {"role": "user", "content": "你好，👩‍👩‍👧‍👦 \u2028 z\u00a0\u3000"}, {"role": "assistant", "content": "\u00a0ñ ﬁ ß İ\u0000\u007f\ufeff"}, {"role": "user", "content": "<|im_end|> {{ 7 * 7 }} {% raw %} \r\n\t"},
    ]},
    "empty": {"messages": [{"role": "system", "content": ""}, {"role": "user", "content": ""}, {"role": "assistant", "content": ""}, {"role": "user", "content": " \n "}]},
    "only system": {"messages": [{"role": "system", "content": "Alone."}]},
    "wrong order": {"messages": [{"role": "user", "content": "A"}, {"role": "user", "content": "B"}, {"role": "assistant", "content": "C"}, {"role": "assistant", "content": "D"}, {"role": "system", "content": "E"}]},
    "unknown role": {"messages": [{"role": "user", "content": "A"}, {"role": "critic", "content": "B", "name": "zoë"}]},
    "no content": {"messages": [{"role": "user"}, {"role": "assistant"}]},
    "numbers as content": {"messages": [{"role": "user", "content": 1.0}, {"role": "assistant", "content": {"10": 1, "9": [True, None, 1e16]}}, {"role": "tool", "content": 12345678901234567890, "tool_call_id": "x"}]},
    "result first": {"messages": [{"role": "tool", "content": "3", "tool_call_id": "1"}, {"role": "user", "content": "?"}]},
    "long": {"messages": [{"role": "user" if i % 2 == 0 else "assistant", "content": f"Message {i}: " + "lorem ipsum " * (i % 3)} for i in range(12)]},
}

# Name, whether the conversation's tools (or DEFAULT_TOOLS) are given, add_generation_prompt, further variables.
OPTIONS = {
    "plain": (False, False, {}),
    "prompt": (False, True, {}),
    "thinking": (False, True, {"enable_thinking": True}),
    "no thinking": (False, True, {"enable_thinking": False}),
    "tools": (True, False, {}),
    "tools, no thinking": (True, True, {"enable_thinking": False, "thinking": False}),
    "documents": (False, True, {"documents": DOCUMENTS}),
    "more": (True, True, {"tools_in_user_message": False, "date_string": "1 Jan 2026", "builtin_tools": ["add", "code_interpreter"], "reasoning_effort": "high", "enable_thinking": None}),
}
