"""Writes sglang.json: what SGLang's tool-call detectors make of texts in their own format.

    pip install sglang==0.5.23
    python lib/parsers/golden/make_sglang.py

Run in the root of the repository; with "-" as its argument it prints what it would write. lib/parsers/golden-sglang.test.ts holds lib/parsers against the file.
"""
import json
import logging
import random
import sys
from importlib.metadata import version
from pathlib import Path

from sglang.srt.entrypoints.openai.protocol import Function, Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser

logging.disable(logging.CRITICAL)

NAMES = ["f", "g", "add", "get_weather", "get-weather", "ns.tool", "Ünïcode", "x" * 80]
TOOLS = [Tool(type="function", function=Function(name=name, parameters={"type": "object", "properties": {}})) for name in NAMES]

# --- the formats: `arguments` are pairs of a name and the JSON of its value ---------------------------------------------


def obj(arguments):
    return "{" + ", ".join(f"{json.dumps(key, ensure_ascii=False)}: {value}" for key, value in arguments) + "}"


def quoted(name):
    return json.dumps(name, ensure_ascii=False)


def llama3(*calls):
    return "<|python_tag|>" + "; ".join(f'{{"name": {quoted(name)}, "parameters": {obj(arguments)}}}' for name, arguments in calls)


def llama3_bare(*calls):
    return ";".join(f'{{"name": {quoted(name)}, "parameters": {obj(arguments)}}}' for name, arguments in calls)


def mistral(*calls):
    return "[TOOL_CALLS] [" + ", ".join(f'{{"name": {quoted(name)}, "arguments": {obj(arguments)}}}' for name, arguments in calls) + "]"


def mistral_compact(*calls):
    return "".join(f"[TOOL_CALLS]{name}[ARGS]{obj(arguments)}" for name, arguments in calls)


def deepseekv3(*calls):
    inner = "\n".join(f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{obj(arguments)}\n```<｜tool▁call▁end｜>" for name, arguments in calls)
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def deepseekv31(*calls):
    inner = "".join(f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{obj(arguments)}<｜tool▁call▁end｜>" for name, arguments in calls)
    return f"<｜tool▁calls▁begin｜>{inner}<｜tool▁calls▁end｜>"


def parameter(key, value):
    try:
        decoded = json.loads(value)
    except ValueError:
        decoded = None
    is_text = isinstance(decoded, str)
    return f'<｜DSML｜parameter name="{key}" string="{"true" if is_text else "false"}">{decoded if is_text else value}</｜DSML｜parameter>'


def deepseekv32(*calls):
    inner = "\n".join(f'<｜DSML｜invoke name="{name}">\n' + "\n".join(parameter(*argument) for argument in arguments) + "\n</｜DSML｜invoke>" for name, arguments in calls)
    return f"<｜DSML｜function_calls>\n{inner}\n</｜DSML｜function_calls>"


def deepseekv32_json(*calls):
    inner = "\n".join(f'<｜DSML｜invoke name="{name}">\n{obj(arguments)}\n</｜DSML｜invoke>' for name, arguments in calls)
    return f"<｜DSML｜function_calls>\n{inner}\n</｜DSML｜function_calls>"


def gpt_oss(*calls):
    return "<|channel|>analysis<|message|>Think.<|end|>" + "".join(f"<|start|>assistant<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{obj(arguments)}<|call|>" for name, arguments in calls)


def python(value):
    try:
        return repr(json.loads(value))
    except ValueError:
        return value


def pythonic(*calls):
    return "[" + ", ".join(f"{name}({', '.join(f'{key}={python(value)}' for key, value in arguments)})" for name, arguments in calls) + "]"


FORMATS = {
    "llama3": [llama3, llama3_bare], "mistral": [mistral, mistral_compact], "deepseekv3": [deepseekv3], "deepseekv31": [deepseekv31],
    "deepseekv32": [deepseekv32, deepseekv32_json], "gpt-oss": [gpt_oss], "pythonic": [pythonic],
}

# --- texts ------------------------------------------------------------------------------------------------------------

VALUES = [
    "1", "-1", "0", "1.0", "3.14", "1e3", "2.5e+10", "12345678901234567890123", "1e999", "NaN", "true", "false", "null", "01", '"x"', '""', '" x "', '"a\\nb"',
    '"\\u00e9"', '"\\ud83d\\ude42"', '"é 日本 🙂"', '"a\\"b\\\\c"', '"it\'s"', '"\\t"', '"42"', '"null"', '"[1]"', '"{\\"a\\": 1}"', '"a < b > c"', '"[TOOL_CALLS] ["', '"f(a=1)]"', '"; {"',
    '"<｜tool▁call▁end｜>"', '"</｜DSML｜invoke>"', '"</｜DSML｜parameter>"', '"<|call|>"', '"<|end|>"', '"```"', "[]", "{}", "[1, 2, 3]", '["a", null, true]', '{"a": {"b": [1, {"c": "d"}]}}', '{"a": 1, "a": 2}', "[-1]", "[1,]", "{a: 1}", "unquoted",
]
PROSE = ["Let me see. ", "\n\nThen:\n", "é 🙂 ", '{"json": 1} ', "[link](x) ", "<b>html</b> "]


