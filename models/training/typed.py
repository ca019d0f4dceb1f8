"""Expressions as they are typed: operators, spellings, spaces."""

from __future__ import annotations

from numerals import number, positive
from source import Source


def typed_expression(source: Source) -> tuple[str, str]:
    """-> (as the user types it, as the calculator gets it)"""
    parts = expression_parts(source)
    style = {
        "*": source.weighted({"*": 6, "x": 1, "×": 1.5}),
        "/": source.weighted({"/": 6, "÷": 1}),
        "**": source.weighted({"**": 1, "^": 2}),
        "-": source.weighted({"-": 20, "−": 1}),
    }
    spacing = source.weighted({"spaced": 6, "tight": 2.5, "uneven": 0.7})
    if "x" in style.values() and spacing == "tight" and source.chance(0.5):
        spacing = "spaced"
    shown, sent = "", ""
    for index, part in enumerate(parts):
        gap = ""
        if index and wants_gap(parts, index):
            gap = " " if spacing == "spaced" or (spacing == "uneven" and source.chance(0.5)) else ""
        written = style.get(part, part)
        shown += gap + written
        sent += gap + (part if written == "x" else written)
    if source.chance(0.03):
        shown = with_separators(shown)
    elif source.chance(0.02):
        shown = " ".join(f"${word}" if word[0].isdigit() else word for word in shown.split(" "))
    return shown, sent


OPERATORS = {"+", "-", "*", "/", "%", "**"}


def wants_gap(parts: list[str], index: int) -> bool:
    before, part = parts[index - 1], parts[index]
    if part == ")" or before == "(":
        return False
    if before in OPERATORS or part in OPERATORS:
        return not is_sign(parts, index - 1)
    return False


def is_sign(parts: list[str], index: int) -> bool:
    """A minus that stands before a number, not between two."""
    return parts[index] == "-" and (index == 0 or parts[index - 1] == "(" or parts[index - 1] in OPERATORS)


def expression_parts(source: Source) -> list[str]:
    def operator() -> str:
        return source.weighted({"+": 5, "-": 4, "*": 5, "/": 4, "%": 0.8})

    def simple() -> str:
        return source.weighted({"+": 3, "-": 3, "*": 3, "/": 2})

    def group() -> list[str]:
        return ["(", number(source), simple(), number(source), ")"]

    def exponent() -> str:
        return source.weighted(
            {"2": 5, "3": 4, "4": 2, "5": 1, "6": 0.5, "7": 0.5, "8": 0.5, "9": 0.5, "10": 1, "0.5": 0.7, "12": 0.3}
        )

    kind = source.random.random()
    if kind < 0.03:
        # runs of one digit are the hardest to copy: 0.333333333333, 0.272727272727, 1000000000
        return [
            str(source.integer(1, 99)),
            "/",
            source.choose(["3", "6", "9", "11", "12", "15", "18", "27", "30", "33", "36", "45", "90", "99", "900"]),
        ]
    if kind < 0.05:
        return [
            f"{source.integer(1, 99)}{'0' * source.integer(1, 5)}",
            source.choose(["*", "*", "**"]),
            source.choose(["10", "100", "1000", "20", "500", "40000"])
            if source.chance(0.6)
            else str(source.integer(2, 9)),
        ]
    if kind < 0.46:
        return [number(source), operator(), number(source)]
    if kind < 0.56:
        return [number(source, 2), simple(), number(source, 2), simple(), number(source)]
    if kind < 0.60:
        return [number(source, 2), simple(), number(source, 2), simple(), number(source, 1), simple(), number(source)]
    if kind < 0.68:
        return [*group(), simple(), number(source)]
    if kind < 0.74:
        return [number(source), simple(), *group()]
    if kind < 0.78:
        return [*group(), simple(), *group()]
    if kind < 0.84:
        return [number(source, 2), "**", exponent()]
    if kind < 0.88:
        return [*group(), "**", exponent()]
    if kind < 0.90:
        return [number(source, 1), "**", exponent(), simple(), number(source)]
    if kind < 0.92:
        return ["(", *group(), simple(), number(source, 2), ")", simple(), number(source)]
    if kind < 0.94:
        return ["-", number(source), simple(), number(source)]
    if kind < 0.955:
        return [number(source), simple(), "-", positive(source)]
    if kind < 0.97:
        return [source.choose(["10", "2", "3", "100", "20"]), "**", str(source.integer(2, 28))]
    if kind < 0.98:
        return [number(source, 1), simple(), number(source, 1), "**", exponent()]
    if kind < 0.99:
        return [f"{source.integer(1, 9)}e{source.integer(1, 12)}", simple(), number(source)]
    return [number(source), operator(), f".{source.integer(1, 99)}"]


def with_separators(shown: str) -> str:
    """1200 -> 1,200: the calculator refuses separators, so the model must leave them out."""
    return " ".join(f"{int(word):,}" if word.isdigit() and len(word) > 3 else word for word in shown.split(" "))
