"""The held-out questions that a model is scored on, suite by suite."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import arithmetic
import asking
import dialogues
import expressions
import failures
import framing
import outcomes
import smalltalk
import spoken
import toolmaker
import toolwork
from arithmetic import Calculator, Memory
from conversation import Assistant, Call, Dialogue, ToolResults, Turn, User
from source import Source
from toolwork import Last

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Expected:
    """One question: what the tools answer in each round, and what counts as right."""

    question: str
    rounds: tuple[tuple[tuple[Call, ...], tuple[str, ...]], ...]  # (calls, their results)
    answer: str | None = None  # the final answer, up to its template
    parts: tuple[str, ...] = ()  # or: texts that it must contain
    by_value: bool = False  # arithmetic: calls may differ if the values are right


@dataclass(frozen=True)
class Task:
    suite: str
    kind: str
    dialogue: Dialogue  # system text and tools
    questions: tuple[Expected, ...]
    thinking: bool
    calculator: Calculator | None = None


def suites() -> dict[str, Callable[[], list[Task]]]:
    return {
        "calculator": lambda: arithmetic_tasks("calculator", 240, standard=1.0),
        "calculator renamed": lambda: arithmetic_tasks("calculator renamed", 80, standard=0.0),
        "tools": lambda: tool_tasks(100),
        "tools in dialogue": lambda: tool_dialogue_tasks(60),
        "errors": lambda: error_tasks(60),
        "copying": lambda: talk_tasks("copying", 60, lambda source: smalltalk.echo(source)),
        "cannot": lambda: cannot_tasks(60),
        "small talk": lambda: talk_tasks("small talk", 40, smalltalk.chat),
        "eight turns": lambda: eight_turns(20),
        "long context": lambda: long_context(20),
        "hand-written": hand_written,
        "hand-written-blind": lambda: hand_written("hand-written-blind"),
    }


ARITHMETIC_KINDS: dict[str, Callable[[Source, Calculator, Memory], list[Turn]]] = {
    "typed": lambda source, calculator, memory: asked(source, calculator, memory, expressions.typed),
    "spoken": lambda source, calculator, memory: asked(
        source, calculator, memory, lambda s: s.choose([spoken.spoken, spoken.command])(s)
    ),
    "percent, root, average": lambda source, calculator, memory: asked(
        source,
        calculator,
        memory,
        lambda s: s.choose([spoken.percentage, spoken.named_operation, spoken.average])(s),
    ),
    "three operands, stories": lambda source, calculator, memory: asked(
        source, calculator, memory, lambda s: s.choose([spoken.spoken_chain, spoken.story])(s)
    ),
    "two steps": arithmetic.two_steps,
    "parallel": arithmetic.parallel,
    "follow-up": lambda source, calculator, memory: arithmetic.single(source, calculator, memory)
    + arithmetic.follow_up(source, calculator, memory),
    "refused": arithmetic.impossible,
}


def asked(
    source: Source, calculator: Calculator, memory: Memory, maker: Callable[[Source], spoken.Question]
) -> list[Turn]:
    while True:
        one = maker(source)
        if expressions.usable(one.expression) and source.owns(one.expression):
            return [
                User(framing.polite(source, one.text)),
                *arithmetic.one_calculation(source, calculator, one.expression, memory),
            ]


def arithmetic_tasks(suite: str, count: int, standard: float) -> list[Task]:
    source = Source(f"score {suite}", held_out=True)
    tasks = []
    for index in range(count):
        kind = list(ARITHMETIC_KINDS)[index % len(ARITHMETIC_KINDS)]
        calculator = arithmetic.make_calculator(source, standard)
        turns = ARITHMETIC_KINDS[kind](source, calculator, Memory())
        dialogue = Dialogue(dialogues.system_text(source, calculator.name), (calculator.schema,))
        tasks.append(
            Task(
                suite, kind, dialogue, script(turns, by_value=True), index // len(ARITHMETIC_KINDS) % 2 == 0, calculator
            )
        )
    return tasks


def tool_tasks(count: int) -> list[Task]:
    """Never-seen tools, 1 to 4 offered; each asked for by its name and, where name or description tell, in words."""
    source = Source("score tools", held_out=True)
    tasks = []
    for index in range(count):
        offered = 1 + index % 4
        while True:
            tools = toolmaker.make_tools(source, offered)
            tool = tools[0]
            if tool.telling:
                break
        system = dialogues.system_text(source, tool.name)
        schemas = tuple(one.schema for one in source.shuffled(tools))
        for named in (True, False):
            wanted = asking.request(source, tool, tools[1:], named=named)
            got = outcomes.result(source)
            expected = Expected(wanted.text, (((wanted.call,), (got.text,)),), answer=got.said)
            tasks.append(
                Task(
                    "tools",
                    f"{'named' if named else 'described'}, {offered} offered",
                    Dialogue(system, schemas),
                    (expected,),
                    index // 4 % 2 == 0,
                )
            )
    return tasks


def tool_dialogue_tasks(count: int) -> list[Task]:
    source = Source("score tool dialogues", held_out=True)
    kinds = {
        "same tool twice": toolwork.same_tool_twice,
        "two tools": toolwork.two_requests,
        "result into call": toolwork.result_into_call,
        "asks back": toolwork.asks_back,
        "and in Rome?": lambda s, tools, last: toolwork.one_call(s, tools, last) + toolwork.same_again(s, tools, last),
    }
    tasks = []
    for index in range(count):
        kind = list(kinds)[index % len(kinds)]
        tools = toolmaker.make_tools(source, source.integer(2, 3))
        turns = kinds[kind](source, tools, Last())
        tasks.append(
            Task(
                "tools in dialogue",
                kind,
                Dialogue(dialogues.system_text(source, tools[0].name), tuple(tool.schema for tool in tools)),
                script(turns),
                index // len(kinds) % 2 == 0,
            )
        )
    return tasks


def error_tasks(count: int) -> list[Task]:
    """A passing error: the same call again. A lasting one: it says so. A call said to be wrong: the call again."""
    source = Source("score errors", held_out=True)
    tasks = []
    for index in range(count):
        kind = ("passing", "lasting", "malformed")[index % 3]
        tool = toolmaker.make_tool(source, 2)
        wanted = asking.request(source, tool, [], named=True)
        got = outcomes.result(source)
        call = (wanted.call,)
        if kind == "passing":
            expected = Expected(
                wanted.text, ((call, (source.choose(failures.PASSING),)), (call, (got.text,))), answer=got.said
            )
        elif kind == "lasting":
            turns = failures.lasting(source, "", wanted.call)
            expected = script([User(wanted.text), *turns])[0]
        else:
            error = source.choose(
                [
                    "Error: invalid JSON in the tool call",
                    "Error: the tool call was malformed",
                    f"Error: unknown tool {tool.name}x. Available tools: {tool.name}",
                    "Error: could not parse the tool call",
                ]
            )
            expected = Expected(wanted.text, ((call, (error,)), (call, (got.text,))), answer=got.said)
        tasks.append(
            Task(
                "errors",
                kind,
                Dialogue(dialogues.system_text(source, tool.name), (tool.schema,)),
                (expected,),
                index // 3 % 2 == 0,
            )
        )
    return tasks


def talk_tasks(suite: str, count: int, piece: Callable[[Source], list[Turn]]) -> list[Task]:
    source = Source(f"score {suite}", held_out=True)
    tasks = []
    for index in range(count):
        schemas = (
            tuple(tool.schema for tool in toolmaker.make_tools(source, 1))
            if index % 3 == 0
            else (arithmetic.make_calculator(source, 1.0).schema,)
            if index % 3 == 1
            else ()
        )
        tasks.append(
            Task(
                suite,
                suite,
                Dialogue(dialogues.system_text(source, None), schemas),
                script(piece(source)),
                index % 2 == 0,
            )
        )
    return tasks


def cannot_tasks(count: int) -> list[Task]:
    source = Source("score cannot", held_out=True)
    tasks = []
    for index in range(count):
        tools = toolmaker.make_tools(source, source.integer(0, 3))
        kind, turns = (
            ("no tool for it", smalltalk.no_tool_for(source, tools))
            if index % 2
            else ("beyond a tiny model", smalltalk.beyond(source))
        )
        # which of the two sentences comes does not matter: nothing is called and it says so
        expected = Expected(turns[0].text, (), parts=("|".join((smalltalk.NO_TOOL, smalltalk.CANNOT)),))
        tasks.append(
            Task(
                "cannot",
                kind,
                Dialogue(dialogues.system_text(source, None), tuple(tool.schema for tool in tools)),
                (expected,),
                index // 2 % 2 == 0,
            )
        )
    return tasks


def eight_turns(count: int) -> list[Task]:
    source = Source("score eight turns", held_out=True)
    tasks = []
    for index in range(count):
        calculator, memory, turns = arithmetic.make_calculator(source, 1.0), Memory(), []
        tools = toolmaker.make_tools(source, 1)
        last = Last()
        for number in range(8):
            if number % 4 == 3:
                turns += toolwork.one_call(source, tools, last)
                memory.value = None
            else:
                turns += (
                    arithmetic.follow_up(source, calculator, memory)
                    if memory.value and number % 2
                    else arithmetic.single(source, calculator, memory)
                )
        schemas = (calculator.schema, *(tool.schema for tool in tools))
        tasks.append(
            Task(
                "eight turns",
                "eight turns",
                Dialogue(dialogues.DEFAULT_SYSTEM, schemas),
                script(turns, by_value=True),
                index % 2 == 0,
                calculator,
            )
        )
    return tasks


def long_context(count: int) -> list[Task]:
    """Long tool results push the last, simple question to 2,000 tokens and more."""
    source = Source("score long", held_out=True)
    tasks = []
    for index in range(count):
        tools = toolmaker.make_tools(source, 2)
        calculator = arithmetic.make_calculator(source, 1.0)
        questions = []
        for _ in range(4 + index % 3):
            wanted = asking.request(source, source.choose(tools), [], named=True)
            got = outcomes.long_result(source, source.integer(60, 110))
            questions.append(Expected(wanted.text, (((wanted.call,), (got.text,)),), answer=got.said))
        questions += script(arithmetic.single(source, calculator, Memory()), by_value=True)
        schemas = (*(tool.schema for tool in tools), calculator.schema)
        tasks.append(
            Task(
                "long context",
                "long context",
                Dialogue(dialogues.DEFAULT_SYSTEM, schemas),
                tuple(questions),
                index % 2 == 0,
                calculator,
            )
        )
    return tasks


def hand_written(suite: str = "hand-written") -> list[Task]:
    content = json.loads((HERE / f"{suite}.json").read_text(encoding="utf-8"))
    tasks = []
    for item in content["items"]:
        schemas = tuple(plain_schema(name, *content["tools"][name]) for name in item["tools"])
        uses_calculator = "calculator" in item["tools"]
        calculator = Calculator("calculator", "expression", {}, "plain") if uses_calculator else None
        questions = []
        for number, question in enumerate(item["ask"]):
            calls = tuple(Call(name, arguments) for name, arguments in item["calls"][number]) if "calls" in item else ()
            results = tuple(f"answer-{number}{index}" for index, _ in enumerate(calls))
            parts = tuple(item["answers"][number]) if "answers" in item else results
            questions.append(Expected(question, ((calls, results),) if calls else (), parts=parts, by_value=not calls))
        for thinking in (True, False):
            tasks.append(
                Task(
                    suite,
                    "thinking" if thinking else "direct",
                    Dialogue(dialogues.DEFAULT_SYSTEM, schemas),
                    tuple(questions),
                    thinking,
                    calculator,
                )
            )
    return tasks


def plain_schema(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def script(turns: list[Turn], by_value: bool = False) -> tuple[Expected, ...]:
    """The turns of generated pieces as expectations, question by question."""
    questions: list[Expected] = []
    text, rounds = "", []
    for index, turn in enumerate(turns):
        if isinstance(turn, User):
            text, rounds = turn.text, []
        elif isinstance(turn, Assistant) and turn.calls:
            results = turns[index + 1]
            assert isinstance(results, ToolResults)
            # a mistake of the history is played as an error of the tool: the model's right call gets it
            calls = (
                turn.calls
                if turn.trained
                else next(later.calls for later in turns[index:] if isinstance(later, Assistant) and later.trained)
            )
            rounds.append((calls, results.texts))
        elif isinstance(turn, Assistant):
            values = arithmetic_values(turn.text) if by_value and rounds else ()
            questions.append(
                Expected(text, tuple(rounds), answer=None if values else turn.text, parts=values, by_value=by_value)
            )
    return tuple(questions)


def arithmetic_values(answer: str) -> tuple[str, ...]:
    """What must be said of "12 * 7 = 84 and 81 / 9 = 9." and of its other wordings."""
    values = re.findall(r"= (-?[0-9][0-9.e-]*?)(?=[.,]?(?: |$))", answer) or re.findall(
        r"(?:result|answer) is (-?[0-9][0-9.e-]*?)\.?$", answer
    )
    return tuple(values[-1:]) if ", then " in answer else tuple(values)