def texts(make):
    pair = [("a", "1"), ("b", '"two"')]
    for value in VALUES:
        yield "values", make(("f", [("a", value)]))
    for name in [*NAMES, "unknown_tool", "", "has space"]:
        yield "names", make((name, [("a", "1")]))
    yield "names", make(("unknown_tool", pair), ("f", pair))
    yield "several", make(("f", []))
    for count in (2, 3, 8):
        yield "several", make(*((name, [("i", str(i))]) for i, name in enumerate((["f", "g", "add"] * 3)[:count])))
    yield "several", make(("f", pair)) + make(("g", pair))
    yield "several", make(("f", pair)) + " and " + make(("g", pair))
    yield "several", make(("f", [("a", "1"), ("a", "2")]))
    for prose in PROSE:
        yield "prose", prose + make(("f", pair)) + prose
        yield "prose", make(("f", pair)) + prose
    good = make(("f", pair), ("add", [("text", '"because\\nof 💡"')]))
    for length in range(3, len(good), max(1, len(good) // 12)):
        yield "cut", good[:length]
    source = random.Random(5)
    for _ in range(14):
        start = source.randrange(len(good))
        end = min(len(good), start + source.randint(1, 9))
        yield "mutated", good[:start] + good[end:] if source.random() < 0.5 else good[:end] + good[start:]


OTHERS = {
    "llama3": [
        "", "{", "{}", '{"answer": 42}', '{"name": "f"}', '{"name": "Bob", "age": 5}', '<|python_tag|>{"name": "f"}', "<|python_tag|>print(1)", '<|python_tag|>f.call(a="x")', '{"name": "f", "arguments": {"a": 1}}',
        '{"name": "f", "parameters": {}, "arguments": {"a": 1}}', '{"type": "function", "name": "f", "parameters": {"a": 1}}', '{"name": "f", "parameters": "{\\"a\\": 1}"}', '{"name": "f", "parameters": null}', '{"name": "f", "parameters": [1]}',
        "{'name': 'f', 'parameters': {'a': 1}}", ' {"name": "f", "parameters": {}}', 'Sure: {"name": "f", "parameters": {}}', '<|python_tag|>{"name": "f", "parameters": {}}{"name": "g", "parameters": {}}', '<|python_tag|>{"name": "f", "parameters": {}}\n{"name": "g", "parameters": {}}',
        '<|python_tag|>{"name": "f", "parameters": {}}, {"name": "g", "parameters": {}}', '<|python_tag|>{"name": "f", "parameters": {}};{"name": "g", "parameters": {}} done', '<|python_tag|>{"name": "f", "parameters": {}} and {"name": "g", "parameters": {}}',
        '<|python_tag|>{"name": f};{"name": "g", "parameters": {}}', '<|python_tag|><|python_tag|>{"name": "g", "parameters": {}}', '{"name": 1, "parameters": {}}', '{"parameters": {"a": 1}}', '[{"name": "f", "parameters": {}}]',
    ],
    "mistral": [
        "", "[TOOL_CALLS]", "[TOOL_CALLS] []", "[TOOL_CALLS] {}", '[TOOL_CALLS][{"name": "f", "arguments": {}}]', '[TOOL_CALLS]\n[{"name": "f", "arguments": {}}]', '[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abc123XYZ"}]', '[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "call_1"}]',
        '[TOOL_CALLS] [{"name": "f", "arguments": {}}', '[TOOL_CALLS] [{"name": "f", "arguments": {}}, {"name": }]', '[TOOL_CALLS] [{"name": "f", "arguments": "{}"}]', '[TOOL_CALLS] [{"name": "f"}]', '[TOOL_CALLS] [{"arguments": {}}]', '[TOOL_CALLS] [1]', '[TOOL_CALLS] [{"name": "f", "arguments": {}},]',
        '[TOOL_CALLS] [ {"name": "f", "arguments": {}} ]</s>', '[TOOL_CALLS]f[ARGS]{}</s>', "[TOOL_CALLS] f [ARGS] {}", "[TOOL_CALLS]f{}", "[TOOL_CALLS]f[CALL_ID]abc123XYZ[ARGS]{}", "[TOOL_CALLS]f[ARGS][1]", "[TOOL_CALLS]f[ARGS]", '[TOOL_CALLS]f[ARGS]{"a": 1', "[TOOL_CALLSf[ARGS{}",
        "[TOOL_CALLS]f[ARGS]{} then [TOOL_CALLS]g[ARGS]{}", '[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS] [{"name": "g", "arguments": {}}]', "[TOOL_CALLS]f[ARGS]{'a': 1}", "[TOOL_CALLS]f[ARGS]{}{}", '[{"name": "f", "arguments": {}}]',
    ],
    "deepseekv3": [
        "", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>", deepseekv3(("f", []))[len("<｜tool▁calls▁begin｜>"):], deepseekv3(("f", []))[:-len("<｜tool▁calls▁end｜>")], deepseekv3(("f", [])).replace("```json", "```"), deepseekv3(("f", [])).replace("\n```<", "```<"),
        deepseekv3(("f", [])).replace("json\n", "json "), deepseekv3(("f", [])).replace("function", "tool"), deepseekv3(("f", [])).replace("function", ""), deepseekv3(("f", [])).replace("{}", ""), deepseekv3(("f", [])).replace("{}", "[1]"), deepseekv3(("f", [])).replace("{}", " {\n}\n "), deepseekv3(("f", [])).replace("{}", '"{}"'),
        deepseekv3(("f", []), ("g", [])).replace("{}", "{", 1), deepseekv31(("f", [])), deepseekv3(("f", [])) + "<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{}\n```<｜tool▁call▁end｜>", deepseekv3(("f", [])).replace("f\n", "f \n"), deepseekv3(("f", [])).replace("<｜tool▁sep｜>", ""),
    ],
    "deepseekv31": [
        "", "<｜tool▁calls▁begin｜>", deepseekv31(("f", []))[len("<｜tool▁calls▁begin｜>"):], deepseekv31(("f", []))[:-len("<｜tool▁calls▁end｜>")], deepseekv31(("f", [])).replace("{}", ""), deepseekv31(("f", [])).replace("{}", "[1]"), deepseekv31(("f", [])).replace("{}", "\n{}\n"), deepseekv31(("f", [])).replace("{}", "null"),
        deepseekv31(("f", []), ("g", [])).replace("{}", "{", 1), deepseekv3(("f", [])), deepseekv31(("f", [])).replace("f<", " f <"), deepseekv31(("f", [])).replace("<｜tool▁sep｜>", ""), deepseekv31(("f", [])).replace("<｜tool▁call▁end｜>", ""), deepseekv31(("f", [])) + deepseekv31(("g", [])), deepseekv31(("f", [])).replace("｜", "|"),
    ],
    "deepseekv32": [
        "", "<｜DSML｜function_calls>", '<｜DSML｜invoke name="f"></｜DSML｜invoke>', '<｜DSML｜invoke name="f">', '<｜DSML｜function_calls><｜DSML｜invoke name="f"></｜DSML｜invoke>', '<｜DSML｜function_calls><｜DSML｜invoke name="f"/></｜DSML｜function_calls>', '<｜DSML｜invoke name="f"/><｜DSML｜invoke name="g"/>', '<｜DSML｜invoke name=" f "></｜DSML｜invoke>',
        '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">x y</｜DSML｜parameter></｜DSML｜invoke>', '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="true">42</｜DSML｜parameter></｜DSML｜invoke>', '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="maybe">42</｜DSML｜parameter></｜DSML｜invoke>',
        '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a">42</｜DSML｜parameter></｜DSML｜invoke>', '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="true">\n x \n</｜DSML｜parameter></｜DSML｜invoke>', '<｜DSML｜invoke name="f">text</｜DSML｜invoke>', '<｜DSML｜invoke name="f">text<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter></｜DSML｜invoke>',
        '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="true">x</｜DSML｜invoke>', '<｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="true">x<｜DSML｜parameter name="b" string="true">y</｜DSML｜parameter></｜DSML｜invoke>', '<｜DSML｜invoke name="f">{"a": 1</｜DSML｜invoke>', '<｜DSML｜invoke name="f">{"a": 1} x</｜DSML｜invoke>', '<｜DSML｜invoke name="f">[1]</｜DSML｜invoke>',
        '<｜DSML｜invoke name="f">{"a": NaN}</｜DSML｜invoke>', '<｜DSML｜invoke>{}</｜DSML｜invoke>', '<｜DSML｜invoke name="f">{}<｜DSML｜invoke name="g">{}</｜DSML｜invoke>', '<｜DSML｜invoke name="f">{}</｜DSML｜invoke><｜DSML｜function_calls><｜DSML｜invoke name="g">{}</｜DSML｜invoke></｜DSML｜function_calls>',
    ],
    "gpt-oss": [
        "", "Just text.", "<|channel|>final<|message|>Hi.<|return|>", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>", "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>", " to=functions.f<|channel|>commentary json<|message|>{}<|call|>",
        "<|start|>assistant<|channel|>commentary to=functions.f<|constrain|>json<|message|>{}<|call|>", "<|start|>assistant<|channel|>commentary to=functions.f json<|message|>{}<|call|>", "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>", "<|start|>assistant to=functions.f<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        "<|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>", "<|start|>assistant<|channel|>commentary to=functions.ns.tool <|constrain|>json<|message|>{}<|call|>", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|><|call|>", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|end|>",
        "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>[1]<|call|>", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{'a': 1}<|call|>", "<|start|>assistant<|channel|>commentary to=functions. <|constrain|>json<|message|>{}<|call|>",
        "<|start|>assistant<|channel|>commentary<|message|>I will look.<|end|><|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>", "<|start|>assistant<|channel|>analysis to=functions.f <|constrain|>json<|message|>{}<|call|>", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>commentary",
        "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|><|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>", "<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|> {\"a\": 1} \n<|call|>", "analysis Hm. assistantfinal Hi.",
    ],
    "pythonic": [
        "", "[]", "[f]", "[f()]", " [f()] ", "f()", "[f(), g()]", "[f(),]", "[f(a=1,)]", "[f(1)]", "[f(a=1, 2)]", "[f(a=1), g(2)]", "[f(*x)]", "[f(**x)]", "[f(a=1, a=2)]", "[f(a=x)]", "[f(a=x+1), g(b=2)]", "[f(a=true)]", "[f(a=null)]", "[f(a=(1, 2))]", "[f(a={1, 2})]", "[f(a={1: 2})]", "[f(a=b'x')]", "[f(a=f'x')]",
        "[f(a=r'\\d')]", "[f(a='\\d')]", "[f(a='a' 'b')]", "[f(a='''x\ny''')]", '[f(a="""x "quoted" y""")]', "[f(a='x\ny')]", "[f(a='\\x41\\u00e9\\U0001f642\\101')]", "[f(a='\\N{BULLET}')]", "[f(a=1_000)]", "[f(a=0x10)]", "[f(a=1.)]", "[f(a=.5)]", "[f(a=1j)]", "[f(a=-1.5)]", "[f(a=+1)]", "[f(a=[1, [2, {'b': None}]])]", "[f(a='it\\'s')]",
        "[f(a=1) g(b=2)]", "[f(a=1]", "[f(a=1)", "[f(a=1), g(b=", "[a.f(a=1)]", "[f (a=1)]", "[ f(a=1) ]", "[\n f(a=1),\n g(b=2)\n]", "<|python_start|>[f(a=1)]<|python_end|>", "See [f(a=1)] there.", "See [f(x)](y).", "[f(a=1)]\n[g(b=2)]", "[_f(a=1)]", "[f(a=[1,)]", "[f(a='x)]", "[f(a={'b': 1, 'b': 2})]", "[f(a=…)]", "[f(a=not True)]", "[f(a='[g(b=1)]')]",
    ],
}

# --- results ----------------------------------------------------------------------------------------------------------


def parsed(name, text):
    """The calls and what is left as text, or the name of the exception that escaped."""
    try:
        rest, calls = FunctionCallParser(TOOLS, name).parse_non_stream(text)
        return {"rest": rest, "calls": [[call.name, call.parameters] for call in calls]}
    except Exception as error:
        return type(error).__name__


cases = []
for name, makes in FORMATS.items():
    seen = set()
    for group, text in [*((group, text) for make in makes for group, text in texts(make)), *(("other", text) for text in OTHERS[name])]:
        if text not in seen:
            seen.add(text)
            cases.append([name, group, text, parsed(name, text)])

lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
head = json.dumps(f"sglang {version('sglang')}")
made = f'{{"made with": {head}, "tools": {json.dumps(NAMES)}, "cases": [\n{lines}\n]}}\n'
if sys.argv[1:] == ["-"]:
    print(made)
else:
    Path("lib/parsers/golden/sglang.json").write_text(made)
    print(len(cases), "texts")
