/**
 * models/training/calculator.py, which is kept the same as lib/rollout/tools/calculator.ts. Written by
 * `node scripts/checks/python-calculator.ts --write`. Do not edit. It needs re, Callable and Fraction.
 */
export const CALCULATOR = `MAX_CHARACTERS = 1000
MAX_DEPTH = 100
MAX_DIGITS = 1000
SIGNIFICANT_DIGITS = 12

TOO_LARGE = "the result is too large (more than 1,000 digits)"
DIVISION_BY_ZERO = "division by zero"

# What \\s means in JavaScript.
SPACES = "\\t\\n\\v\\f\\r \\u00a0\\u1680\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
SPELLINGS = {"×": "*", "÷": "/", "−": "-", "^": "**"}
NUMBER = re.compile(r"([0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")

# An expression once parsed: called without arguments, it computes its value.
Node = Callable[[], Fraction]


class CalculatorError(Exception):
    """Its text is what the model reads after "Error: "."""


def calculate(expression: str) -> str:
    return format_value(evaluate(expression))


def tool_result(expression: str) -> str:
    """What the tool hands to the model: the result, or the error as a text."""
    try:
        return calculate(expression)
    except CalculatorError as error:
        return f"Error: {error}"


def evaluate(expression: str) -> Fraction:
    if len(expression) > MAX_CHARACTERS:
        raise CalculatorError("the expression is too long (more than 1,000 characters)")
    parser = Parser(expression)
    if parser.at_end():
        raise CalculatorError("the expression is empty")
    node = parser.expression()
    if not parser.at_end():
        raise parser.unexpected()
    return node()


class Parser:
    """Recursive descent; only parentheses recurse, so the depth of the call stack is bounded by MAX_DEPTH."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0

    def expression(self) -> Node:
        return self.chain(("+", "-"), self.term)

    def term(self) -> Node:
        return self.chain(("*", "/", "%"), self.signed)

    def chain(self, operators: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        """Left-associative: a - b - c is (a - b) - c. Kept flat, because a thousand characters hold 500 operands."""
        first, rest = operand(), []
        while (operator := self.take(operators)) is not None:
            rest.append((operator, operand()))

        def value() -> Fraction:
            result = first()
            for operator, node in rest:
                result = BINARY[operator](result, node())
            return result

        return value if rest else first

    def signed(self) -> Node:
        """Right-associative powers with signs: -2 ** -3 ** 2 is -(2 ** (-(3 ** 2)))."""
        links = [(self.sign(), self.atom())]
        while self.take(("**",)) is not None:
            links.append((self.sign(), self.atom()))

        def value() -> Fraction:
            sign, node = links[-1]
            result = sign * node()
            for sign, node in reversed(links[:-1]):
                result = sign * power(node(), result)
            return result

        return value

    def sign(self) -> int:
        sign = 1
        while (operator := self.take(("+", "-"))) is not None:
            sign = -sign if operator == "-" else sign
        return sign

    def atom(self) -> Node:
        if self.at_end():
            raise CalculatorError("the expression ends too early")
        if self.text[self.position] == "(":
            return self.parenthesised()
        match = NUMBER.match(self.text, self.position)
        if match is None:
            raise self.unexpected()
        self.position = match.end()
        return lambda: number(match[1], match[2] or "0")

    def parenthesised(self) -> Node:
        self.position += 1
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise CalculatorError("the expression is nested too deeply (more than 100 parentheses)")
        node = self.expression()
        if self.at_end():
            raise CalculatorError('missing ")"')
        if self.text[self.position] != ")":
            raise self.unexpected()
        self.position += 1
        self.depth -= 1
        return node

    def take(self, operators: tuple[str, ...]) -> str | None:
        """Consume the next operator if it is one of these. "**" is never read as two "*"."""
        if self.at_end():
            return None
        length = 2 if self.text.startswith("**", self.position) else 1
        written = self.text[self.position : self.position + length]
        operator = SPELLINGS.get(written, written)
        if operator not in operators:
            return None
        self.position += length
        return operator

    def at_end(self) -> bool:
        while self.position < len(self.text) and self.text[self.position] in SPACES:
            self.position += 1
        return self.position == len(self.text)

    def unexpected(self) -> CalculatorError:
        start = end = self.position
        while end < len(self.text) and self.text[end].isalpha():
            end += 1
        offender = self.text[start : max(end, start + 1)]
        return CalculatorError(f'unexpected "{offender}" at character {start + 1}')


def number(mantissa: str, exponent: str) -> Fraction:
    value = Fraction(mantissa)
    if value == 0:
        return value
    # 4 times the limit: no mantissa that fits into an expression can bring such a number back below it
    if abs(int(exponent)) > 4 * MAX_DIGITS:
        raise CalculatorError(TOO_LARGE)
    return limited(value * Fraction(10) ** int(exponent))


def power(base: Fraction, exponent: Fraction) -> Fraction:
    if base == 0 and exponent < 0:
        raise CalculatorError(DIVISION_BY_ZERO)
    if exponent.denominator != 1:
        return float_power(base, exponent)
    if base in (0, 1) or exponent == 0:
        return Fraction(1) if exponent == 0 else base
    if base == -1:
        return Fraction(-1 if exponent.numerator % 2 else 1)
    # 2 ** 3330 has 1,003 digits: refused here, before anything is computed
    smallest_bits = max(abs(base.numerator).bit_length(), base.denominator.bit_length()) - 1
    if smallest_bits * abs(exponent.numerator) > 3330:
        raise CalculatorError(TOO_LARGE)
    return limited(base**exponent.numerator)


def float_power(base: Fraction, exponent: Fraction) -> Fraction:
    if base < 0:
        raise CalculatorError("a negative number to a fractional power has no real value")
    try:
        return Fraction(float(base) ** float(exponent))
    except OverflowError:
        raise CalculatorError(TOO_LARGE) from None


def divide(left: Fraction, right: Fraction) -> Fraction:
    if right == 0:
        raise CalculatorError(DIVISION_BY_ZERO)
    return left / right


def modulo(left: Fraction, right: Fraction) -> Fraction:
    if right == 0:
        raise CalculatorError(DIVISION_BY_ZERO)
    return left % right


BINARY: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": lambda left, right: limited(left + right),
    "-": lambda left, right: limited(left - right),
    "*": lambda left, right: limited(left * right),
    "/": lambda left, right: limited(divide(left, right)),
    "%": lambda left, right: limited(modulo(left, right)),
}


def limited(value: Fraction) -> Fraction:
    if max(abs(value.numerator), value.denominator) >= 10**MAX_DIGITS:
        raise CalculatorError(TOO_LARGE)
    return value


def format_value(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    sign = "-" if value < 0 else ""
    magnitude = abs(value)
    exponent = decimal_exponent(magnitude)
    digits, exponent = significant(magnitude, exponent)
    if magnitude < Fraction(1, 10**6) or magnitude >= 10**21:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    fraction = digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction}" if fraction else f"{sign}{whole}"


def decimal_exponent(magnitude: Fraction) -> int:
    """The e with 10 ** e <= magnitude < 10 ** (e + 1)."""
    exponent = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    return exponent if magnitude >= Fraction(10) ** exponent else exponent - 1


def significant(magnitude: Fraction, exponent: int) -> tuple[str, int]:
    """At most 12 significant digits without trailing zeros. round() on a Fraction is exact and half to even, and leaves
    an expansion of 12 digits or fewer as it is."""
    scaled = round(magnitude / Fraction(10) ** (exponent - SIGNIFICANT_DIGITS + 1))
    if scaled == 10**SIGNIFICANT_DIGITS:
        scaled, exponent = scaled // 10, exponent + 1
    return str(scaled).rstrip("0"), exponent
`
