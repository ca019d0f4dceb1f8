"""Renders templates as transformers does. It answers each line of JSON with a line of JSON until the input ends."""
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "lib" / "templates" / "golden"))
from oracle import MADE_WITH, render  # noqa: E402

# Output of templates goes to standard error, so that it does not mix with replies.
replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
print(json.dumps(MADE_WITH), file=replies, flush=True)
for line in sys.stdin:
    case = json.loads(line)
    result = render(
        case["template"], json.loads(case["messages"]), tools=case.get("tools"), add_generation_prompt=case["addGenerationPrompt"],
        options=json.loads(case["variables"]),
    )
    print(json.dumps(result), file=replies, flush=True)
