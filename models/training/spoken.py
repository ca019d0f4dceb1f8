"""Expressions as they are said: in words, with percentages and roots, in little stories."""

from __future__ import annotations

from dataclasses import dataclass

import words
from framing import framed
from numerals import number, ordinal, positive, said, said_plain
from source import Source


@dataclass(frozen=True)
class Question:
    text: str
    expression: str


SPOKEN = {
    "+": [
        "{a} plus {b}",
        "{a} plus {b}",
        "{a} added to {b}",
        "the sum of {a} and {b}",
        "the total of {a} and {b}",
        "{a} and {b} together",
    ],
    "-": [
        "{a} minus {b}",
        "{a} minus {b}",
        "{a} less {b}",
        "the difference [between|of] {a} and {b}",
        "{a} take away {b}",
    ],
    "*": [
        "{a} times {b}",
        "{a} times {b}",
        "{a} multiplied by {b}",
        "the product of {a} and {b}",
        "{a} multiplied with {b}",
    ],
    "/": [
        "{a} divided by {b}",
        "{a} divided by {b}",
        "{a} over {b}",
        "the quotient of {a} and {b}",
        "{a} split by {b}",
    ],
    "%": [
        "{a} mod {b}",
        "{a} modulo {b}",
        "the remainder of {a} divided by {b}",
        "the remainder when {a} is divided by {b}",
        "the remainder of {a} by {b}",
    ],
    "**": [
        "{a} to the power of {b}",
        "{a} to the power {b}",
        "{a} raised to the power of {b}",
        "{a} raised to {b}",
        "the {nth} power of {a}",
        "{a} to the {nth} power",
    ],
}

COMMANDS = {
    "+": [
        "[Add|add|Sum|Please add] {a} [and|to|plus] {b}",
        "[Add|Put] {a} and {b}[| together| up]",
        "Increase {a} by {b}",
        "What do I get [if|when] I add {a} [and|to] {b}",
        "How much do {a} and {b} make",
    ],
    "-": [
        "[Subtract|subtract|Take|take|Deduct] {b} from {a}",
        "[Reduce|Decrease|Lower] {a} by {b}",
        "What [is left|remains] [if|when] I take {b} from {a}",
        "Take {b} away from {a}",
        "How much more is {a} than {b}",
    ],
    "*": [
        "[Multiply|multiply|Please multiply] {a} [by|with|and|times] {b}",
        "What do I get [if|when] I multiply {a} [by|and] {b}",
        "{a} [multiply|multiply by] {b}",
    ],
    "/": [
        "[Divide|divide|Please divide] {a} by {b}",
        "[Split|Share] {a} into {b} equal parts",
        "How [many times|often] does {b} [go|fit] into {a}",
        "Split {a} by {b}",
        "What do I get [if|when] I divide {a} by {b}",
    ],
    "%": ["What [is left|remains] [when|if] {a} is divided by {b}", "Give the remainder of {a} divided by {b}"],
    "**": ["[Raise|raise] {a} to the power [of |]{b}", "[Raise|Take] {a} to the {nth} power"],
}


def spoken(source: Source) -> Question:
    phrase, expression = spoken_pair(source)
    return Question(framed(source, phrase), expression)


def spoken_pair(source: Source) -> tuple[str, str]:
    """-> (a noun phrase, the expression)"""
    operator = source.weighted({"+": 4, "-": 4, "*": 4, "/": 4, "%": 1, "**": 2})
    left, right = operands(source, operator)
    phrase = pair_in_words(source, SPOKEN[operator], operator, left, right)
    return phrase, f"{right} + {left}" if "added to" in phrase else f"{left} {operator} {right}"


def command(source: Source) -> Question:
    operator = source.weighted({"+": 4, "-": 4, "*": 4, "/": 4, "%": 1, "**": 1})
    left, right = operands(source, operator)
    text = pair_in_words(source, COMMANDS[operator], operator, left, right)
    return Question(
        text + source.phrase("?" if text.startswith(("What", "How")) else "[.|.||]"), f"{left} {operator} {right}"
    )


def pair_in_words(source: Source, patterns: list[str], operator: str, left: str, right: str) -> str:
    exponent = operator == "**"
    return source.phrase(
        source.choose(patterns),
        a=said(source, left),
        b=right if exponent else said(source, right),
        nth=ordinal(int(right)) if exponent else "",
    )


def operands(source: Source, operator: str) -> tuple[str, str]:
    if operator == "**":
        return str(source.integer(2, 40)), str(source.integer(2, 12))
    return number(source), positive(source) if operator in "/%" else number(source)


