"""What an invented tool returns, and how the answer puts it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import atoms
import words
from source import Source


@dataclass(frozen=True)
class Result:
    text: str  # what the tool prints
    said: str  # how the answer puts it


def result(source: Source) -> Result:
    kind = source.random.random()
    if kind < 0.16:
        word = source.choose(
            [
                "ok",
                "done",
                "OK",
                "true",
                "success",
                "sent",
                "saved",
                "created",
                "Done.",
                "null",
                "updated",
                '{"ok": true}',
                '{"status": "ok"}',
                "",
                "completed",
            ]
        )
        return Result(word, "Done.")
    if kind < 0.60:
        text = plain_result(source)
        return Result(
            text,
            source.weighted({"The result is {r}.": 8, "The tool returned {r}.": 1, "It is {r}.": 0.6}).format(
                r=text.rstrip(".")
            ),
        )
    if kind < 0.86:
        fields = {
            source.choose(words.ARGUMENT_WORDS) if source.chance(0.8) else source.any_word(): result_value(source)
            for _ in range(source.weighted({1: 4, 2: 5, 3: 3, 4: 1}))
        }
        parts = [f"{key} is {value if isinstance(value, str) else json.dumps(value)}" for key, value in fields.items()]
        said = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        indent = 2 if source.chance(0.12) else None
        return Result(json.dumps(fields, ensure_ascii=False, indent=indent), f"The {said}.")
    if kind < 0.95:
        items = [result_word(source) for _ in range(source.integer(2, 5))]
        shown = json.dumps(items, ensure_ascii=False) if source.chance(0.7) else "\n".join(items)
        return Result(shown, f"I found {', '.join(items[:-1])} and {items[-1]}.")
    return long_result(source, source.integer(20, 60))


def long_result(source: Source, length: int) -> Result:
    text = " ".join(source.any_word() for _ in range(length))
    return Result(text, f"The tool returned a long text: {' '.join(text.split(' ')[:3])} ...")


UNITS = "C km kg EUR degrees USD m % minutes points".split()


def plain_result(source: Source) -> str:
    return source.choose(
        [
            lambda: result_word(source),
            lambda: str(source.integer(0, 10 ** source.integer(1, 6))),
            lambda: f"{source.integer(0, 999)}.{source.integer(1, 99)}",
            lambda: atoms.sentence(source).rstrip("!?."),
            lambda: atoms.identifier(source),
            lambda: f"{source.integer(-10, 40)} {source.choose(UNITS)}",
            lambda: (
                f"{source.choose(['sunny', 'cloudy', 'rainy', 'windy', 'foggy', 'snowy', 'clear', 'stormy'])}, "
                f"{source.integer(-10, 40)} {source.choose(['C', 'degrees', '°C'])}"
            ),
            lambda: atoms.clock_time(source),
            lambda: atoms.date(source),
            lambda: atoms.city(source),
            lambda: atoms.person(source),
            lambda: f"{source.any_word()}: {source.any_word()}",
            lambda: atoms.query(source),
        ]
    )()


def result_value(source: Source) -> Any:
    return source.choose(
        [
            lambda: source.integer(0, 10 ** source.integer(1, 5)),
            lambda: atoms.decimal(source, 0, 100),
            lambda: result_word(source),
            lambda: atoms.city(source),
            lambda: atoms.identifier(source),
            lambda: atoms.query(source),
            lambda: source.chance(0.5),
        ]
    )()


def result_word(source: Source) -> str:
    return source.choose(
        [
            source.any_word,
            lambda: atoms.person(source),
            lambda: atoms.city(source),
            source.plain_word,
            lambda: atoms.identifier(source),
        ]
    )()
