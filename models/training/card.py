"""Write what was measured into the model card: the checksum of the weights and the table of scores.

    python card.py ../tiny-qwen3 scores.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path
from typing import Any


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("scores", type=Path)
    options = parser.parse_args()
    card = options.folder / "README.md"
    weights = (options.folder / "onnx" / "model.onnx").read_bytes()
    text = card.read_text(encoding="utf-8")
    text = replaced(text, "checksum", f"SHA-256 of `onnx/model.onnx`: `{hashlib.sha256(weights).hexdigest()}`")
    text = replaced(text, "scores", table(json.loads(options.scores.read_text(encoding="utf-8"))))
    card.write_text(text, encoding="utf-8")


def replaced(text: str, name: str, content: str) -> str:
    """What stands between `<!-- name -->` and `<!-- /name -->`."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
    result, count = re.subn(pattern, lambda match: f"{match[1]}{content}\n{match[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"the card has no place for its {name}")
    return result


def table(scores: dict[str, Any]) -> str:
    """Rollouts that are right, by suite and kind, a column for each temperature; then drift and endless turns."""
    temperatures = list(scores)
    suites = [name for name in scores[temperatures[0]] if name != "seconds"]
    rows = [["held-out suite", *(f"T = {float(one):g}" for one in temperatures)]]
    rows.append(["---"] * len(rows[0]))
    for suite in suites:
        rows.append([suite, *(scores[one][suite]["right"] for one in temperatures)])
        kinds = scores[temperatures[0]][suite]["kinds"]
        if len(kinds) > 1 and suite in ("calculator", "tools"):
            rows += [[f"· {kind}", *(scores[one][suite]["kinds"][kind] for one in temperatures)] for kind in kinds]
    for measure in ("rollouts drifted", "endless turns"):
        rows.append([measure, *(total(scores[one], suites, measure) for one in temperatures)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def total(suites: dict[str, Any], names: list[str], measure: str) -> str:
    parts = [[int(number) for number in suites[name][measure].split("/")] for name in names]
    return "/".join(str(sum(part[index] for part in parts)) for index in (0, 1))


if __name__ == "__main__":
    main()
