"""Arithmetic as people type and say it: each maker gives a question and the expression that the calculator must get.

The model never computes. It copies what was typed, or spells out what was said; so an expression that was typed is
sent as it stands (only "x" becomes "*", and signs that are no arithmetic go).
"""

from __future__ import annotations

from calculator import CalculatorError, calculate
from framing import framed, polite
from source import Source
from spoken import (
    Question,
    average,
    command,
    named_operation,
    percentage,
    spoken,
    spoken_chain,
    story,
)
from typed import typed_expression

LONGEST_RESULT = 60


def question(source: Source) -> Question:
    """A question whose expression is on this source's side of the held-out split and can be computed."""
    while True:
        asked = draw(source)
        if usable(asked.expression) and source.owns(asked.expression):
            return asked


def usable(expression: str) -> bool:
    try:
        return len(calculate(expression)) <= LONGEST_RESULT
    except CalculatorError:
        return False


def draw(source: Source) -> Question:
    maker = source.weighted(MAKERS)
    asked = maker(source)
    return Question(polite(source, asked.text), asked.expression)


def typed(source: Source) -> Question:
    shown, sent = typed_expression(source)
    return Question(framed(source, shown), sent)


MAKERS = {typed: 40, spoken: 14, command: 12, spoken_chain: 8, percentage: 9, named_operation: 7, average: 4, story: 7}
