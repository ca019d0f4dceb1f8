"""Requests for an invented tool: by its name, or in the words of its description."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import atoms
import slots
from conversation import Call
from source import Source
from toolmaker import Argument, Tool


@dataclass(frozen=True)
class Request:
    text: str
    call: Call
    named: bool
    wish: str = ""  # what is wanted, in the words of the request: "get the weather", "the weather"


def request(source: Source, tool: Tool, others: list[Tool], named: bool | None = None) -> Request:
    if named is None:
        named = not tool.telling or source.chance(0.42)
    used = [argument for argument in tool.arguments if argument.required or source.chance(0.5)]
    values = {argument.name: argument.slot.make(source) for argument in used}
    call = Call(tool.name, values)
    if named and used and source.chance(0.08) and all(not isinstance(value, (dict, list)) for value in values.values()):
        return Request(called_like_code(source, tool, values), call, True)
    head, wish = (named_head(source, tool), "") if named else described_head(source, tool, others)
    spoken = source.shuffled(used) if source.chance(0.15) else used
    parts = [
        argument_text(source, argument, values[argument.name], tool.arguments, alone=len(used) == 1, named=named)
        for argument in spoken
    ]
    if (
        not named
        and source.chance(0.12)
        and parts
        and all(tool.verb != other.verb for other in others)
        and spoken[0].slot.is_text
    ):
        # "translate 'good morning' to French": the verb alone tells which tool
        head, wish = tool.verb.capitalize() if source.chance(0.5) else tool.verb, tool.verb
        parts[0] = slots.written(source, spoken[0].slot, values[spoken[0].name])
    return Request(sentence(source, head, parts), call, named, wish)


def called_like_code(source: Source, tool: Tool, values: dict[str, Any]) -> str:
    if source.chance(0.5):
        inside = ", ".join(json.dumps(value, ensure_ascii=False) for value in values.values())
    else:
        inside = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in values.items())
    return f"{source.choose(['', '', 'call ', 'Run ', 'please call '])}{tool.name}({inside})"


def named_head(source: Source, tool: Tool) -> str:
    name = tool.name if source.chance(0.9) else tool.name.replace("_", " ").replace("-", " ")
    return source.phrase(
        "[Use|use|Call|call|Run|run|Try|Invoke|Execute|Please use|Please call|please run|Can you call|Can you use|"
        "I want you to use|Could you run|Now call|Now use|Use the tool|Call the tool|Call the function|Ask"
        "|Use your|Start|]{gap}{name}",
        name=name,
        gap=" ",
    ).strip()


GETTERS = set("get fetch find search read show query lookup look check list load resolve detect estimate track".split())


def described_head(source: Source, tool: Tool, others: list[Tool]) -> tuple[str, str]:
    """-> (how the sentence begins, the wish in it). Where the thing alone tells the tools apart, the verb may go."""
    thing = tool.thing
    if thing.count(" ") == 1 and source.chance(0.1):
        thing = f"{thing.split(' ')[1]} of the {thing.split(' ')[0]}"
    article = source.weighted({"the": 6, "a": 3, "my": 0.7, "this": 0.4, "": 1, "our": 0.3, "an": 0.2, "one": 0.2})
    noun = f"{article} {thing}".strip()
    unique = all(tool.thing != other.thing for other in others)
    if unique and tool.verb in GETTERS and source.chance(0.5):
        opening = source.phrase(
            "[What is|What is|What's|What's|what is|Show me|show me|Tell me|Give me|I need|Find|I'd like to see|Do "
            "you know|Look up|Get|get|Check|Can you find|Can you tell me|Please show me|I want to know|I want]"
        )
        return f"{opening} {f'the {thing}' if source.chance(0.85) else thing}", f"the {thing}"
    opening = source.phrase(
        (
            "[{V}|{V}|{V}|{verb}|{verb}|Please {verb}|please {verb}|Can you {verb}|can you {verb}|Could you {verb}|I "
            "want to {verb}|I need to {verb}|I'd like to {verb}|Help me {verb}|I would like you to {verb}|You should "
            "{verb}|Now {verb}|Let us {verb}]"
        ),
        V=tool.verb.capitalize(),
        verb=tool.verb,
    )
    return f"{opening} {noun}", f"{tool.verb} the {thing}"


def argument_text(
    source: Source, argument: Argument, value: Any, all_arguments: tuple[Argument, ...], alone: bool, named: bool
) -> str:
    """How one argument is given: as people say it, if that leaves no doubt which argument is meant, or by its name."""
    name = readable_name(source, argument.name)
    slot = argument.slot
    if isinstance(value, list):
        return slots.list_text(source, name, value)
    if isinstance(value, dict):
        return slots.object_text(source, name, value)
    shown = slots.written(source, slot, value)
    natural = 0.0 if argument.invented else 0.45 if named else 0.72
    if alone and source.chance(0.5 if named else 0.35) and not isinstance(value, bool):
        return source.phrase(
            "[{v}|for {v}|with {v}|on {v}|{v}|: {v}]" if named else "[for {v}|{v}|with {v}|: {v}|of {v}]", v=shown
        )
    pattern = source.choose(slot.phrases)
    if source.chance(natural) and not ambiguous(argument, pattern, all_arguments):
        if pattern == "BARE":
            return name if value else f"not {name}"
        if (
            " " in str(value)
            and isinstance(value, str)
            and "{v}" == pattern[-3:]
            and slot.quoted
            and not shown.startswith(("'", '"', "“", "`"))
            and source.chance(0.7)
        ):
            shown = atoms.quoted(source, value)
        return pattern.format(a=name, v=shown)
    if isinstance(value, str) and " " in value and shown == value:
        shown = atoms.quoted(source, value)
    return source.phrase(
        (
            "[{a} {v}|{a} {v}|{a} {v}|with {a} {v}|{a}={v}|{a}: {v}|the {a} {v}|{a} set to {v}|{v} as {a}|{v} as the "
            "{a}|{a} = {v}|{a} is {v}|and {a} {v}|with the {a} {v}|where {a} is {v}|for {a} {v}|for the {a} {v}|in the "
            "{a} {v}|to the {a} {v}|from the {a} {v}|at the {a} {v}]"
        ),
        a=name,
        v=shown,
    )


def ambiguous(argument: Argument, pattern: str, all_arguments: tuple[Argument, ...]) -> bool:
    """Whether another argument of the same type could be given with the same first word."""
    if "{a}" in pattern or pattern == "BARE":
        return False
    word, kind = pattern.split(" ")[0], argument.slot.schema["type"]
    numbers = ("integer", "number")
    return any(
        (other.slot.schema["type"] == kind or {other.slot.schema["type"], kind} <= set(numbers))
        and (other.invented or word in {one.split(" ")[0] for one in other.slot.phrases})
        for other in all_arguments
        if other is not argument and "enum" not in other.slot.schema
    )


def readable_name(source: Source, name: str) -> str:
    return name.replace("_", " ") if "_" in name and source.chance(0.35) else name


def sentence(source: Source, head: str, parts: list[str]) -> str:
    text = head
    for index, part in enumerate(parts):
        first, last = index == 0, index == len(parts) - 1
        if part.startswith(": "):
            text += part
            continue
        by_name = part.split(" ")[0].rstrip(":=") not in PREPOSITIONS
        if first:
            link = source.choose([" ", " "]) if not by_name else source.choose([" ", " with ", " with ", ": ", ", "])
        elif last and source.chance(0.5):
            link = source.choose([" and ", " and ", ", and "])
        else:
            link = (
                source.choose([", ", ", ", " "])
                if not by_name
                else source.choose([", ", ", ", ", with " if not part.startswith("the") else ", "])
            )
        text += link + part
    question = head.lower().startswith(("what", "can you", "could you", "do you"))
    return text + (
        source.choose(["?", "?", ""])
        if question
        else source.choose(
            [".", "", "", " please"] if parts and not parts[-1].endswith((".", "!", "?")) else ["", "", ""]
        )
    )


PREPOSITIONS = set(
    (
        "in for at to from of by on with about called named titled saying into number limit max up at with without and "
        "where"
    ).split()
)
