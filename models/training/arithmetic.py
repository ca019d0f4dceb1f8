"""Dialogue pieces around a calculator: single, two steps, in parallel, follow-ups, errors."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import expressions
import failures
import framing
import numerals
import spoken
import typed
from calculator import tool_result
from conversation import Assistant, Call, Turn, User
from schemas import declare
from source import Source


@dataclass(frozen=True)
class Calculator:
    """A calculator under the name the app gives it, or under any other."""

    name: str
    argument: str
    schema: dict[str, Any]
    result_style: str

    def call(self, expression: str) -> Call:
        return Call(self.name, {self.argument: expression})

    def result(self, expression: str) -> str:
        text = tool_result(expression)
        if text.startswith("Error"):
            return text
        return STYLES[self.result_style](text)


STYLES = {
    "plain": lambda text: text,
    "json number": lambda text: json.dumps({"result": json.loads(text)})
    if len(text) < 14
    else json.dumps({"result": text}),
    "json text": lambda text: json.dumps({"result": text}),
    "labelled": lambda text: f"Result: {text}",
    "sentence": lambda text: f"The result is {text}",
}

DESCRIPTIONS = [
    "Evaluate an arithmetic expression.",
    "Evaluate a math expression",
    "Calculate the value of an arithmetic expression.",
    "Perform basic arithmetic calculations.",
    "A calculator. Supports + - * / % ** and parentheses.",
    "Evaluate mathematical expressions and return the result.",
    "Exact arithmetic: + - * / % ** ^ and parentheses.",
    "Computes the result of an arithmetic expression, e.g. (1 + 2) * 3.",
    "A calculator for numbers.",
    "Calculator",
    "Does maths.",
    "Compute a formula with numbers.",
    "Evaluates an arithmetic expression exactly and returns the result as text.",
    "Use this tool for every calculation.",
    "Perform mathematical calculations.",
]
ARGUMENT_DESCRIPTIONS = [
    "The expression to evaluate",
    "Arithmetic expression, e.g. 2 + 3 * 4",
    "Math expression to evaluate, for example (1 + 2) * 3",
    "The arithmetic expression",
    "An expression such as 12 * (3 + 4)",
    "The mathematical expression to evaluate",
    "What to compute",
    "e.g. 25 * 17",
    "An arithmetic expression.",
]
NAME_PARTS = (
    "calc calculate calculator math maths arithmetic compute computer evaluate eval expression solve solver number "
    "numbers formula"
).split()
ARGUMENT_NAMES = (
    "expr input formula query text e x equation calculation math value problem exp maths expression_text".split()
)


def make_calculator(source: Source, standard: float = 0.6) -> Calculator:
    renamed = not source.chance(standard)
    name = source.fresh(lambda: new_name(source)) if renamed else "calculator"
    argument = new_argument(source) if renamed and source.chance(0.8) else "expression"
    description = None if source.chance(0.03) else source.choose(DESCRIPTIONS)
    declared: dict[str, Any] = {"type": "string"}
    if source.chance(0.75):
        declared["description"] = source.choose(ARGUMENT_DESCRIPTIONS)
    schema = declare(source, name, description, {argument: declared}, [argument])
    style = source.weighted({"plain": 16, "json number": 2, "json text": 1, "labelled": 1, "sentence": 1})
    return Calculator(name, argument, schema, style)


def new_name(source: Source) -> str:
    kind = source.random.random()
    if kind < 0.3:
        parts = [
            source.choose("do run my simple exact basic tool quick the get make".split()),
            source.choose(NAME_PARTS),
        ]
    elif kind < 0.5:
        parts = [
            source.choose(NAME_PARTS),
            source.choose([*NAME_PARTS, "tool", "fn", "it", "function", "service", "engine"]),
        ]
    elif kind < 0.6:
        parts = [source.choose(NAME_PARTS)]
    elif kind < 0.8:
        parts = [source.any_word(), source.choose(NAME_PARTS)]
    else:
        parts = [source.any_word() for _ in range(source.weighted({1: 2, 2: 3, 3: 1}))]
    return join_name(source, parts)


def join_name(source: Source, parts: list[str]) -> str:
    style = source.weighted({"snake": 6, "camel": 2.5, "joined": 1, "kebab": 0.6, "pascal": 0.5})
    if style == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if style == "pascal":
        return "".join(part.capitalize() for part in parts)
    return {"snake": "_", "joined": "", "kebab": "-"}[style].join(parts)


def new_argument(source: Source) -> str:
    return source.choose(ARGUMENT_NAMES) if source.chance(0.6) else source.any_word()


class Memory:
    """What the last answer was, so that a follow-up can speak of it."""

    def __init__(self) -> None:
        self.value: str | None = None

    def keep(self, expression: str) -> None:
        result = tool_result(expression)
        self.value = result if len(result) <= 18 and not result.startswith("Error") and "e" not in result else None


def single(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    asked = expressions.question(source)
    return [User(asked.text), *one_calculation(source, calculator, asked.expression, memory)]


def one_calculation(source: Source, calculator: Calculator, expression: str, memory: Memory) -> list[Turn]:
    memory.keep(expression)
    thought = source.phrase(
        source.weighted(
            {
                "I need to compute {e}.": 6,
                "I will compute {e} with the calculator.": 1,
                "The user wants {e}. I use {name}.": 1,
            }
        ),
        e=expression,
        name=calculator.name,
    )
    work, failed = failures.calls(source, thought, (calculator.call(expression),), (calculator.result(expression),))
    if failed:
        return work
    return [*work, answer(source, expression)]


def answer(source: Source, expression: str) -> Assistant:
    value = tool_result(expression)
    if value.startswith("Error: "):
        return Assistant(
            "The calculator returned an error.", f"I cannot compute {expression}: {value.removeprefix('Error: ')}."
        )
    text = source.weighted({"{e} = {v}": 9, "{e} = {v}.": 0, "The result is {v}": 1, "The answer is {v}": 1}).format(
        e=expression, v=value
    )
    return Assistant(f"The calculator returned {value}.", f"{text}.")


def equal(expression: str) -> str:
    return f"{expression} = {tool_result(expression)}"


def two_steps(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    """The second call needs the first one's result: "Compute 25 * 17, then add 9"."""
    asked, first, value = computable(source)
    steps = 1 if source.chance(0.85) else 2
    text, done = asked.rstrip(".?!= "), [first]
    turns: list[Turn] = []
    calls = [first]
    for _ in range(steps):
        words_for_step, expression = next_step(source, value)
        if source.chance(0.12):
            words_for_step = words_for_step[:1].upper() + words_for_step[1:] if source.chance(0.5) else words_for_step
            text += source.phrase(
                "[.|?|;|!] [Then|then|Now|After that|And then|Next|And|Afterwards][,|] {words}", words=words_for_step
            )
        else:
            text += (
                source.phrase(
                    "[,|,|] [then|then|and then|and|after that|and after that|, then|and finally] {words}",
                    words=words_for_step,
                )
                .replace(" , ", ", ")
                .replace(",, ", ", ")
            )
        calls.append(expression)
        value = tool_result(expression)
        done.append(expression)
        if not short(value):
            break
    text += source.phrase("[.|?|.||]")
    for index, expression in enumerate(calls):
        thought = (
            f"First I compute {expression}."
            if index == 0
            else f"The calculator returned {tool_result(calls[index - 1])}. Next I compute {expression}."
        )
        work, failed = failures.calls(
            source, thought, (calculator.call(expression),), (calculator.result(expression),), likelihood=0.02
        )
        turns += work
        if failed:
            memory.value = None
            return [User(text), *turns]
    memory.keep(calls[-1])
    if value.startswith("Error: "):
        return [User(text), *turns, answer(source, calls[-1])]
    said = (
        ", then ".join(equal(expression) for expression in calls) if source.chance(0.85) else f"The result is {value}"
    )
    return [User(text), *turns, Assistant(f"The calculator returned {value}.", f"{said}.")]


