"""Make calculator-cases.json: [expression, result or "Error: ..."] pairs that the app's calculator is tested against.

    python calculator_cases.py

Written cases for every rule, and generated ones for the breadth. The fractional powers are those whose value does not
depend on the last bit of a machine's pow().
"""

from __future__ import annotations

import json
from pathlib import Path

import spoken
import typed
from calculator import tool_result
from source import Source

# fmt: off
WRITTEN = [
    # numbers
    "12", "3.5", ".5", "0.50", "007", "1e3", "1E3", "1.5e-3", "1.5e+3", "2e0", ".5e1", "1e-7", "1e-6", "0.0000012",
    "0.00000012", "1e21", "1e20 + 0.5", "1e22 + 0.5", "0e5", "0e99999", "123456789.123", "1234567890123.5",
    "5.", "1.2.3", "1e", "1e+", "1e5x", "1,000", "1,000 + 1", "1_000", "12abc", "0x10", "٣", "½", "1e1000", "1e-1000",
    "1e999", "1e5000", "1e-5000", "1e999999999999", "9e999 + 1",
    # operators and their spellings
    "1 + 2", "1+2", "5 - 7", "6 * 7", "6×7", "6 × 7", "84 / 2", "84÷2", "84 ÷ 2", "5−7", "5 − −7", "7 % 3", "-7 % 3",
    "7 % -3", "-7 % -3", "7.5 % 2", "-7.5 % 2", "1 / 3 % 0.25", "2 ** 10", "2^10", "2 ^ 10", "2 ** -1", "2^-2",
    "-2 ** 2", "-2^2", "(-2) ** 2",
    "2 ** 3 ** 2", "2^3^2", "(2 ** 3) ** 2", "-2 ** -2", "2 ** -2 ** 2", "2 ** --2", "--2", "---2", "+5", "+-5",
    "-+5", "2 - -3", "2--3", "2 + +3", "2 * -3", "2 / -4", "-(3 + 4)", "-(-3)", "10 - 4 - 3", "100 / 10 / 5",
    "2 + 3 * 4", "(2 + 3) * 4", "2 * 3 % 4", "2 * (3 % 4)", "10 % 4 * 2", "7 - 3 % 2",
    "1 / 3 * 3", "0.1 + 0.2", "0.1 * 3", "1.1 * 1.1", "2 / 3", "1 / 7", "-2 / 3", "10 / 4", "1 / 8", "1 / 1024",
    "1 / 3 + 1 / 6", "22 / 7", "1e3 / 7", "1e9 / 7", "1e12 / 7", "1e15 / 7", "1e20 / 7", "1e22 / 7", "1 / 7e6",
    "1 / 7e7", "1 / 3e9", "-1 / 3e9", "1 / 1e6", "1 / 1e7", "1.5 / 1e7", "3 / 2e8",
    "0 * -1", "-0", "-0.0", "0 / 5", "0 / -5", "0 ** 0", "0 ** 5", "1 ** 1000000", "(-1) ** 1000001",
    "(-1) ** 1000000", "1 ** -5", "(1/2) ** 3", "(2/3) ** -2", "0.5 ** 10", "1.5 ** 20", "0.1 ** 12", "0.1 ** 13",
    # rounding to 12 significant digits, half to even on the exact value
    "0.1234567890125", "0.1234567890135", "0.1234567890145", "0.12345678901250001", "1.000000000005",
    "1.000000000015", "123456789012.5", "123456789013.5", "123456789012345.5", "0.9999999999995", "0.9999999999994",
    "99999999999.95", "999999999999.5", "999999999999999999999.5",
    "0.000000999999999999", "0.0000009999999999999", "2.5e-13", "100.000000000001", "1.0000000000001",
    "0.00001234567890125",
    # fractional powers are float powers
    "4 ** 0.5", "2 ** 0.5", "144 ** 0.5", "0.25 ** 0.5", "27 ** (1/3)", "8 ** (2/3)", "10 ** 0.3", "10 ** -0.5",
    "2 ** 1.5", "(1/4) ** -0.5", "0 ** 0.5", "2 ** 0.5 * 2 ** 0.5", "1e10 ** 0.5", "5 ** 2.0",
    # large results
    "2 ** 64", "2 ** 100", "10 ** 30", "10 ** 999", "10 ** 1000", "2 ** 3321", "2 ** 3322", "2 ** 4000",
    "2 ** 10 ** 10", "9 ** 9 ** 9", "7 ** 1200", "(1/2) ** 3321", "2 ** -3321", "2 ** -3322", "3 ** -3000",
    "10 ** 999 * 10", "10 ** 999 + 10 ** 999 * 9", "10 ** 500 * 10 ** 499", "10 ** 500 * 10 ** 500", "1 / 10 ** 999",
    "1 / 10 ** 1000", "(10 ** 600) / (10 ** 600)", "2 ** 99999999999999999999", "(-3) ** 3", "(-3) ** 2",
    "(-3) ** -3", "25 * 17", "(25 * 17)^3", "99 * 99 * 99 * 99 * 99 * 99", "123456789 * 987654321", "1e300 * 1e300",
    "1e600 * 1e600",
    # errors
    "", " ", "\t\n", "1 / 0", "1 / (2 - 2)", "5 % 0", "0 / 0", "0 ** -1", "0 ^ -2", "0 ** -0.5", "1 / 0 + 1",
    "0 * (1 / 0)", "(-4) ** 0.5", "(-8) ** (1/3)", "-4 ** 0.5", "1 +", "1 + ", "1 *", "(", "((", "-", "2 **",
    "2 ** -", "(1 + 2", "((1)", "(1 + 2 3", "(1 + ", "1)", ")", "()", "( )", "1 ()", "(1)(2)", "2(3)", "(2)3",
    "1 2", "12 34", "2 x 3", "2x3", "1 + x", "pi", "pi * 2", "sqrt(4)", "2 * sqrt(4)", "abc def", "3 apples", "1 + ä",
    "größe", "2 $ 3", "$5", "5%", "50% of 80", "5!", "2 ** * 3", "2 * * 3", "2 *** 3", "* 3", "/ 3", "2 // 3",
    "2 ^^ 3", "1 = 1", "1 < 2", "1 & 2", "[1]", "{1}", "1; 2", "1 + \"2\"", "'1'", "1 + 🙂", "#", "2 3 $", "1 / 0 +",
    "1 / 0 )",
    "1 + 2 # note", "1\n+\n2", "1 +\t2", "\u00a01 + 2\u00a0", "1\u2009+ 2",
]
# fmt: on

