"""Renders by transformers' own apply_chat_template: the text, or the error with its class, message and line.

The clock that strftime_now reads stands still, so that the same renders come out on any day.
"""
import json
import re
import traceback
from datetime import datetime
from importlib.metadata import version

import transformers
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast
from transformers.utils import chat_template_utils

MADE_WITH = ", ".join(f"{name} {version(name)}" for name in ("transformers", "jinja2", "markupsafe"))
CLOCK = datetime(2026, 7, 4, 15, 9, 8, 123000)
# Places in memory differ from run to run.
ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]+", re.IGNORECASE)


class StandingClock(datetime):
    @classmethod
    def now(cls, tz=None):
        return CLOCK


chat_template_utils.datetime = StandingClock
transformers.logging.set_verbosity_error()
# Knows no special tokens: templates get theirs as options.
BARE = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()))


def render(template, messages, tools=None, documents=None, add_generation_prompt=False, options=None, tokenizer=BARE):
    """A text, or `{"class", "message", "line"}`."""
    try:
        text = tokenizer.apply_chat_template(
            messages, tools=tools, documents=documents, chat_template=template, tokenize=False,
            add_generation_prompt=add_generation_prompt, **(options or {}),
        )
        return ADDRESS.sub("0x0", text)
    except Exception as error:
        return failure(error)


def failure(error):
    """The line is that of the innermost place of the template which was at work; None where it had not begun."""
    message = getattr(error, "message", None)
    line = getattr(error, "lineno", None)
    if line is None:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
        line = lines[-1] if lines else None
    return {"class": type(error).__name__, "message": ADDRESS.sub("0x0", str(error if message is None else message)), "line": line}


def generation_spans(template, messages, tools=None, documents=None, add_generation_prompt=False, options=None):
    """The text and the spans of its code points that generation blocks wrote, as the tracker measures them."""
    messages = [{key: value for key, value in message.items() if value is not None} for message in messages]
    [text], [spans] = chat_template_utils.render_jinja_template(
        [messages], tools=tools, documents=documents, chat_template=template, return_assistant_tokens_mask=True,
        add_generation_prompt=add_generation_prompt, **(options or {}),
    )
    return text, [list(span) for span in spans]


def compact(value):
    """JSON that keeps lone surrogates readable by any reader."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
