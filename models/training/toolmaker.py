"""Invented tools, requests for them, and their results.

A tool has a verb, a thing it is about, and up to four arguments. Its name and its description may both tell what it is
for, or only one of them may: a request then names the tool ("use zarb_42 with city Rome") or describes what is wanted
("get the weather in Rome").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import slots
import words
from arithmetic import join_name
from schemas import declare
from slots import Slot
from source import Source


@dataclass(frozen=True)
class Argument:
    name: str
    slot: Slot
    required: bool
    invented: bool


@dataclass(frozen=True)
class Tool:
    name: str
    verb: str
    thing: str
    telling: bool  # its name or its description says what it is for
    arguments: tuple[Argument, ...]
    schema: dict[str, Any]


def make_tool(source: Source, most_arguments: int = 4) -> Tool:
    verb, thing = source.choose(words.VERBS), make_thing(source)
    arguments = make_arguments(source, most_arguments)
    told_by_name = source.chance(0.7)
    name = source.fresh(lambda: tool_name(source, verb, thing) if told_by_name else opaque_name(source))
    described = source.chance(0.85)
    description = (
        tool_description(source, verb, thing, arguments)
        if described
        else source.choose(
            [
                None,
                None,
                f"Internal tool {source.invented_word()}.",
                f"The {source.invented_word()} service.",
                "A test tool.",
                f"Tool of the {source.invented_word()} team",
                "",
            ]
        )
    )
    properties = {argument.name: declared(source, argument, thing) for argument in arguments}
    schema = declare(
        source, name, description, properties, [argument.name for argument in arguments if argument.required]
    )
    return Tool(name, verb, thing, described or told_by_name, tuple(arguments), schema)


def make_thing(source: Source) -> str:
    kind = source.random.random()
    if kind < 0.50:
        thing = source.choose(words.NOUNS)
    elif kind < 0.65:
        thing = f"{source.choose(words.NOUNS)} {source.choose(words.NOUNS)}"
    elif kind < 0.78:
        thing = f"{source.choose(words.ADJECTIVES)} {source.choose(words.NOUNS)}"
    elif kind < 0.92:
        thing = source.invented_word(2)
    else:
        thing = f"{source.invented_word(2)} {source.choose(words.NOUNS)}"
    return plural(thing) if source.chance(0.1) else thing


def plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "sh", "ch", "x")) else f"{noun}s"


def tool_name(source: Source, verb: str, thing: str) -> str:
    parts = thing.split(" ")
    kind = source.random.random()
    if kind < 0.68:
        ordered = [verb, *parts]
    elif kind < 0.80:
        ordered = [*parts, verb]
    elif kind < 0.88:
        ordered = parts
    else:
        ordered = [source.any_word(), verb, *parts]
    suffix = source.choose(["", "", "", "", "", "", "", "tool", "v2", "api", str(source.integer(1, 99)), "by", "all"])
    return join_name(source, [*ordered, *([suffix] if suffix else [])])


def opaque_name(source: Source) -> str:
    name = join_name(source, [source.any_word() for _ in range(source.weighted({1: 3, 2: 5, 3: 2}))])
    return name + (source.choose(["", "_"]) + str(source.integer(1, 99)) if source.chance(0.1) else "")


def tool_description(source: Source, verb: str, thing: str, arguments: list[Argument]) -> str:
    article = source.choose(["a", "the", "the", "one", ""])
    noun = f"{article} {thing}".strip()
    first = arguments[0].name.replace("_", " ") if arguments else "name"
    verbs = plural(verb)  # the third person is made by the same rule
    return source.phrase(
        "[{V} {noun}|{V} {noun}|{V} {noun}|{V} {noun} and return the result|Use this to {verb} {noun}|{V} {noun} "
        "by {first}|{Vs} {noun}|Tool to {verb} {noun}|{V} {noun} for a given {first}"
        "|This tool {verbs} {noun}|{V} {noun} of the {owner}|Lets you {verb} {noun}|{V} {noun} for the user|When "
        "asked to {verb} {noun}, use this]{end}",
        V=verb.capitalize(),
        Vs=verbs.capitalize(),
        verbs=verbs,
        verb=verb,
        noun=noun,
        first=first,
        owner=source.choose(words.NOUNS),
        end=source.choose([".", ".", ""]),
    )


def make_arguments(source: Source, most: int) -> list[Argument]:
    count = min(most, source.weighted({0: 0.7, 1: 7, 2: 6, 3: 4, 4: 2.2}))
    arguments: list[Argument] = []
    while len(arguments) < count:
        slot = slots.any_slot(source)
        invented = source.chance(0.15)
        name = source.any_word() if invented else source.choose(slot.names)
        if not invented and source.chance(0.06):
            name = join_name(source, [source.choose(words.NOUNS), name]).replace("-", "_")
            invented = True
        if all(name != other.name for other in arguments):
            arguments.append(Argument(name, slot, True, invented))
    optional_from = source.integer(1, count) if count > 1 and source.chance(0.3) else count
    return [Argument(a.name, a.slot, index < optional_from, a.invented) for index, a in enumerate(arguments)]


def declared(source: Source, argument: Argument, thing: str) -> dict[str, Any]:
    schema = dict(argument.slot.schema)
    if source.chance(0.4):
        readable = argument.name.replace("_", " ")
        schema["description"] = source.choose(
            [
                f"The {readable}",
                f"{readable.capitalize()} of the {thing}",
                f"The {readable} to use",
                *argument.slot.descriptions,
                *argument.slot.descriptions,
            ]
        )
    if not argument.required and source.chance(0.2) and schema.get("type") in ("integer", "boolean", "string"):
        schema["default"] = (
            {"integer": source.integer(1, 20), "boolean": False, "string": ""}[schema["type"]]
            if "enum" not in schema
            else schema["enum"][0]
        )
    if schema.get("type") == "integer" and source.chance(0.06):
        schema["minimum"] = source.integer(0, 1)
    return schema


def make_tools(source: Source, count: int) -> list[Tool]:
    """Tools that a request can tell apart. Now and then two share the verb or the thing, so that both words count."""
    tools: list[Tool] = []
    while len(tools) < count:
        tool = make_tool(source)
        if tools and source.chance(0.12):
            tool = sibling(source, source.choose(tools))
        if all(tool.name != other.name and (tool.verb, tool.thing) != (other.verb, other.thing) for other in tools):
            tools.append(tool)
    return tools


def sibling(source: Source, tool: Tool) -> Tool:
    verb, thing = (tool.verb, make_thing(source)) if source.chance(0.5) else (source.choose(words.VERBS), tool.thing)
    arguments = list(tool.arguments) if source.chance(0.4) else make_arguments(source, 3)
    name = source.fresh(lambda: tool_name(source, verb, thing))
    properties = {argument.name: declared(source, argument, thing) for argument in arguments}
    schema = declare(
        source,
        name,
        tool_description(source, verb, thing, arguments),
        properties,
        [argument.name for argument in arguments if argument.required],
    )
    return Tool(name, verb, thing, True, tuple(arguments), schema)
