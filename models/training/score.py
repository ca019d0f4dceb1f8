"""Score an exported model folder: held-out questions in the full agent loop, greedy and sampled.

    python score.py ../tiny-qwen3 --temperatures 0 0.7 1 --out scores.json

A rollout is right when every question in it is: the right calls were made (names, argument names, values and types) and
the final answer says what the results said. Arithmetic is judged by its values, since 15 / 100 * 80 may be written in
more than one way and the model cannot know a value without a call.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent import Answered, Engine, Rollout, roll_out
from conversation import Call
from tasks import Expected, Task, suites


def play(engine: Engine, task: Task, temperature: float, seed: int) -> tuple[Rollout, str]:
    """-> (the rollout, why it is wrong or "")"""
    rollout = roll_out(
        engine,
        task.dialogue,
        [question.question for question in task.questions],
        lambda number, round_number, calls: results(task, number, round_number, calls),
        task.thinking,
        temperature,
        seed,
    )
    if rollout.endless:
        return rollout, f"endless turn: {rollout.answers[-1].texts[-1][:200]!r}"
    for question, answered in zip(task.questions, rollout.answers):
        if reason := wrong(question, answered):
            return rollout, f"{question.question!r}: {reason} | {answered.texts}"
    return rollout, ""


def results(task: Task, number: int, round_number: int, calls: list[Call]) -> list[str]:
    """The script's results for the calls it expects; otherwise what a real tool would say."""
    rounds = task.questions[number].rounds
    if round_number < len(rounds) and same_calls(calls, rounds[round_number][0]):
        by_call = {key(call): text for call, text in zip(*rounds[round_number])}
        return [by_call[key(call)] for call in calls]
    return [real_result(task, call) for call in calls]


def real_result(task: Task, call: Call) -> str:
    names = [schema["function"]["name"] for schema in task.dialogue.tools]
    if call.name not in names:
        return f"Error: unknown tool {call.name}. Available tools: {', '.join(names)}"
    if task.calculator and call.name == task.calculator.name:
        expression = call.arguments.get(task.calculator.argument)
        return (
            task.calculator.result(expression)
            if isinstance(expression, str)
            else f"Error: missing required argument {task.calculator.argument}"
        )
    return "ok"


def wrong(expected: Expected, answered: Answered) -> str:
    if answered.malformed:
        return "malformed call"
    if answered.text is None:
        return "no final answer"
    if not expected.by_value:
        made, wanted = answered.rounds, [calls for calls, _ in expected.rounds]
        if len(made) != len(wanted) or not all(same_calls(one, two) for one, two in zip(made, wanted)):
            return (
                f"calls {[[call.text()[12:-13] for call in one] for one in made]}, wanted "
                f"{[[call.text()[12:-13] for call in one] for one in wanted]}"
            )
    elif not answered.rounds and any(part[-1].isdigit() for part in expected.parts):
        return f"no call was made, but it said {answered.text!r}"
    if expected.answer is not None and plain(answered.text) != plain(expected.answer):
        return f"answer {answered.text!r}, wanted {expected.answer!r}"
    missing = [part for part in expected.parts if not any(says(answered.text, one) for one in part.split("|"))]
    return f"answer {answered.text!r} lacks {missing}" if missing else ""


def says(text: str, part: str) -> bool:
    """Whole numbers only: "12" is not said by "112"."""
    return re.search(rf"(?<![0-9.]){re.escape(part)}(?![0-9]|\.[0-9])", text) is not None


def plain(answer: str) -> str:
    """Answers differ in their template ("The result is x." or "It is x."); what they say must not."""
    return re.sub(r"^(The result is|The tool returned|It is|The answer is) ", "", answer).rstrip(".")


def same_calls(one: Any, two: Any) -> bool:
    return sorted(map(key, one)) == sorted(map(key, two))


def key(call: Call) -> str:
    """1 and 1.0 are one number, as they are in JavaScript; "1" and true are not."""
    return json.dumps([call.name, normal(call.arguments)], sort_keys=True, ensure_ascii=False)


def normal(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: normal(one) for name, one in value.items()}
    if isinstance(value, list):
        return [normal(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# ---- the report


@dataclass
class Count:
    right: int = 0
    total: int = 0

    def add(self, right: bool) -> None:
        self.right += right
        self.total += 1

    def __str__(self) -> str:
        return f"{self.right}/{self.total}"


@dataclass
class Suite:
    kinds: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    modes: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    all: Count = field(default_factory=Count)
    drifted: int = 0
    turns: int = 0
    turns_drifted: int = 0
    endless: int = 0
    tokens: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, engine: Engine, task: Task, rollout: Rollout, reason: str) -> None:
        for count in (self.kinds[task.kind], self.modes["thinking" if task.thinking else "direct"], self.all):
            count.add(not reason)
        self.drifted += rollout.drifted(engine.codec)
        self.turns += len(rollout.responses)
        self.turns_drifted += sum(engine.codec.encode(engine.codec.decode(ids)) != ids for ids in rollout.responses)
        self.endless += rollout.endless
        self.tokens += sum(map(len, rollout.responses))
        if reason:
            self.failures.append(f"{task.kind}, {'thinking' if task.thinking else 'direct'}: {reason}")

    def summary(self) -> dict[str, Any]:
        return {
            "right": str(self.all),
            "kinds": {kind: str(count) for kind, count in self.kinds.items()},
            "modes": {mode: str(count) for mode, count in self.modes.items()},
            "rollouts drifted": f"{self.drifted}/{self.all.total}",
            "turns drifted": f"{self.turns_drifted}/{self.turns}",
            "endless turns": f"{self.endless}/{self.turns}",
            "tokens": self.tokens,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 0.7, 1.0])
    parser.add_argument("--suites", nargs="+", default=list(suites()))
    parser.add_argument("--show", type=int, default=0, help="failures to print for each suite")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    engine, report = Engine(options.folder), {}
    for temperature in options.temperatures:
        started, whole = time.time(), {}
        for name in options.suites:
            suite = Suite()
            for index, task in enumerate(suites()[name]()):
                suite.add(engine, task, *play(engine, task, temperature, seed=index))
            whole[name] = suite.summary()
            print(f"T={temperature} {name}: {json.dumps(whole[name])}", flush=True)
            for failure in suite.failures[: options.show]:
                print("    ", failure[:600], flush=True)
        report[str(temperature)] = whole | {"seconds": round(time.time() - started)}
    if options.out:
        options.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
