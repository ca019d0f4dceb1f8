"""Runs TRL's own check of chat templates. It answers each line of JSON with a line of JSON until the input ends.

A request is `{"template", "marks"}`: marks are the added tokens; every other byte is a token. An answer is `{"supported",
"preserving", "error", "renders"}`, with every input that TRL renders and transformers' render of it.
"""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "lib" / "templates" / "golden"))
from oracle import MADE_WITH, failure  # noqa: E402
from importlib.metadata import version  # noqa: E402

from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from trl.chat_template_utils import is_chat_template_prefix_preserving, supports_tool_calling  # noqa: E402

# Output of templates goes to standard error, so that it does not mix with replies.
replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)


class Recording(PreTrainedTokenizerFast):
    """Keeps the text of every conversation that is rendered."""

    def apply_chat_template(self, conversation, **options):
        messages = json.loads(json.dumps(conversation))
        prompt = options.get("add_generation_prompt", False)
        try:
            text = super().apply_chat_template(conversation, **{**options, "tokenize": False})
        except Exception as error:
            self.renders.append([messages, prompt, failure(error)])
            raise
        self.renders.append([messages, prompt, text])
        return text if options.get("tokenize") is False else self.encode(text, add_special_tokens=False)


def verdict(template, marks):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE(vocab={byte: index for index, byte in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.add_tokens([AddedToken(mark, normalized=False) for mark in marks])
    tokenizer = Recording(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = template
    tokenizer.renders = []
    answer = {"supported": None, "preserving": None, "error": None}
    try:
        answer["supported"] = supports_tool_calling(tokenizer)
        if answer["supported"]:
            answer["preserving"] = is_chat_template_prefix_preserving(tokenizer)
    except Exception as error:
        answer["error"] = failure(error)
    return {**answer, "renders": tokenizer.renders}


print(json.dumps(f"{MADE_WITH}, trl {version('trl')}"), file=replies, flush=True)
for line in sys.stdin:
    case = json.loads(line)
    print(json.dumps(verdict(case["template"], case["marks"])), file=replies, flush=True)