# fmt: off
LONG = [
    "1+" * 499 + "1", "1+" * 500 + "1", " " * 999 + "1", " " * 1000 + "1", " " * 1001, "(" * 100 + "1" + ")" * 100,
    "(" * 101 + "1" + ")" * 101, "(" * 101, "-" * 999 + "1", "2-" * 400 + "1", "9" * 1000, "1/" * 300 + "3",
    "2**" * 4 + "2", "1**" * 300 + "1", "()" * 200,
]
# fmt: on


def cases(generated: int = 200) -> list[tuple[str, str]]:
    source = Source("calculator cases")
    makers = [
        lambda: typed.typed_expression(source)[1],
        lambda: spoken.percentage(source).expression,
        lambda: spoken.spoken_chain(source).expression,
        lambda: "".join(typed.expression_parts(source)),
    ]
    chosen = [*WRITTEN, *LONG]
    while len(chosen) < len(WRITTEN) + len(LONG) + generated:
        expression = source.choose(makers)()
        # the digits of an irrational power depend on the machine's pow()
        if expression not in chosen and "0.5" not in expression:
            chosen.append(expression)
    return [(expression, tool_result(expression)) for expression in dict.fromkeys(chosen)]


def text() -> str:
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases())
    return f"[\n{lines}\n]\n"


if __name__ == "__main__":
    path = Path(__file__).parent / "calculator-cases.json"
    path.write_text(text(), encoding="utf-8")