def spoken_chain(source: Source) -> Question:
    """Three or four operands; said from left to right, or grouped by the words."""
    a, b, c, d = (said_plain(source) for _ in range(4))
    word = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
    kind = source.random.random()
    if kind < 0.25:
        first, second = source.choose("+-*/"), source.choose("+-*/")
        return Question(framed(source, f"{a} {word[first]} {b} {word[second]} {c}"), f"{a} {first} {b} {second} {c}")
    if kind < 0.37:
        return Question(
            source.phrase("[Add|add|Sum|Add up|add up] {a}, {b} and {c}[.|]", a=a, b=b, c=c), f"{a} + {b} + {c}"
        )
    if kind < 0.45:
        return Question(
            framed(source, source.phrase("the [sum|total] of {a}, {b}, {c} and {d}", a=a, b=b, c=c, d=d)),
            f"{a} + {b} + {c} + {d}",
        )
    if kind < 0.53:
        return Question(
            framed(source, source.phrase("the product of {a}, {b} and {c}", a=a, b=b, c=c)), f"{a} * {b} * {c}"
        )
    name, operator = source.choose([("sum", "+"), ("difference", "-"), ("product", "*"), ("quotient", "/")])
    inner = f"{a} {operator} {b}"
    if kind < 0.65:
        outer = source.choose("+-*/")
        return Question(
            framed(source, f"the {name} of {a} and {b}{source.choose(['', ','])} {word[outer]} {c}"),
            f"({inner}) {outer} {c}",
        )
    verb, link, outer = source.choose([("Multiply", "by", "*"), ("Divide", "by", "/"), ("Multiply", "with", "*")])
    return Question(
        source.phrase(
            "{verb} the {name} of {a} and {b} {link} {c}[.|]", verb=verb, name=name, a=a, b=b, c=c, link=link
        ),
        f"({inner}) {outer} {c}",
    )


def percentage(source: Source) -> Question:
    share, whole = (
        positive(source, source.weighted({1: 1, 2: 4})),
        positive(source, source.weighted({2: 3, 3: 4, 4: 2})),
    )
    percent = source.choose(["%", "%", "%", " percent", " %", " per cent"])
    kind = source.random.random()
    if kind < 0.60:
        return Question(framed(source, f"{share}{percent} of {whole}"), f"{share} / 100 * {whole}")
    if kind < 0.72:
        text = source.phrase(
            "[Increase|Raise|increase] {whole} by {share}{percent}[.|]", whole=whole, share=share, percent=percent
        )
        return Question(text, f"{whole} * (1 + {share} / 100)")
    if kind < 0.88:
        pattern = source.choose(
            [
                "[Decrease|Reduce|Lower|reduce] {whole} by {share}{percent}[.|]",
                "[What is |how much is |]{share}{percent} off {whole}[?|]",
                (
                    "[What is the price of|What do I pay for] a {whole} [dollar|euro] [coat|bike|phone|table] [with|at|"
                    "after a] {share}{percent} [discount|off]?"
                ),
            ]
        )
        return Question(
            source.phrase(pattern, whole=whole, share=share, percent=percent), f"{whole} * (1 - {share} / 100)"
        )
    text = source.phrase(
        (
            "[What [percentage|percent] of {whole} is {share}|What [percentage|percent] is {share} of {whole}|{share} "
            "is what percent of {whole}]?"
        ),
        whole=whole,
        share=share,
    )
    return Question(text, f"{share} / {whole} * 100")


def named_operation(source: Source) -> Question:
    a = positive(source, source.weighted({1: 2, 2: 4, 3: 3, 4: 1}))
    phrase, expression = source.choose(
        [
            ("{a} squared", "{a} ** 2"),
            ("the square of {a}", "{a} ** 2"),
            ("{a} cubed", "{a} ** 3"),
            ("the cube of {a}", "{a} ** 3"),
            ("the square root of {a}", "{a} ** 0.5"),
            ("the square root of {a}", "{a} ** 0.5"),
            ("the root of {a}", "{a} ** 0.5"),
            ("sqrt({a})", "{a} ** 0.5"),
            ("sqrt {a}", "{a} ** 0.5"),
            ("square root of {a}", "{a} ** 0.5"),
            ("half of {a}", "{a} / 2"),
            ("a third of {a}", "{a} / 3"),
            ("a quarter of {a}", "{a} / 4"),
            ("a tenth of {a}", "{a} / 10"),
            ("twice {a}", "2 * {a}"),
            ("double {a}", "2 * {a}"),
            ("double of {a}", "2 * {a}"),
            ("triple {a}", "3 * {a}"),
            ("three times {a}", "3 * {a}"),
            ("the negative of {a}", "0 - {a}"),
            ("the reciprocal of {a}", "1 / {a}"),
            ("one over {a}", "1 / {a}"),
        ]
    )
    return Question(framed(source, phrase.format(a=a)), expression.format(a=a))


