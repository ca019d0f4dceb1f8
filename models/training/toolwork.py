"""Dialogue pieces around invented tools: one call, follow-ups, several calls, a call that needs another's result."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import atoms
import failures
import numerals
import slots
from arithmetic import Calculator
from asking import Request, request
from calculator import tool_result
from conversation import Assistant, Call, ToolResults, Turn, User
from outcomes import Result, result
from source import Source
from toolmaker import Tool

HAVE_RESULT = "I have the result."


@dataclass
class Last:
    """The last call, for "and in Rome?"."""

    tool: Tool | None = None
    call: Call | None = None


def thought(tool: Tool, asked: Request) -> str:
    """Where the request describes the tool, the thought first repeats what is wanted, then finds the name."""
    if not asked.wish:
        return f"The user wants me to call {tool.name}."
    return f"The user wants {'' if asked.wish.startswith('the ') else 'to '}{asked.wish}. I will call {tool.name}."


def one_call(
    source: Source, tools: list[Tool], last: Last, named: bool | None = None, asked: Request | None = None
) -> list[Turn]:
    tool = source.choose(tools)
    asked = asked or request(source, tool, [other for other in tools if other is not tool], named)
    tool = next(candidate for candidate in tools if candidate.name == asked.call.name)
    last.tool, last.call = tool, asked.call
    return [User(asked.text), *carried_out(source, thought(tool, asked), asked.call)]


def carried_out(source: Source, think: str, call: Call) -> list[Turn]:
    if source.chance(0.03):
        return failures.lasting(source, think, call)
    got = result(source)
    work, failed = failures.calls(source, think, (call,), (got.text,), likelihood=0.07)
    return work if failed else [*work, Assistant(said_thought(got), got.said)]


def said_thought(got: Result) -> str:
    return "It is done." if got.said == "Done." else HAVE_RESULT


def same_again(source: Source, tools: list[Tool], last: Last) -> list[Turn]:
    """As in "and in Rome?": the last call with its first argument changed."""
    if last.tool is None or last.call is None or last.tool not in tools or not last.call.arguments:
        return one_call(source, tools, last)
    used = [argument for argument in last.tool.arguments if argument.name in last.call.arguments]
    argument = used[0] if source.chance(0.7) else source.choose(used)
    value = argument.slot.make(source)
    if isinstance(value, (dict, list, bool)):
        return one_call(source, tools, last)
    shown = slots.written(source, argument.slot, value)
    if len(used) > 1 or argument.invented or source.chance(0.3):
        part = source.phrase("[{a} {v}|with {a} {v}|the {a} {v}|{a}={v}|with {v} as {a}]", a=argument.name, v=shown)
    else:
        part = source.choose([pattern for pattern in argument.slot.phrases if pattern != "BARE"]).format(
            a=argument.name, v=shown
        )
    text = source.phrase(
        (
            "[And|and|What about|what about|Now|now|Same|the same|Again|again|And now|Then|How about|Do it again|Also] "
            "{part}[?||.]"
        ),
        part=part,
    )
    call = Call(last.call.name, {**last.call.arguments, argument.name: value})
    last.call = call
    return [User(text), *carried_out(source, f"The user wants the same call with another {argument.name}.", call)]


def same_tool_twice(source: Source, tools: list[Tool], last: Last) -> list[Turn]:
    """As in "What is the weather in Paris and in Rome?": two calls at once."""
    candidates = [
        tool
        for tool in tools
        if len(tool.arguments) == 1 and not isinstance(tool.arguments[0].slot.make(source), (bool, list, dict))
    ]
    if not candidates:
        return two_requests(source, tools, last)
    tool = source.choose(candidates)
    argument = tool.arguments[0]
    values: list[Any] = []
    while len(values) < source.weighted({2: 5, 3: 1}):
        value = argument.slot.make(source)
        if value not in values:
            values.append(value)
    asked = request(source, replace(tool, arguments=()), [other for other in tools if other is not tool])
    pattern = source.choose(
        [pattern for pattern in argument.slot.phrases if not pattern.startswith(":")]
        if not argument.invented
        else ["{a} {v}", "with {a} {v}", "for {v}"]
    )
    parts = [pattern.format(a=argument.name, v=slots.written(source, argument.slot, value)) for value in values]
    if source.chance(0.4) and pattern.endswith("{v}"):
        parts[1:] = [slots.written(source, argument.slot, value) for value in values[1:]]
    head = asked.text.rstrip(".?! ").removesuffix(" please")
    text = f"{head} {', '.join(parts[:-1])} and {parts[-1]}{source.choose(['?', '.', ''])}"
    calls = tuple(Call(tool.name, {argument.name: value}) for value in values)
    last.tool, last.call = tool, calls[-1]
    return [User(text), *several(source, f"I need {numerals.in_words(len(calls))} calls of {tool.name}.", calls)]


def several(source: Source, think: str, calls: tuple[Call, ...]) -> list[Turn]:
    results = [result(source) for _ in calls]
    joined = " ".join(got.said for got in results)
    return [
        Assistant(think, calls=calls),
        ToolResults(tuple(got.text for got in results)),
        Assistant("I have all the results.", joined),
    ]


def two_requests(source: Source, tools: list[Tool], last: Last) -> list[Turn]:
    """Two different tools in one question, called at once."""
    if len(tools) < 2:
        return one_call(source, tools, last)
    first, second = source.sample(tools, 2)
    asked = [request(source, tool, [other for other in tools if other is not tool]) for tool in (first, second)]
    text = joined_requests(source, asked[0].text, asked[1].text)
    calls = tuple(one.call for one in asked)
    last.tool, last.call = second, calls[1]
    return [User(text), *several(source, f"I need two calls: {first.name} and {second.name}.", calls)]


def joined_requests(source: Source, first: str, second: str) -> str:
    link = source.choose([" and ", " and then ", ", then ", " and also ", ". Also ", ". Then ", "; "])
    return (
        first.rstrip(".? ").removesuffix(" please")
        + link
        + (second[:1].lower() + second[1:] if link[0] == " " or link.startswith(",") else second)
    )


def result_into_call(source: Source, tools: list[Tool], last: Last) -> list[Turn]:
    """As in "find the user with key 7 and mail the result": a call that copies another one's result."""
    takers = [
        tool for tool in tools if len([a for a in tool.arguments if a.required]) == 1 and tool.arguments[0].slot.is_text
    ]
    if not takers or len(tools) < 2:
        return two_requests(source, tools, last)
    second = source.choose(takers)
    first = source.choose([tool for tool in tools if tool is not second])
    one = request(source, first, [tool for tool in tools if tool is not first])
    two = request(source, replace(second, arguments=()), [tool for tool in tools if tool is not second])
    argument = second.arguments[0].name
    tail = source.phrase(
        (
            "[ with the result| with {a} set to the result| with the result as {a}| for the result| with that| with "
            "that as {a}| and use the result as {a}]"
        ),
        a=argument,
    )
    text = joined_requests(
        source, one.text, two.text.rstrip(".? ").removesuffix(" please") + tail + source.choose([".", ""])
    )
    value = atoms.anything(source)
    shown = (
        value
        if source.chance(0.7)
        else json.dumps({source.choose(["value", "result", "name", "id"]): value}, ensure_ascii=False)
    )
    call = Call(second.name, {argument: value})
    got = result(source)
    last.tool, last.call = second, call
    return [
        User(text),
        Assistant(f"First I call {first.name}, then {second.name}.", calls=(one.call,)),
        ToolResults((shown,)),
        Assistant(f"Now I call {second.name} with the result.", calls=(call,)),
        ToolResults((got.text,)),
        Assistant(said_thought(got), got.said),
    ]


