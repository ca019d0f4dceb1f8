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
TYPES = {
    "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"}, "flag": {"type": "boolean"}, "list": {"type": "array"}, "map": {"type": "object"},
    "maybe": {"type": ["string", "null"]}, "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "any": {},
}
SCHEMAS = {**{name: {"type": "object", "properties": {}} for name in NAMES}, "typed": {"type": "object", "properties": TYPES}}
TOOLS = [Tool(type="function", function=Function(name=name, parameters=schema)) for name, schema in SCHEMAS.items()]

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


def deepseekv4(*calls):
    return deepseekv32(*calls).replace("function_calls>", "tool_calls>")


def deepseekv41(*calls):
    return spaced(deepseekv4(*calls))


def deepseekv41_json(*calls):
    return spaced(deepseekv4_json(*calls))


def spaced(text):
    """Renames the tags of DeepSeek V4 to those of V4.1."""
    return text.replace("｜DSML｜", "｜DSML｜ ").replace("tool_calls>", "calls>")


def gigachat35(*calls):
    return deepseekv4(*calls).replace("DSML", "GCML")


def deepseekv4_json(*calls):
    return deepseekv32_json(*calls).replace("function_calls>", "tool_calls>")


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


def bare(value):
    """As the templates of these formats write it: a text without its quotes."""
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return decoded if isinstance(decoded, str) else value


def hermes(*calls, key="arguments", space="\n"):
    return "\n".join(f'<tool_call>{space}{{"name": {quoted(name)}, "{key}": {obj(arguments)}}}{space}</tool_call>' for name, arguments in calls)


def hermes_parameters(*calls):
    return hermes(*calls, key="parameters")


def hermes_compact(*calls):
    return hermes(*calls, space="")


def qwen_xml(*calls):
    return "\n".join(f"<tool_call>\n<function={name}>\n" + "".join(f"<parameter={key}>\n{bare(value)}\n</parameter>\n" for key, value in arguments) + "</function>\n</tool_call>" for name, arguments in calls)


def mimo(*calls):
    return "\n".join(f"<tool_call>\n<function={name}>\n" + "".join(f"<parameter={key}>{bare(value)}</parameter>\n" for key, value in arguments) + "</function>\n</tool_call>" for name, arguments in calls)


def glm45(*calls, space="\n"):
    return "\n".join(f"<tool_call>{name}{space}" + "".join(f"<arg_key>{key}</arg_key>{space}<arg_value>{bare(value)}</arg_value>{space}" for key, value in arguments) + "</tool_call>" for name, arguments in calls)


def glm47(*calls):
    return glm45(*calls, space="")


def iquest_q1(*calls):
    return glm47(*calls).replace("tool_call>", "iquest_tool_call>")


def interns1(*calls):
    return "\n".join(f'<|action_start|> <|plugin|>\n{{"name": {quoted(name)}, "parameters": {obj(arguments)}}}<|action_end|>' for name, arguments in calls)


def k2_horizon(*calls):
    return "<ifm|tool_calls>\n" + glm47(*calls).replace("tool_call>", "ifm|tool_call>").replace("arg_", "ifm|arg_") + "\n</ifm|tool_calls>"


IFM_TYPES = {str: "string", bool: "boolean", type(None): "null", int: "integer", float: "number", dict: "object", list: "array"}


def ifm_argument(key, value):
    try:
        type_name = IFM_TYPES[type(json.loads(value))]
    except ValueError:
        type_name = "any"
    return f"<ifm|arg_key>{key}</ifm|arg_key>\n<ifm|arg_type>{type_name}</ifm|arg_type>\n<ifm|arg_value>{bare(value)}</ifm|arg_value>\n"


def k2_horizon_typed(*calls):
    inner = "\n".join(f"<ifm|tool_call>{name}\n" + "".join(ifm_argument(*argument) for argument in arguments) + "</ifm|tool_call>" for name, arguments in calls)
    return f"<ifm|tool_calls>\n{inner}\n</ifm|tool_calls>"


def k2_horizon_json(*calls):
    return "<ifm|tool_calls>\n" + hermes(*calls).replace("tool_call>", "ifm|tool_call>") + "\n</ifm|tool_calls>"


def step3(*calls):
    inner = "".join(f'<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">\n' + "".join(f'<steptml:parameter name="{key}">{bare(value)}</steptml:parameter>\n' for key, value in arguments) + "</steptml:invoke><｜tool_call_end｜>\n" for name, arguments in calls)
    return f"<｜tool_calls_begin｜>\n{inner}<｜tool_calls_end｜>"


def kimi_calls(*calls):
    return "".join(f"<|tool_call_begin|>functions.{name}:{index}<|tool_call_argument_begin|>{obj(arguments)}<|tool_call_end|>" for index, (name, arguments) in enumerate(calls))


def kimi_k2(*calls):
    return f"<|tool_calls_section_begin|>{kimi_calls(*calls)}<|tool_calls_section_end|>"


def kimi_unclosed(*calls):
    return f"<|tool_calls_section_begin|>{kimi_calls(*calls)}"