def average(source: Source) -> Question:
    values = [said_plain(source) for _ in range(source.weighted({2: 3, 3: 4, 4: 2, 5: 1}))]
    listed = ", ".join(values[:-1]) + source.choose([" and ", " and ", ", "]) + values[-1]
    return Question(
        framed(source, source.phrase("the [average|mean|average value] of {listed}", listed=listed)),
        f"({' + '.join(values)}) / {len(values)}",
    )


def story(source: Source) -> Question:
    a, b, c = (str(source.integer(2, 10 ** source.weighted({1: 3, 2: 5, 3: 2}) + 1)) for _ in range(3))
    price = source.choose([a, f"{source.integer(1, 40)}.{source.integer(10, 99)}"])
    pattern, expression = source.choose(
        [
            (
                (
                    "[I have|{who} has|We have] {a} {things} and [get|gets|buy|find] {b} more. How many {things} [do I|"
                    "does {who}|do we] have[ now| in total|]?"
                ),
                "{a} + {b}",
            ),
            (
                (
                    "There are {a} {colour} {things} and {b} {other} {things}. How many {things} are there[ in total| "
                    "in all|]?"
                ),
                "{a} + {b}",
            ),
            ("{who} has {a} {things}, {friend} has {b}. How many do they have together?", "{a} + {b}"),
            (
                (
                    "[I have|{who} has|There are] {a} {things}. [I give away|{friend} takes|We lose|I sell|{friend} "
                    "eats] {b}[ of them|]. How many [are left|remain|{things} are left]?"
                ),
                "{a} - {b}",
            ),
            ("A [shop|store|baker|farmer] had {a} {things} and sold {b}[ of them|]. How many are left?", "{a} - {b}"),
            ("{who} had {a} {things} and gave {b} to {friend}. How many does {who} have left?", "{a} - {b}"),
            (
                (
                    "[One|A|Each] [box|bag|crate|shelf] holds {a} {things}. How many {things} [are|fit] in {b} [boxes|"
                    "bags|crates|shelves]?"
                ),
                "{a} * {b}",
            ),
            (
                (
                    "[A ticket|A book|One cake|A chair] costs {price} [dollars|euros|pounds]. [What do|How much do|"
                    "What is the price of] {b} [of them cost|tickets cost|books cost]?"
                ),
                "{price} * {b}",
            ),
            (
                (
                    "{who} buys {b} {things} at {price} [each|dollars each|euros each]. [How much is that|What is the "
                    "total|How much does {who} pay]?"
                ),
                "{b} * {price}",
            ),
            ("There are {a} rows with {b} {things} [each|in each row]. How many {things} are there?", "{a} * {b}"),
            ("{a} {things} are shared by {b} [children|friends|people]. How many does each get?", "{a} / {b}"),
            (
                (
                    "[I drive|A car drives|A train travels] {a} km in {b} hours. What is [the|its|my] [speed|average "
                    "speed]?"
                ),
                "{a} / {b}",
            ),
            (
                "{who} packs {a} {things} into [bags|boxes] of {b}. How many [bags|boxes] are [full|needed]?",
                "{a} / {b}",
            ),
            ("{who} earns {price} [dollars|euros] an hour. How much is that for {b} hours?", "{price} * {b}"),
            ("{who} has {a} {things}, buys {b} more and gives away {c}. How many are left?", "{a} + {b} - {c}"),
            (
                "{a} boxes hold {b} {things} each and {c} more are on the table. How many {things} are there?",
                "{a} * {b} + {c}",
            ),
            (
                "[What is the area of|How big is] a [room|field|garden|rectangle|wall] of {a} by {b}[ metres|]?",
                "{a} * {b}",
            ),
            ("A {a} by {b} [room|field|garden|rectangle]: what is its area?", "{a} * {b}"),
        ]
    )
    values = dict(
        a=a,
        b=b,
        c=c,
        price=price,
        things=source.choose(words.FRUIT),
        who=source.choose(words.FIRST_NAMES),
        friend=source.choose(words.FIRST_NAMES),
        colour=source.choose(words.COLOURS),
        other=source.choose(words.COLOURS),
    )
    return Question(source.phrase(pattern, **values), expression.format(**values))