def result_into_calculator(source: Source, tools: list[Tool], calculator: Calculator, last: Last) -> list[Turn]:
    """As in "get the price of pens and multiply it by 3"."""
    tool = source.choose(tools)
    asked = request(source, tool, [other for other in tools if other is not tool])
    value = str(source.integer(1, 999)) if source.chance(0.7) else f"{source.integer(1, 99)}.{source.integer(1, 99)}"
    shown = (
        value
        if source.chance(0.6)
        else json.dumps({source.choose(["price", "value", "amount", "result", "count"]): json.loads(value)})
    )
    operator, words_for_it = source.choose(
        [
            ("*", "multiply [it|that|the result] by {b}"),
            ("+", "add {b}[ to it| to that|]"),
            ("-", "subtract {b}"),
            ("/", "divide [it|that|the result] by {b}"),
            ("*", "times {b}"),
        ]
    )
    number = str(source.integer(2, 99))
    text = (
        asked.text.rstrip(".? ").removesuffix(" please")
        + source.choose([" and ", " and then ", ", then "])
        + source.phrase(words_for_it, b=number)
        + source.choose([".", ""])
    )
    expression = f"{value} {operator} {number}"
    last.tool, last.call = tool, asked.call
    return [
        User(text),
        Assistant(f"First I call {tool.name}, then {calculator.name}.", calls=(asked.call,)),
        ToolResults((shown,)),
        Assistant(f"I need to compute {expression}.", calls=(calculator.call(expression),)),
        ToolResults((calculator.result(expression),)),
        Assistant(f"The calculator returned {tool_result(expression)}.", f"{expression} = {tool_result(expression)}."),
    ]


def asks_back(source: Source, tools: list[Tool], last: Last) -> list[Turn]:
    """A request without its one required argument: the model asks for it, and then calls."""
    candidates = [
        tool for tool in tools if tool.telling and len(tool.arguments) == 1 and tool.arguments[0].slot.is_text
    ]
    if not candidates:
        return one_call(source, tools, last)
    tool = source.choose(candidates)
    argument = tool.arguments[0]
    asked = request(
        source, replace(tool, arguments=()), [other for other in tools if other is not tool], named=source.chance(0.7)
    )
    value = argument.slot.make(source)
    call = Call(tool.name, {argument.name: value})
    last.tool, last.call = tool, call
    shown = slots.written(source, argument.slot, value)
    reply = source.phrase("[{v}|{v}|{v}|It is {v}|{a} {v}|The {a} is {v}|Use {v}]", a=argument.name, v=shown)
    return [
        User(asked.text),
        Assistant(f"The {argument.name} is missing.", f"Which {argument.name}?"),
        User(reply),
        *carried_out(source, f"Now I can call {tool.name}.", call),
    ]