def gemma_value(value):
    if isinstance(value, str):
        return f'<|"|>{value}<|"|>'
    if isinstance(value, list):
        return "[" + ",".join(map(gemma_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma_value(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def gemma(value):
    """Numbers as they are written; a name that stands twice stays so."""
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    return gemma_value(decoded) if isinstance(decoded, (str, list)) or isinstance(decoded, dict) and value.count('"a"') < 2 else value.replace('"', "")


def gemma4(*calls):
    return "".join(f"<|tool_call>call:{name}{{" + ",".join(f"{key}:{gemma(value)}" for key, value in arguments) + "}<tool_call|>" for name, arguments in calls)


def minimax_m2(*calls):
    inner = "".join(f'<invoke name="{name}">\n' + "".join(f'<parameter name="{key}">{bare(value)}</parameter>\n' for key, value in arguments) + "</invoke>\n" for name, arguments in calls)
    return f"<minimax:tool_call>\n{inner}</minimax:tool_call>"


XTML_TYPES = {str: "string", bool: "boolean", type(None): "null", int: "number", float: "number", dict: "object", list: "array"}


def dots(*calls):
    return minimax_m2(*calls).replace("minimax:tool_call>", "dots_function_call>")


def xtml_argument(key, value):
    try:
        type_name = XTML_TYPES[type(json.loads(value))]
    except ValueError:
        type_name = "number"
    return f'<|open|>argument key="{key}" type="{type_name}"<|sep|>{bare(value)}<|close|>argument<|sep|>'


def kimi_k3(*calls):
    inner = "".join(f'<|open|>call tool="{name}" index="{index}"<|sep|>' + "".join(xtml_argument(*argument) for argument in arguments) + "<|close|>call<|sep|>" for index, (name, arguments) in enumerate(calls, 1))
    return f"<|open|>tools<|sep|>{inner}<|close|>tools<|sep|>"


def lfm2(*calls):
    return f"<|tool_call_start|>{pythonic(*calls)}<|tool_call_end|>"


def lfm2_json(*calls):
    inner = ", ".join(f'{{"name": {quoted(name)}, "arguments": {obj(arguments)}}}' for name, arguments in calls)
    return f"<|tool_call_start|>[{inner}]<|tool_call_end|>"


def cohere_command4(*calls):
    inner = ",\n".join(f'    {{"tool_call_id": "{index}", "tool_name": {quoted(name)}, "parameters": {obj(arguments)}}}' for index, (name, arguments) in enumerate(calls))
    return f"<|START_ACTION|>[\n{inner}\n]<|END_ACTION|>"


def apertus2509(*calls):
    return "<|tools_prefix|>[" + ", ".join(f"{{{quoted(name)}: {obj(arguments)}}}" for name, arguments in calls) + "]<|tools_suffix|>"


def muse(*calls):
    return "".join(f'<|start|>assistant to={name}<|message|><atem:function_calls>\n<atem:invoke name="{name}">\n' + "".join(f'<atem:parameter name="{key}">{bare(value)}</atem:parameter>\n' for key, value in arguments) + "</atem:invoke>\n</atem:function_calls><|eom|>" for name, arguments in calls)


def gigachat31(*calls):
    return "".join(f'<|function_call|>{{"name": {quoted(name)}, "arguments": {obj(arguments)}}}' for name, arguments in calls)


def gigachat30(*calls):
    return "".join(f'<|message_sep|>\n\nfunction call<|role_sep|>\n{{"name": {quoted(name)}, "arguments": {obj(arguments)}}}' for name, arguments in calls)


def hunyuan(*calls):
    inner = "".join(f"<tool_call:opensource>{name}<tool_sep:opensource>\n" + "".join(f"<arg_key:opensource>{key}</arg_key:opensource>\n<arg_value:opensource>{bare(value)}</arg_value:opensource>\n" for key, value in arguments) + "</tool_call:opensource>\n" for name, arguments in calls)
    return f"<tool_calls:opensource>\n{inner}</tool_calls:opensource>"


def hunyuan_preview(*calls):
    return hunyuan(*calls).replace(":opensource", "")


MARK = "]<]minimax[>["


def element(key, value):
    """`value`: an object is its pairs, so that a name may stand twice."""
    if isinstance(value, Pairs):
        inner = "".join(element(*pair) for pair in value)
    elif isinstance(value, list):
        inner = "".join(element("item", item) for item in value)
    else:
        inner = value if isinstance(value, str) else json.dumps(value)
    return f"{MARK}<{key}>{inner}{MARK}</{key}>"


class Pairs(tuple):
    pass


def nested(value):
    """Numbers as they are written."""
    try:
        decoded = json.loads(value, object_pairs_hook=Pairs)
    except ValueError:
        return value
    return decoded if isinstance(decoded, (str, list, Pairs)) else value


def minimax_m3(*calls):
    inner = "".join(f'{MARK}<invoke name="{name}">' + "".join(element(key, nested(value)) for key, value in arguments) + f"{MARK}</invoke>\n" for name, arguments in calls)
    return f"{MARK}<tool_call>\n{inner}{MARK}</tool_call>"


def xml(value):
    """A text with markup in CDATA, what is no text in Python."""
    try:
        decoded = json.loads(value)
    except ValueError:
        return value
    if not isinstance(decoded, str):
        return value if isinstance(decoded, (int, float)) and not isinstance(decoded, bool) else repr(decoded)
    return f"<![CDATA[{decoded}]]>" if any(mark in decoded for mark in "<&\n") else decoded


def minicpm5(*calls):
    return "".join(f'<function name="{name}">' + "".join(f'<param name="{key}">{xml(value)}</param>' for key, value in arguments) + "</function>" for name, arguments in calls)


def inkling(*calls):
    return "".join(f'<|message_model|>{name}<|content_invoke_tool_json|>{{"name": {quoted(name)}, "args": {obj(arguments)}}}<|end_message|>' for name, arguments in calls)


FORMATS = {
    "hermes": [hermes, hermes_parameters, hermes_compact], "qwen25": [hermes, hermes_parameters, hermes_compact], "qwen3_coder": [qwen_xml], "glm45": [glm45], "glm47": [glm47], "kimi_k2": [kimi_k2, kimi_unclosed], "gemma4": [gemma4], "minimax-m2": [minimax_m2], "deepseekv4": [deepseekv4, deepseekv4_json], "kimi_k3": [kimi_k3], "lfm2": [lfm2, lfm2_json], "cohere_command4": [cohere_command4], "apertus2509": [apertus2509], "muse": [muse], "gigachat3": [gigachat31, gigachat30], "hunyuan": [hunyuan, hunyuan_preview], "minimax-m3": [minimax_m3], "minicpm5": [minicpm5],
    "llama3": [llama3, llama3_bare], "mistral": [mistral, mistral_compact], "deepseekv3": [deepseekv3], "deepseekv31": [deepseekv31],
    "deepseekv32": [deepseekv32, deepseekv32_json], "gpt-oss": [gpt_oss], "pythonic": [pythonic],
    "deepseekv41": [deepseekv41, deepseekv41_json], "gigachat35": [gigachat35], "step3": [step3], "dots": [dots], "iquest_q1": [iquest_q1], "interns1": [interns1], "k2_horizon": [k2_horizon, k2_horizon_typed, k2_horizon_json],
    "mimo": [mimo],
    "inkling": [inkling],
}

# --- texts ------------------------------------------------------------------------------------------------------------

VALUES = [
    "1", "-1", "0", "1.0", "3.14", "1e3", "2.5e+10", "12345678901234567890123", "1e999", "NaN", "true", "false", "null", "01", '"x"', '""', '" x "', '"a\\nb"',
    '"\\u00e9"', '"\\ud83d\\ude42"', '"é 日本 🙂"', '"a\\"b\\\\c"', '"it\'s"', '"\\t"', '"42"', '"null"', '"[1]"', '"{\\"a\\": 1}"', '"a < b > c"', '"[TOOL_CALLS] ["', '"f(a=1)]"', '"; {"',
    '"<｜tool▁call▁end｜>"', '"</｜DSML｜invoke>"', '"</｜DSML｜parameter>"', '"<|call|>"', '"<|end|>"', '"```"', "[]", "{}", "[1, 2, 3]", '["a", null, true]', '{"a": {"b": [1, {"c": "d"}]}}', '{"a": 1, "a": 2}', "[-1]", "[1,]", "{a: 1}", "unquoted",
]
PROSE = ["Let me see. ", "\n\nThen:\n", "é 🙂 ", '{"json": 1} ', "[link](x) ", "<b>html</b> "]


# Of every type that a schema can name, and what stands for one of another type.
TYPED = ["1", "-1", "1.0", "1.5", "1e3", "true", "True", "null", "None", '"x"', '" x "', '""', '"42"', '"true"', "[1]", '{"k": [1, null]}', "{'k': 1}", '"a\\nb"', "unquoted"]
# Markup of the formats as text.
MARKUP = ["<tool_call>", "</tool_call>", "</function>", "<parameter=b>", "</parameter>", "<arg_key>", "</arg_value>", "<|tool_call_end|>", "<|tool_calls_section_end|>", "<tool_call|>", "<|tool_call>", "<think>", "</think>", "}", "<|im_end|>", "</tool_call:opensource>", "</arg_value:opensource>", "</param>", "&amp;"]


def texts(make, is_typed=False, is_single=False):
    pair = [("a", "1"), ("b", '"two"')]
    if is_typed:
        for key in TYPES:
            for value in TYPED:
                yield "types", make(("typed", [(key, value)]))
        for markup in MARKUP:
            yield "markup", make(("typed", [("text", json.dumps(f"a {markup} b"))]), ("typed", [("count", "1")]))
        yield "several", make(("f", pair)) + make(("g", [])) + make(("f", pair))
        yield "thinking", "<think>Hm.</think>" + make(("f", pair))
        yield "thinking", f"<think>{make(('f', pair))}</think>{make(('g', pair))}"
        yield "thinking", f"<|channel>thought\n{make(('f', pair))}<channel|>{make(('g', pair))}"
        yield "white space", make(("f", pair)).replace("<", "\n<", 1) + "\n\n"
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
    last = ("add", [("text", '"because\\nof 💡"')])
    good = make(last) if is_single else make(("f", pair), last)
    for length in range(3, len(good), max(1, len(good) // 12)):
        yield "cut", good[:length]
    source = random.Random(5)
    for _ in range(14):
        start = source.randrange(len(good))
        end = min(len(good), start + source.randint(1, 9))
        yield "mutated", good[:start] + good[end:] if source.random() < 0.5 else good[:end] + good[start:]


MINIMAX = minimax_m2(("f", [("a", "1"), ("b", '"two"')]))
K3 = kimi_k3(("f", [("a", "1"), ("b", '"two"')]))
TAIL = kimi_k2(("f", [("a", "1")]))
HERMES = [
    "", "<tool_call>", "<tool_call></tool_call>", '<tool_call>{"name": "f"}</tool_call>', '<tool_call>{"name": "f", "arguments": {}}', '<tool_call>\n{"name": "f", "arguments": {}}', '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call',
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}, "parameters": {"a": 2}}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": {"a": 1}, "parameters": {}}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": {}, "parameters": {"a": 2}}\n</tool_call>',
    '<tool_call>\n{"name": "f", "arguments": {"a": 1}, "parameters": null}\n</tool_call>', '<tool_call>\n{"name": "f", "name": "g", "arguments": {}}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": {"a": 1}, "arguments": {"a": 2}}\n</tool_call>',
    '<tool_call>\n{"name": "f", "arguments": {"a": {"b": 1, "b": 2}}}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": "{}"}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": null}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": 1}\n</tool_call>',
    '<tool_call>\n[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]\n</tool_call>', '<tool_call>\n{"arguments": {}}\n</tool_call>', '<tool_call>\n{"name": 1, "arguments": {}}\n</tool_call>', '<tool_call>\n{"name": "f", "id": 7, "arguments": {}}\n</tool_call>', "<tool_call>\n{'name': 'f'}\n</tool_call>",
    '<tool_call>\n{"name": "f", "arguments": {}} x\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": {}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>', '<tool_call>\n{"name": "f", "arguments": {}\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
    '<tool_call>\n{"name": "f", "arguments": {}}\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>', '<tool_call>\n\u00a0{"name": "f", "arguments": {}}\n</tool_call>', '{"name": "f", "arguments": {}}', '<tool_call>\n{"name": "f", "arguments": {"a": "x\ny"}}\n</tool_call>',
]
GLM = [
    "", "<tool_call>", "<tool_call></tool_call>", "<tool_call>f</tool_call>", "<tool_call>f\n</tool_call>", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1\n</tool_call>", "<tool_call>f\n<arg_key>a</arg_key>\n</tool_call>",
    "<tool_call>f\n<arg_key>a\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>a</arg_key>\n<arg_value>2</arg_value>\n</tool_call>", "<tool_call>f\n<arg_key> a </arg_key>\n<arg_value> x </arg_value>\n</tool_call>",
    "<tool_call>f\n<arg_key></arg_key>\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f\ntext<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f\n<arg_key>a</arg_key>text<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>text</tool_call>",
    "<tool_call> f \n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>\nf\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>", "<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", "<tool_call>f<arg_key>a</arg_key>\n<arg_value>1</arg_value></tool_call>",
    "<tool_call>f\n<tool_call>g\n</tool_call>", "<tool_call>f<tool_call>g</tool_call>", '<tool_call>{"name": "f"}\n</tool_call>', "<tool_call>f\\n<arg_key>a</arg_key>\\n<arg_value>1</arg_value>\\n</tool_call>",
]

ONE_IN_LISTS = {"lfm2": lfm2_json(("f", [("a", "1")])), "cohere_command4": cohere_command4(("f", [("a", "1")])), "apertus2509": apertus2509(("f", [("a", "1")]))}


def lists(name, opens, closes):
    """What may go wrong with a list of objects between two tokens."""
    one = ONE_IN_LISTS[name]
    inner = one[len(opens):-len(closes)]
    return [
        "", opens, opens + closes, f"{opens}[]{closes}", f"{opens}[]", one[: -len(closes)], one[: -len(closes) - 1], one[len(opens):], one.replace("]<", "<"), one.replace("[", "", 1).replace("]<", "<"), one.replace("]<", ",]<"), one.replace("]<", "] x<"), one.replace("]<", "]\n<"), one.replace("[", "\n[", 1),
        one.replace('{"a": 1}', "[1]"), one.replace('{"a": 1}', "null"), one.replace('{"a": 1}', '"{}"'), one.replace('{"a": 1}', "{'a': 1}"), one.replace('{"a": 1}', '{"a": 1, "a": 2}'), one.replace('{"a": 1}', '{"a": {"b": 1, "b": 2}}'), one.replace('{"a": 1}', f'{{"a": "{closes}"}}'), one.replace('{"a": 1}', '{"a": "x'),
        one.replace('"f"', '""'), one.replace('"f"', "1"), one.replace("f", " f "), one + one, one + " text " + one, opens + one, one[: -len(closes)] + one, f"{opens}[1]{closes}", f"{opens}[{inner}]{closes}", f"{opens}{inner[:-1]}, {{}}]{closes}", f"{opens}{inner[:-1]} {inner[1:]}{closes}",
    ]


OTHERS = {
    "lfm2": [
        *lists("lfm2", "<|tool_call_start|>", "<|tool_call_end|>"),
        *(f"<|tool_call_start|>{text}<|tool_call_end|>" for text in [
            "[f()]", " [f()] ", "f()", "[f(),]", "[f(a=1,)]", "[f(1)]", "[f(a=1), g(2)]", "[f(**{'a': 1})]", "[f(a=1, a=2)]", "[f(a=x)]", "[f(a=x+1), g(b=2)]", "[f(a=true, b=null)]", '[f(a={"b": true, "c": [null, False]})]', "[f(a=(1, 2))]", "[f(a={1, 2})]", "[f(a={1: 2})]", "[f(a='x\ny')]", "[f(a=07)]", "[f(from=1)]",
            "[f(a='sed 's/x/y/' z')]", "[f(a='it\\'s')]", "[f(a=f'x')]", "[f(a=-1.5)]", "[f(a=1) g(b=2)]", "[f(a=1]", "[f(a='x)]", "[get-weather(a=1)]", "[ns.tool(a=1)]", "[f(a='<|tool_call_end|>')]", "[\n f(a=1),\n g(b=2)\n]", "[f]", "[f(), 1]",
        ]),
        "<|tool_call_start|>[f()]", "<|tool_call_start|>[f(a='x)]<|tool_call_end|><|tool_call_start|>[g()]<|tool_call_end|>", "[f()]<|tool_call_end|>",
    ],
    "cohere_command4": [*lists("cohere_command4", "<|START_ACTION|>", "<|END_ACTION|>"), '<|START_ACTION|>[{"name": "f", "parameters": {}}]<|END_ACTION|>', '<|START_ACTION|>[{"tool_name": "f", "arguments": {"a": 1}}]<|END_ACTION|>', '<|START_ACTION|>[{"tool_name": "f"}]<|END_ACTION|>', '<|START_ACTION|>[{"tool_call_id": 0, "tool_name": "f", "parameters": {}}]<|END_ACTION|>'],
    "apertus2509": [*lists("apertus2509", "<|tools_prefix|>", "<|tools_suffix|>"), '<|tools_prefix|>[{"f": {}, "g": {}}]<|tools_suffix|>', '<|tools_prefix|>[{"name": "f", "arguments": {}}]<|tools_suffix|>', "<|inner_prefix|>Hm. " + ONE_IN_LISTS["apertus2509"]],
    "hermes": HERMES, "qwen25": HERMES, "glm45": GLM, "glm47": GLM,
    "qwen3_coder": [
        "", "<tool_call>", "<tool_call></tool_call>", "<tool_call><function=f></function></tool_call>", "<tool_call><function=f></tool_call>", "<tool_call><function=f></function>", "<function=f></function>", "<tool_call><function=></function></tool_call>", "<tool_call><function= f ></function></tool_call>", "<tool_call><function=f</function></tool_call>",
        "<tool_call><function=f><parameter=a>1</function></tool_call>", "<tool_call>\n<function=f>\n<parameter=a>\n1\n</function>\n</tool_call>", "<tool_call><function=f><parameter=a>1<parameter=b>2</parameter></function></tool_call>", "<tool_call>\n<function=f>\n<parameter=a>\n1\n<parameter=b>\n2\n</function>\n</tool_call>",
        "<tool_call><function=f><parameter=a>1</tool_call>", "<tool_call><function=f><parameter=a>1", "<tool_call><function=f><parameter=a>1</parameter></tool_call>", "<tool_call><function=f><parameter=a>1</parameter>", "<tool_call><function=f><parameter=a>1</parameter></function>", "<tool_call><function=f><parameter=a>1</parameter><parameter=a>2</parameter></function></tool_call>",
        "<tool_call><function=f><parameter=a>1</function></tool_call><tool_call><function=g><parameter=b>2</parameter></function></tool_call>", "<tool_call><function=f><parameter=a>1</parameter></function><function=g></function></tool_call>", "<tool_call>text<function=f></function></tool_call>", "<tool_call><function=f>text<parameter=a>1</parameter>text</function>text</tool_call>",
        "<tool_call><function=f><parameter=a>\n\n x \n\n</parameter></function></tool_call>", "<tool_call><function=f><parameter= a >1</parameter></function></tool_call>", "<tool_call><function=f><parameter=>1</parameter></function></tool_call>", "<tool_call><function=f><parameter=a>x<tool_call>y<parameter=b>2</parameter></function></tool_call>", '<tool_call>{"name": "f"}</tool_call>',
        "<tool_call><function=f><tool_call><function=g></function></tool_call>", "<tool_call><function=f g></function></tool_call>",
    ],
    "kimi_k2": [
        "", "<|tool_calls_section_begin|>", "<|tool_calls_section_begin|><|tool_calls_section_end|>", kimi_calls(("f", [])), kimi_calls(("f", [])) + "<|tool_calls_section_end|>", kimi_unclosed(("f", [])) + kimi_k2(("g", [])), TAIL + kimi_calls(("g", [])), kimi_calls(("g", [])) + TAIL, TAIL[: -len("<|tool_call_end|><|tool_calls_section_end|>")],
        TAIL.replace("functions.f:0", "f:0"), TAIL.replace("functions.f:0", "functions.f"), TAIL.replace("functions.f:0", "f"), TAIL.replace("functions.f:0", "0"), TAIL.replace("functions.f:0", ""), TAIL.replace("functions.f:0", " functions.f:0\n"), TAIL.replace("functions.f:0", "functions.f g:0"), TAIL.replace("functions.f:0", "functions.f/g:0"), TAIL.replace("functions.f:0", "functions.:0"),
        TAIL.replace('{"a": 1}', ""), TAIL.replace('{"a": 1}', "[1]"), TAIL.replace('{"a": 1}', "null"), TAIL.replace('{"a": 1}', '"{}"'), TAIL.replace('{"a": 1}', '{"a": 1'), TAIL.replace('{"a": 1}', "{'a': 1}"), TAIL.replace('{"a": 1}', '{"a": 1,}'), TAIL.replace('{"a": 1}', '\n{"a": 1}\n'), TAIL.replace('{"a": 1}', '{"a": 1, "a": 2}'), TAIL.replace('{"a": 1}', '{"a": 1} x'), TAIL.replace('{"a": 1}', '{"a": "}<|tool_call_end|>"}'),
        TAIL.replace("<|tool_call_argument_begin|>", ""), TAIL.replace("<|tool_call_end|>", ""), TAIL.replace("<|tool_call_end|>", "<|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|>"), TAIL + TAIL, TAIL + " text " + TAIL, f"<|tool_calls_section_begin|> text {kimi_calls(('f', []))} text <|tool_calls_section_end|>",
    ],
    "minimax-m2": [
        "", "<minimax:tool_call>", "<minimax:tool_call></minimax:tool_call>", MINIMAX, MINIMAX[: -len("</minimax:tool_call>")], MINIMAX[len("<minimax:tool_call>\n"):], MINIMAX.replace("</invoke>", ""), MINIMAX.replace("</parameter>", ""), MINIMAX.replace("</parameter>", "", 1), MINIMAX.replace('<invoke name="f">', "<invoke>"), MINIMAX.replace('"f"', '" f "'), MINIMAX.replace('"f"', '""'),
        MINIMAX.replace('"a"', '" a "'), MINIMAX.replace('"a"', '""'), MINIMAX.replace('"b"', '"a"'), MINIMAX.replace(">1<", ">\n1\n<"), MINIMAX.replace(">two<", ">\n\n two \n\n<"), MINIMAX.replace("<parameter", "text<parameter"), MINIMAX.replace("\n", ""), MINIMAX.replace("<invoke", "text <invoke"), MINIMAX + MINIMAX, MINIMAX + " text " + MINIMAX, MINIMAX + MINIMAX[len("<minimax:tool_call>\n"): -len("</minimax:tool_call>")],
        "<minimax:tool_call>" + MINIMAX, MINIMAX.replace("</invoke>", '<invoke name="g">\n</invoke>'), MINIMAX.replace('name="a"', "name='a'"), MINIMAX.replace("invoke", "Invoke"),
    ],
    "kimi_k3": [
        "", "<|open|>tools<|sep|>", "<|open|>tools<|sep|><|close|>tools<|sep|>", K3[: -len("<|close|>tools<|sep|>")], K3[len("<|open|>tools<|sep|>"):], K3.replace("<|close|>call<|sep|>", ""), K3.replace("<|close|>argument<|sep|>", ""), K3.replace("<|close|>argument<|sep|>", "", 1), K3.replace(' tool="f"', ""), K3.replace('"f"', '" f "'), K3.replace('"f"', '""'), K3.replace(' index="1"', ""),
        K3.replace('tool="f" index="1"', 'index="1" tool="f"'), K3.replace(' type="number"', ""), K3.replace('type="number"', 'type="integer"'), K3.replace('type="number"', 'type="boolean"'), K3.replace('type="number"', 'type="date"'), K3.replace('"a"', '" a "'), K3.replace('"a"', '""'), K3.replace('"a"', '"a&quot;&amp;b"'), K3.replace('"b"', '"a"'),
        K3.replace("two", " two\n"), K3.replace("two", "&amp;"), K3.replace("<|open|>argument", "text<|open|>argument"), K3.replace("<|sep|>", "<|sep|>\n"), K3 + K3, K3 + " text " + K3, K3.replace("<|close|>call<|sep|>", '<|open|>call tool="g" index="2"<|sep|><|close|>call<|sep|>'), "<|open|>response<|sep|>Hi.<|close|>response<|sep|>" + K3 + "<|close|>message<|sep|>",
        '<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>json type="object"<|sep|>{"a": 1}<|close|>json<|sep|><|close|>call<|sep|><|close|>tools<|sep|>', '<|open|>tools<|sep|><|open|>call tool="typed" index="1"<|sep|><|open|>argument key="text" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>',
    ],
    "gemma4": [
        "", "<|tool_call>", "<|tool_call><tool_call|>", "<|tool_call>call:f{}<tool_call|>", "<|tool_call>call:f{}", "<|tool_call>call:f{a:1", "<|tool_call>call:f{a:1<tool_call|>", "<|tool_call>call:f<tool_call|>", "<|tool_call>call:{}<tool_call|>", "<|tool_call>f{}<tool_call|>", "<|tool_call> call:f{} <tool_call|>", "<|tool_call>call: f {}<tool_call|>",
        "<|tool_call>call:f{a:1,}<tool_call|>", "<|tool_call>call:f{,a:1,,b:2}<tool_call|>", "<|tool_call>call:f{a:1 b:2}<tool_call|>", "<|tool_call>call:f{ a : 1 ,\n b : 2 }<tool_call|>", "<|tool_call>call:f{a:}<tool_call|>", "<|tool_call>call:f{a}<tool_call|>", "<|tool_call>call:f{:1}<tool_call|>", "<|tool_call>call:f{a:Paris}<tool_call|>", '<|tool_call>call:f{a:"Paris"}<tool_call|>',
        '<|tool_call>call:f{a:<|"|>x}<tool_call|>', '<|tool_call>call:f{a:<|"|>x<|"|>y}<tool_call|>', '<|tool_call>call:f{<|"|>a<|"|>:1}<tool_call|>', '<|tool_call>call:f{"a":1}<tool_call|>', '<|tool_call>call:f{a:{<|"|>b<|"|>:1}}<tool_call|>', "<|tool_call>call:f{a:1,a:2}<tool_call|>", "<|tool_call>call:f{a:{b:1,b:2}}<tool_call|>", "<|tool_call>call:f{a:{b:{c:[1,{d:2}]}}}<tool_call|>",
        '<|tool_call>call:f{a:[<|"|>x]<|"|>,[<|"|>]<|"|>]]}<tool_call|>', '<|tool_call>call:f{a:[{b:<|"|>}<|"|>}]}<tool_call|>', "<|tool_call>call:f{a:[1,[2,[3]]]}<tool_call|>", "<|tool_call>call:f{a:[1,]}<tool_call|>", "<|tool_call>call:f{a:[1}<tool_call|>", "<|tool_call>call:f{a:[null,None,true,x]}<tool_call|>", "<|tool_call>call:f{a:None}<tool_call|>", "<|tool_call>call:f{a:1_000}<tool_call|>", "<|tool_call>call:f{a:+1}<tool_call|>", "<|tool_call>call:f{a:.5}<tool_call|>",
        "<|tool_call>call:f{} x<tool_call|>", "<|tool_call>call:f{}}<tool_call|>", "<|tool_call>call:f{}<|tool_call>call:g{}<tool_call|>", "<|tool_call>call:f{}<tool_call|><|tool_response>", "<|tool_call>call:f{}<tool_call|><|tool_call>call:g{", '<|tool_call>call:f{"name": "f"}<tool_call|>', "<|tool_call>call:f{a b:1}<tool_call|>", "<|tool_call>call:f{a:1}<tool_call|> text <|tool_call>call:g{a:2}<tool_call|>", "<|tool_call>call:f g{}<tool_call|>",
    ],
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

OTHERS["deepseekv4"] = [text.replace("function_calls>", "tool_calls>") for text in OTHERS["deepseekv32"]]

ATEM = muse(("f", [("a", "1"), ("b", '"two"')]))
OTHERS["muse"] = [
    "", ATEM.replace("</atem:invoke>", ""), ATEM.replace("</atem:parameter>", "", 1), ATEM.replace('name="a"', 'name="b"'), ATEM.replace("<|eom|>", ""), ATEM.replace("<|eom|>", "<|eot|>"), ATEM.replace("<atem:function_calls>", ""), ATEM.replace("</atem:function_calls>", ""), ATEM.replace("to=f", "to=self"), ATEM.replace("to=f", "to=user"),
    ATEM[len("<|start|>assistant to=f<|message|>"):], " to=self<|message|>Hm.<|eom|>" + ATEM, ATEM.replace(">two<", "> two <"), ATEM.replace("<atem:parameter", "text<atem:parameter"), ATEM.replace("\n", ""), ATEM + ATEM,
]

GIGA = gigachat31(("f", [("a", "1")]))
OTHERS["gigachat3"] = [
    "", "<|function_call|>", "<|function_call|>{}", GIGA + "</s>", GIGA + "<|message_sep|>\n\n", GIGA + " text", GIGA[:-1], GIGA.replace("{", "\n {", 1), GIGA.replace('"arguments"', '"parameters"'), '<|function_call|>{"name": "f"}', '<|function_call|>{"arguments": {}}', '<|function_call|>{"name": 1, "arguments": {}}', '<|function_call|>{"name": "f", "arguments": [1]}',
    '<|function_call|>{"name": "f", "arguments": "{}"}', '<|function_call|>{"name": "f", "arguments": null}', '<|function_call|>{"name": "f", "id": 7, "arguments": {}}', '<|function_call|>{"name": "f", "arguments": {"a": "x\ny"}}', '<|function_call|>{"name": "f", "arguments": {"a": "<|function_call|>"}}', '<|function_call|>{"name": "f", "arguments": {"a": "<|message_sep|>"}}', "<|function_call|>{'name': 'f', 'arguments': {}}",
    'function call<|role_sep|>{"name": "f", "arguments": {}}', 'function call<|role_sep|>\n{"name": "f", "arguments": {}}', 'function call {"name": "f", "arguments": {}}', "Text.<|message_sep|>\n\n" + GIGA, GIGA + GIGA, '[{"name": "f", "arguments": {}}]', '<|function_call|>[{"name": "f", "arguments": {}}]',
]
HY = hunyuan(("f", [("a", "1"), ("b", '"two"')]))
OTHERS["hunyuan"] = [
    "", "<tool_calls:opensource>", "<tool_calls:opensource></tool_calls:opensource>", HY.replace(":opensource", ""), HY[: -len("</tool_calls:opensource>")], HY[len("<tool_calls:opensource>\n"):], HY.replace("<tool_sep:opensource>\n", ""), HY.replace("<tool_sep:opensource>\n", "\n"), HY.replace("</tool_call:opensource>", ""), HY.replace("</arg_value:opensource>", ""), HY.replace("</arg_value:opensource>", "", 1),
    HY.replace("</arg_key:opensource>", "", 1), HY.replace("<arg_value:opensource>", "", 1), HY.replace(">f<", "> f <"), HY.replace(">f<", "><"), HY.replace(">f<", ">f g<"), HY.replace(">a<", "> a <"), HY.replace(">a<", "><"), HY.replace(">b<", ">a<"), HY.replace(">two<", "> two\n<"), HY.replace("<arg_key", "text<arg_key", 1), HY.replace("\n", ""), HY.replace("<tool_call:", "text <tool_call:"),
    HY + HY, HY + " text " + HY, HY + HY[len("<tool_calls:opensource>\n"): -len("</tool_calls:opensource>")], HY.replace("</tool_call:opensource>", "<tool_call:opensource>g<tool_sep:opensource>\n</tool_call:opensource>"), f"<think:opensource>{HY}</think:opensource>{HY}", HY + "<｜hy_eos:opensource｜>",
]

M3 = minimax_m3(("f", [("a", "1"), ("b", '"two"')]))
DEEP = minimax_m3(("typed", [("map", '{"k": {"l": [1, "x"]}}'), ("list", '["a", {"b": true}]')]))
OTHERS["minimax-m3"] = [
    "", f"{MARK}<tool_call>", f"{MARK}<tool_call>{MARK}</tool_call>", M3[: -len(f"{MARK}</tool_call>")], M3[len(f"{MARK}<tool_call>\n"):], M3.replace(f"{MARK}</invoke>", ""), M3.replace(f"{MARK}</a>", ""), M3.replace(f"{MARK}</b>", ""), M3.replace(f"{MARK}<a>", "<a>"), M3.replace('"f"', '" f "'), M3.replace('"f"', '""'), M3.replace(' name="f"', ""),
    M3.replace("a>", "b>"), M3.replace("<a>", "< a >"), M3.replace("<a>", "<>").replace("</a>", "</>"), M3.replace("<a>", "<a b>").replace("</a>", "</a b>"), M3.replace(">two", "> two\n"), M3.replace(f"{MARK}<a>", f"text{MARK}<a>"), M3.replace("\n", ""), M3.replace(f"{MARK}<", f"{MARK} <"), M3 + M3, M3 + " text " + M3, M3.replace(f"{MARK}</invoke>", f'{MARK}<invoke name="g">{MARK}</invoke>'),
    DEEP, DEEP.replace(f"{MARK}</l>", ""), DEEP.replace(f"{MARK}<l>", f"text{MARK}<l>"), DEEP.replace("item>", "entry>"), DEEP.replace("map>", "text>"), DEEP.replace("map>", "count>"), DEEP.replace("map>", "any>"), minimax_m3(("f", [("a", '{"k": [1, {"l": true}], "m": {}}'), ("b", "[]"), ("c", '""')])), minimax_m3(("typed", [("list", "[]"), ("map", "{}"), ("text", '""')])), minimax_m3(("typed", [("list", '["x"]'), ("map", '{"a": 1, "a": 2}')])),
]
CPM = minicpm5(("f", [("a", "1"), ("b", '"two"')]))
OTHERS["minicpm5"] = [
    "", "<function", '<function name="f">', '<function name="f"></function>', '<function name="f"/>', CPM[: -len("</function>")], CPM.replace("</param>", ""), CPM.replace("</param>", "", 1), CPM.replace(' name="f"', ""), CPM.replace('"f"', '" f "'), CPM.replace('"f"', '""'), CPM.replace('"f"', "'f'"), CPM.replace('"a"', '" a "'), CPM.replace('"a"', '""'), CPM.replace('"b"', '"a"'), CPM.replace(' name="a"', ""),
    CPM.replace("two", " two\n"), CPM.replace("two", "a &lt; b &amp; c"), CPM.replace("two", "a & b"), CPM.replace("two", "a < b"), CPM.replace("two", "<![CDATA[a < b &amp; c]]>"), CPM.replace("two", "<![CDATA[</param></function>]]>"), CPM.replace("two", "<![CDATA[two"), CPM.replace("two", "<![CDATA[two]]> "), CPM.replace("<param", "text<param", 1), CPM.replace("><", ">\n<"), CPM + CPM, CPM + " text " + CPM, CPM.replace("</function>", '<function name="g"></function>'),
    CPM.replace("two", "[1, 'x', None]"), minicpm5(("typed", [("list", '[1, null, "x"]'), ("map", '{"k": true}'), ("flag", "true")])), CPM.replace("function", "tool"),
]

OTHERS["deepseekv41"] = [spaced(text) for text in OTHERS["deepseekv4"]]
OTHERS["gigachat35"] = [text.replace("DSML", "GCML") for text in OTHERS["deepseekv4"]]
OTHERS["iquest_q1"] = [text.replace("tool_call>", "iquest_tool_call>") for text in GLM]
OTHERS["k2_horizon"] = [text.replace("tool_call>", "ifm|tool_call>").replace("arg_", "ifm|arg_") for text in GLM + HERMES]
OTHERS["interns1"] = [text.replace("<tool_call>", "<|action_start|> <|plugin|>").replace("</tool_call>", "<|action_end|>") for text in HERMES]
OTHERS["dots"] = [*(text.replace("minimax:tool_call>", "dots_function_call>") for text in OTHERS["minimax-m2"]), '<dots_function_call>{"name": "f", "arguments": {"a": 1}}</dots_function_call>']
STEP = step3(("f", [("a", "1"), ("b", '"two"')]))
OTHERS["step3"] = [
    "", "<｜tool_calls_begin｜>", "<｜tool_calls_begin｜><｜tool_calls_end｜>", STEP[: -len("<｜tool_calls_end｜>")], STEP[len("<｜tool_calls_begin｜>"):], STEP.replace("<｜tool_call_end｜>", ""), STEP.replace("<｜tool_call_begin｜>", ""), STEP.replace("<｜tool_sep｜>", ""), STEP.replace("function", "tool"), STEP.replace("</steptml:invoke>", ""), STEP.replace("</steptml:parameter>", "", 1), STEP.replace('name="a"', 'name="b"'), STEP.replace('name="f"', 'name=""'),
    STEP.replace(">two<", "> two <"), STEP.replace(">two<", ">a < b<"), STEP.replace("<steptml:parameter", "text<steptml:parameter"), STEP.replace("\n", ""), STEP + STEP, STEP + " text " + STEP, STEP.replace("<｜tool_calls_end｜>", STEP[len("<｜tool_calls_begin｜>"):]),
]

# --- results ----------------------------------------------------------------------------------------------------------


class Vocabulary:
    """The detector of hunyuan takes its tags from the tokenizer; those of the released ones have a suffix, those of the preview none."""

    def __init__(self, text):
        self.suffix = ":opensource" if ":opensource" in text else ""

    def get_vocab(self):
        return {f"<{name}{self.suffix}>": number for number, name in enumerate(["tool_calls", "tool_call", "tool_sep", "arg_key", "arg_value", "think"])}


def parsed(name, text):
    """The calls and what is left as text, or the name of the exception that escaped."""
    try:
        rest, calls = FunctionCallParser(TOOLS, name, tokenizer=Vocabulary(text) if name == "hunyuan" else None).parse_non_stream(text)
        return {"rest": rest, "calls": [[call.name, call.parameters] for call in calls]}
    except Exception as error:
        return type(error).__name__

OTHERS["mimo"] = OTHERS["qwen3_coder"]
INK = inkling(("f", [("a", "1"), ("b", '"two"')]))
OTHERS["inkling"] = [
    "", "<|content_invoke_tool_json|>", "<|content_invoke_tool_json|><|end_message|>", INK[: -len("<|end_message|>")], INK.replace("<|message_model|>f", ""), INK.replace("args", "arguments"),
    INK.replace('"name": "f", ', ""), INK.replace('"f"', '" "'), INK.replace(', "args"', ', "id": "7", "args"'), INK.replace("{", " {\n"), INK.replace('"two"', "[1, null]"), INK.replace("two", "<|end_message|>"),
    INK + INK, "<|content_text|>Hi.<|end_message|>" + INK, "<|message_model|><|content_text|>Hi.<|end_message|>" + INK + "<|content_model_end_sampling|>", INK[: -len("}<|end_message|>")] + INK, INK.replace("json|>{", "json|>[").replace("}<|end", "]<|end"),
]

cases = []
for name, makes in FORMATS.items():
    seen = set()
    is_typed = name in ("hermes", "qwen25", "qwen3_coder", "glm45", "glm47", "kimi_k2", "gemma4", "minimax-m2", "kimi_k3", "muse", "hunyuan", "minimax-m3", "minicpm5", "step3", "dots", "iquest_q1", "interns1", "k2_horizon", "mimo")
    for group, text in [*((group, text) for make in makes for group, text in texts(make, is_typed, name == "gigachat3")), *(("other", text) for text in OTHERS[name])]:
        if text not in seen:
            seen.add(text)
            cases.append([name, group, text, parsed(name, text)])

lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
head = json.dumps(f"sglang {version('sglang')}")
made = f'{{"made with": {head}, "tools": {json.dumps(SCHEMAS)}, "cases": [\n{lines}\n]}}\n'
if sys.argv[1:] == ["-"]:
    print(made)
else:
    Path("lib/parsers/golden/sglang.json").write_text(made)
    print(len(cases), "texts")
