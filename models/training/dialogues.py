"""Whole dialogues: who is there, which tools, how many turns; and the mixture that training draws from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import arithmetic
import atoms
import outcomes
import smalltalk
import toolmaker
import toolwork
from arithmetic import Calculator, Memory
from conversation import Assistant, Dialogue, Segment, ToolResults, Turn, render_again, render_in_place
from source import Source
from toolmaker import Tool
from toolwork import Last

DEFAULT_SYSTEM = "You are a helpful assistant."


@dataclass(frozen=True)
class Example:
    segments: list[Segment]
    dialogue: Dialogue
    thinking: bool


def example(source: Source, stage: str = "full") -> Example:
    """stage: "first" are short dialogues that teach copying, "full" is the whole mixture, "long" fills the context."""
    dialogue = {"first": first_dialogue, "full": full_dialogue, "long": long_dialogue}[stage](source)
    thinking = source.chance(0.55)
    rendered_again = source.chance(0.15)
    return Example((render_again if rendered_again else render_in_place)(dialogue, thinking), dialogue, thinking)


def first_dialogue(source: Source) -> Dialogue:
    kind = source.random.random()
    if kind < 0.30:
        return Dialogue(None, (), tuple(turn for _ in range(source.integer(2, 6)) for turn in smalltalk.echo(source)))
    if kind < 0.60:
        return calculator_dialogue(source, turns=source.integer(2, 4), plain=True)
    return tool_dialogue(source, count=source.weighted({1: 5, 2: 4, 3: 1}), turns=source.integer(2, 5), plain=True)


def full_dialogue(source: Source) -> Dialogue:
    kind = source.random.random()
    if kind < 0.34:
        return calculator_dialogue(source, turns=source.weighted({1: 2, 2: 4, 3: 4, 4: 3, 5: 2, 6: 1, 8: 1}))
    if kind < 0.86:
        return tool_dialogue(
            source,
            count=source.weighted({1: 4, 2: 5, 3: 4, 4: 3, 5: 0.6, 6: 0.4, 8: 0.2}),
            turns=source.weighted({1: 1, 2: 3, 3: 4, 4: 4, 5: 3, 6: 2, 8: 1}),
        )
    if kind < 0.94:
        return talk_dialogue(source, turns=source.integer(1, 5))
    return Dialogue(
        system_text(source, None),
        (),
        tuple(turn for _ in range(source.integer(3, 8)) for turn in smalltalk.echo(source)),
    )


def long_dialogue(source: Source) -> Dialogue:
    """Many turns, many tools, or long tool results: up to the 4,096 tokens of the context."""
    kind = source.random.random()
    if kind < 0.35:
        return calculator_dialogue(source, turns=source.integer(8, 22))
    if kind < 0.75:
        return tool_dialogue(source, count=source.integer(2, 10), turns=source.integer(7, 18))
    return with_long_results(source, tool_dialogue(source, count=source.integer(1, 4), turns=source.integer(3, 8)))


def calculator_dialogue(source: Source, turns: int, plain: bool = False) -> Dialogue:
    calculator = arithmetic.make_calculator(source)
    memory, steps = Memory(), []
    for _ in range(turns):
        steps += calculator_piece(source, calculator, memory, plain)
    return Dialogue(system_text(source, calculator.name), (calculator.schema,), tuple(steps))


def calculator_piece(source: Source, calculator: Calculator, memory: Memory, plain: bool) -> list[Turn]:
    pieces: dict[Callable[[], list[Turn]], float] = {
        lambda: arithmetic.single(source, calculator, memory): 5,
        lambda: arithmetic.follow_up(source, calculator, memory): 4 if memory.value else 0,
        lambda: arithmetic.two_steps(source, calculator, memory): 1 if plain else 3,
        lambda: arithmetic.parallel(source, calculator, memory): 1 if plain else 2.2,
    }
    if not plain:
        pieces |= {
            lambda: arithmetic.impossible(source, calculator, memory): 0.7,
            lambda: smalltalk.no_tool_for(source, []): 0.45,
            lambda: smalltalk.beyond(source): 0.2,
            lambda: smalltalk.chat(source): 0.3,
            lambda: smalltalk.which_tools(source, [calculator.name]): 0.15,
            lambda: smalltalk.echo(source): 0.25,
        }
    return source.weighted(pieces)()


def tool_dialogue(source: Source, count: int, turns: int, plain: bool = False) -> Dialogue:
    tools = toolmaker.make_tools(source, count)
    calculator = (
        arithmetic.make_calculator(source, standard=0.7) if not plain and count < 8 and source.chance(0.22) else None
    )
    schemas = source.shuffled([tool.schema for tool in tools] + ([calculator.schema] if calculator else []))
    names = [schema["function"]["name"] for schema in schemas]
    last, memory, steps = Last(), Memory(), []
    for _ in range(turns):
        steps += tool_piece(source, tools, calculator, names, last, memory, plain)
    return Dialogue(system_text(source, source.choose(names)), tuple(schemas), tuple(steps))


def tool_piece(
    source: Source,
    tools: list[Tool],
    calculator: Calculator | None,
    names: list[str],
    last: Last,
    memory: Memory,
    plain: bool,
) -> list[Turn]:
    if calculator and source.chance(0.3):
        memory_piece = arithmetic.follow_up if memory.value and source.chance(0.4) else arithmetic.single
        return memory_piece(source, calculator, memory)
    memory.value = None
    pieces: dict[Callable[[], list[Turn]], float] = {
        lambda: toolwork.one_call(source, tools, last): 10,
        lambda: smalltalk.about_tool(source, tools): 3.0 if plain else 0.9,
        lambda: toolwork.same_again(source, tools, last): 0.5 if plain else 1.5,
    }
    if not plain:
        pieces |= {
            lambda: toolwork.same_tool_twice(source, tools, last): 0.8,
            lambda: toolwork.two_requests(source, tools, last): 0.9,
            lambda: toolwork.result_into_call(source, tools, last): 0.5,
            lambda: toolwork.asks_back(source, tools, last): 0.35,
            lambda: smalltalk.no_tool_for(source, tools): 0.7,
            lambda: smalltalk.beyond(source): 0.25,
            lambda: smalltalk.chat(source): 0.25,
            lambda: smalltalk.which_tools(source, names): 0.2,
            lambda: smalltalk.echo(source): 0.4,
        }
        if calculator:
            pieces[lambda: toolwork.result_into_calculator(source, tools, calculator, last)] = 1.0
        else:
            pieces[lambda: smalltalk.no_calculator(source)] = 0.25
    return source.weighted(pieces)()


def talk_dialogue(source: Source, turns: int) -> Dialogue:
    tools = toolmaker.make_tools(source, source.integer(1, 3)) if source.chance(0.35) else []
    names = [tool.name for tool in tools]
    steps: list[Turn] = []
    for _ in range(turns):
        kind = source.random.random()
        if kind < 0.50:
            steps += smalltalk.chat(source)
        elif kind < 0.75:
            steps += smalltalk.beyond(source)
        elif kind < 0.85:
            steps += smalltalk.no_tool_for(source, tools)
        elif kind < 0.92:
            steps += smalltalk.no_calculator(source)
        else:
            steps += smalltalk.which_tools(source, names)
    return Dialogue(system_text(source, None), tuple(tool.schema for tool in tools), tuple(steps))


def with_long_results(source: Source, dialogue: Dialogue) -> Dialogue:
    turns = list(dialogue.turns)
    for index in range(len(turns) - 1):
        results, after = turns[index], turns[index + 1]
        if (
            isinstance(results, ToolResults)
            and isinstance(after, Assistant)
            and after.thinking == toolwork.HAVE_RESULT
            and source.chance(0.6)
        ):
            got = outcomes.long_result(source, source.integer(60, 350))
            turns[index : index + 2] = [ToolResults((got.text,)), Assistant(after.thinking, got.said)]
    return Dialogue(dialogue.system, dialogue.tools, tuple(turns))


def system_text(source: Source, name: str | None) -> str | None:
    kind = source.random.random()
    if kind < 0.30:
        return DEFAULT_SYSTEM
    if kind < 0.48:
        return None
    role = source.phrase(
        "[You are|You're|Act as] a [helpful|concise|careful|friendly|precise|polite|smart|good] [assistant|agent|"
        "assistant|bot|AI assistant|maths assistant|research assistant|support agent|expert][| with tools| with "
        "access to tools| for "
        "{w}| of the {w} team| that answers questions| who helps with {w}].",
        w=source.plain_word(),
    ).replace("  ", " ")
    tail = source.phrase(
        "[|| Use tools when they help.| Answer briefly.| Think before you answer.| Do not guess.| Always use a "
        "tool.| Be short.| Use {name} when it helps.| Today is {day}.| Reply in one sentence.| If a tool fails, "
        "say so.| The user is called {who}."
        "| Never make up facts. Always check with a tool.| You must not do arithmetic yourself.]",
        name=name or "a tool",
        day=f"{source.integer(2024, 2030)}-{source.integer(1, 12):02d}-{source.integer(1, 28):02d}",
        who=atoms.person(source),
    )
    return role + tail if source.chance(0.9) else f"{role}{tail} {instructions(source)}"


def instructions(source: Source) -> str:
    """A long system text of somebody else: nothing in it matters for the answer."""
    sentences = [
        " ".join(source.any_word() for _ in range(source.integer(4, 12))).capitalize()
        for _ in range(source.integer(2, 9))
    ]
    if source.chance(0.3):
        return "\n" + "\n".join(f"- {one}" for one in sentences)
    return ". ".join(sentences) + "."