def computable(source: Source) -> tuple[str, str, str]:
    while True:
        asked = expressions.question(source)
        value = tool_result(asked.expression)
        if (
            short(value)
            and len(asked.expression) < 30
            and asked.text.count(".") <= 2 + asked.expression.count(".")
            and "?" not in asked.text[:-1]
        ):
            return asked.text, asked.expression, value


def short(value: str) -> bool:
    return len(value) <= 18 and "e" not in value and not value.startswith("Error")


STEPS = {
    "+": ["add {b}", "add {b}", "plus {b}", "add {b} to [it|that|the result]", "increase [it|that|the result] by {b}"],
    "-": [
        "subtract {b}",
        "minus {b}",
        "take away {b}",
        "subtract {b} from [it|that|the result]",
        "reduce [it|that] by {b}",
    ],
    "*": ["multiply by {b}", "times {b}", "multiply [it|that|the result] by {b}"],
    "/": ["divide by {b}", "divided by {b}", "divide [it|that|the result] by {b}"],
}


def next_step(source: Source, value: str) -> tuple[str, str]:
    kind = source.random.random()
    base = f"({value})" if value.startswith("-") else value
    if kind < 0.05:
        return source.choose(["square it", "square that", "square the result"]), f"{base} ** 2"
    if kind < 0.09:
        return source.choose(["double it", "double that"]), f"2 * {value}"
    if kind < 0.12:
        return source.choose(["halve it", "take half of it", "take half of that"]), f"{value} / 2"
    if kind < 0.14:
        return "take the square root", f"{base} ** 0.5" if not value.startswith("-") else f"{value} + 0"
    operator = source.choose("+-*/")
    while True:
        second = numerals.positive(source, source.weighted({1: 3, 2: 4, 3: 2}))
        expression = f"{value} {operator} {second}"
        if source.owns(expression):
            return source.phrase(source.choose(STEPS[operator]), b=numerals.said(source, second)), expression


