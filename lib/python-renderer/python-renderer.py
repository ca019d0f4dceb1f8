"""Renders a conversation with the transformers of this Python: reads one line of JSON from stdin, writes one to stdout.

Stdin stays open until the answer is read: if it ends, the application is gone, and this process ends too.

Request: template; messages, tools, options (JSON texts); specialTokens {bos_token: …}; tokenizerJson (text, or null for no ids).
Answer: versions, and one of: text with ids (or null), error {className, message, line}, or missing (what this Python lacks).
"""

import json
import platform
import os
import re
import signal
import sys
import threading
import traceback

# Templates can leave the sandbox of earlier versions (CVE-2025-27516, CVE-2024-56326).
SAFE_JINJA = (3, 1, 6)
# The limit is in bytes. jinja2 bounds range() but no text: 'a' * 10**11 would take all memory.
LARGEST_PROCESS = 8 << 30
# The limit is in seconds. The application ends an answer sooner. If it was killed while endless code occupies the interpreter,
# the system ends this process at this limit.
LONGEST_PROCESS = 120


def main():
    request = json.loads(sys.stdin.readline())
    end_with_application()
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
    if tuple(map(int, re.findall(r"\d+", jinja2.__version__)[:3])) < SAFE_JINJA:
        return {"missing": "templates can leave the sandbox of this jinja2", "versions": versions}
    bound_memory()
    definition = request["tokenizerJson"]
    core = Tokenizer.from_str(definition) if definition else Tokenizer(WordLevel({}))
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
    options = {**request["specialTokens"], **json.loads(request["options"] or "{}")}
    tools = json.loads(request["tools"] or "null")
    try:
        text = tokenizer.apply_chat_template(
            json.loads(request["messages"]),
            tools=tools,
            chat_template=request["template"],
            tokenize=False,
            **options,
        )
    except Exception as error:  # The answer reports any error of a template.
        return {"versions": versions, "error": told(error)}
    ids = core.encode(text, add_special_tokens=False).ids if definition else None
    return {"versions": versions, "text": text, "ids": ids}


def end_with_application():
    def wait():
        # The application sends nothing after the request, so this read returns when it ends.
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
    if hasattr(signal, "alarm"):  # Windows has no alarm.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(LONGEST_PROCESS)


def bound_memory():
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_PROCESS, resource.getrlimit(resource.RLIMIT_AS)[1]))
    except (ImportError, OSError, ValueError):  # Windows has no such limit; macOS refuses it.
        pass


def told(error):
    line = getattr(error, "lineno", None)
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == "<template>":
            line = frame.lineno
    return {"className": type(error).__name__, "message": str(error), "line": line}


if __name__ == "__main__":
    answer = json.dumps(main())
    sys.stdout.write(answer)
    sys.stdout.flush()
    # The interpreter would wait for the thread that still reads stdin.
    os._exit(0)
