"""Renders a conversation with the transformers of this Python: one JSON object in on stdin, one out on stdout.

In: template; messages, tools, options (JSON texts); specialTokens {bos_token: …}; tokenizerJson (text, or null for no ids).
Out: versions, and either text, ids (or null) or error {className, message, line}.
"""

import json
import platform
import sys
import traceback


def main():
    request = json.load(sys.stdin)
    try:
        import jinja2
        import transformers
        from tokenizers import Tokenizer, __version__ as tokenizers_version
        from tokenizers.models import WordLevel
        from transformers import PreTrainedTokenizerFast
    except ImportError as error:
        return {"missing": str(error), "versions": {"python": platform.python_version()}}
    versions = {
        "python": platform.python_version(),
        "transformers": transformers.__version__,
        "jinja2": jinja2.__version__,
        "tokenizers": tokenizers_version,
    }
    definition = request["tokenizerJson"]
    core = Tokenizer.from_str(definition) if definition else Tokenizer(WordLevel({}))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
    options = {**request["specialTokens"], **json.loads(request["options"] or "{}")}
    tools = json.loads(request["tools"] or "null")
    try:
        text = tokenizer.apply_chat_template(
            json.loads(request["messages"]),
            tools=tools or None,
            chat_template=request["template"],
            tokenize=False,
            **options,
        )
    except Exception as error:  # whatever a template raises is the answer
        return {"versions": versions, "error": told(error)}
    ids = core.encode(text, add_special_tokens=False).ids if definition else None
    return {"versions": versions, "text": text, "ids": ids}


def told(error):
    line = getattr(error, "lineno", None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == "<template>":
            line = frame.lineno
    return {"className": type(error).__name__, "message": str(error), "line": line}


if __name__ == "__main__":
    answer = json.dumps(main())
    sys.stdout.write(answer)