def follow_up(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    if memory.value is None or source.chance(0.12):
        return another(source, calculator, memory)
    words_for_step, expression = next_step(source, memory.value)
    pattern = source.choose(
        [
            "[Now|now|Then|And now|OK, now|Next,|and now|Great, now|and|And|] {step}[.||.|, please.| please]",
            "[What if I|Can you|Please|Could you|Let us|I want to] {step}[?|.|]",
            "{step}[.||]",
            "[And|and|What about|what about|now] {step}[?|]",
            "[Take that and|Take the result and|With that result:] {step}[.|]",
        ]
    )
    text = source.phrase(pattern, step=words_for_step).strip()
    return [
        User(text[:1].upper() + text[1:] if source.chance(0.5) else text),
        *one_calculation(source, calculator, expression, memory),
    ]


def another(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    shown, sent = typed.typed_expression(source)
    while not (source.owns(sent) and expressions.usable(sent)):
        shown, sent = typed.typed_expression(source)
    text = source.phrase(
        "[And|and|What about|what about|how about|And what is|Also|Next:|now|Then|ok and] {e}[?||.]", e=shown
    )
    return [User(text), *one_calculation(source, calculator, sent, memory)]


def parallel(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    count = source.weighted({2: 8, 3: 2, 4: 0.5})
    pairs: list[tuple[str, str]] = []
    in_words = source.chance(0.25)
    while len(pairs) < count:
        shown, sent = spoken.spoken_pair(source) if in_words else typed.typed_expression(source)
        if (
            " and " not in shown
            and len(sent) < 40
            and source.owns(sent)
            and short(tool_result(sent))
            and all(sent != other for _, other in pairs)
        ):
            pairs.append((shown, sent))
    shown_list = [shown for shown, _ in pairs]
    joined = (
        source.choose([", ", ", ", "; "]).join(shown_list[:-1])
        + source.choose([" and ", " and ", " and also ", ", and ", " & "])
        + shown_list[-1]
    )
    if source.chance(0.12):
        joined = source.choose([", ", "; ", "\n", " , "]).join(shown_list)
    text = source.phrase(
        (
            "[What are|Compute|compute|Calculate|calculate|Give me|What is|what is|What's|How much are|Work out|I need|"
            "Please compute|Solve|Evaluate|Tell me|Do|Can you do|] {j}[?|.|.||]"
        ),
        j=joined,
    ).strip()
    sent_list = [sent for _, sent in pairs]
    work, failed = failures.calls(
        source,
        f"I need {numerals.in_words(count)} calculations: {', '.join(sent_list)}.",
        tuple(calculator.call(sent) for sent in sent_list),
        tuple(calculator.result(sent) for sent in sent_list),
    )
    memory.value = None
    if failed:
        return [User(text), *work]
    results = [equal(sent) for sent in sent_list]
    return [User(text), *work, Assistant("I have all the results.", f"{', '.join(results[:-1])} and {results[-1]}.")]


def impossible(source: Source, calculator: Calculator, memory: Memory) -> list[Turn]:
    """Expressions that the calculator refuses: the answer says so."""
    number = numerals.number
    shown = source.weighted(
        {
            "{a} / 0": 3,
            "{a} % 0": 1,
            "{a} / ({b} - {b})": 1,
            "{a} + ": 1,
            "({a} + {b}": 1,
            "{a} ** 99999": 1,
            "(-{a}) ** 0.5": 1,
            "{a} $ {b}": 0.7,
            "{a} + foo": 0.7,
            "{a} ** {a} ** {a}": 0.5,
            "0 ** -{a}": 0.5,
            "{a} + * {b}": 0.7,
            "{a}) * {b}": 0.5,
            "{a} # {b}": 0.4,
        }
    ).format(a=number(source), b=number(source))
    shown = shown.strip()
    if "/ 0" in shown and source.chance(0.3):
        question = source.phrase("[Divide|divide] {a} by [0|zero][.|]", a=shown.split(" ")[0])
    else:
        question = framing.framed(source, shown)
    return [User(question), *one_calculation(source, calculator, shown, memory)]
