import json
import unittest
from fractions import Fraction
from pathlib import Path

import calculator_cases
from calculator import CalculatorError, calculate, evaluate, format_value, tool_result

CASES = Path(__file__).parent.parent / "calculator-cases.json"


class Grammar(unittest.TestCase):
    def test_powers_bind_tighter_than_a_sign_on_their_left_and_associate_to_the_right(self):
        self.assertEqual(calculate("-2 ** 2"), "-4")
        self.assertEqual(calculate("2 ** -1"), "0.5")
        self.assertEqual(calculate("2 ** 3 ** 2"), "512")

    def test_modulo_has_the_sign_of_the_divisor(self):
        self.assertEqual(
            [calculate(text) for text in ("7 % 3", "-7 % 3", "7 % -3", "-7.5 % 2")], ["1", "2", "-2", "0.5"]
        )

    def test_other_spellings_are_the_same_operators(self):
        self.assertEqual(calculate("6 × 7"), calculate("6 * 7"))
        self.assertEqual(calculate("84 ÷ 2"), calculate("84 / 2"))
        self.assertEqual(calculate("5 − 7"), calculate("5 - 7"))
        self.assertEqual(calculate("2 ^ 10"), calculate("2 ** 10"))

    def test_arithmetic_is_exact(self):
        self.assertEqual(evaluate("0.1 + 0.2"), Fraction(3, 10))
        self.assertEqual(calculate("1 / 3 * 3"), "1")
        self.assertEqual(calculate("2 ** 100"), str(2**100))


class Results(unittest.TestCase):
    def test_a_decimal_of_twelve_digits_is_exact_and_a_longer_one_is_rounded_half_to_even(self):
        self.assertEqual(calculate("0.123456789012"), "0.123456789012")
        self.assertEqual(calculate("0.1234567890125"), "0.123456789012")
        self.assertEqual(calculate("0.1234567890135"), "0.123456789014")

    def test_small_and_huge_fractions_have_an_exponent(self):
        self.assertEqual(calculate("1.5 / 1e7"), "1.5e-7")
        self.assertEqual(calculate("1e22 / 7"), "1.42857142857e21")

    def test_zero_has_no_sign(self):
        self.assertEqual(calculate("0 * -1"), "0")

    def test_rounding_never_changes_the_value_by_more_than_half_a_unit(self):
        for numerator in range(1, 400):
            value = Fraction(numerator, 7919) * Fraction(10) ** (numerator % 30 - 15)
            self.assertLess(abs(Fraction(format_value(value)) - value) / value, Fraction(1, 2 * 10**11))


class Refusals(unittest.TestCase):
    def test_every_error_has_its_exact_text(self):
        for expression, message in {
            "": "the expression is empty",
            "1 / 0": "division by zero",
            "5 % 0": "division by zero",
            "0 ** -1": "division by zero",
            "2 $ 3": 'unexpected "$" at character 3',
            "2 * sqrt(4)": 'unexpected "sqrt" at character 5',
            "1,000": 'unexpected "," at character 2',
            "1 +": "the expression ends too early",
            "(1 + 2": 'missing ")"',
            "10 ** 1000": "the result is too large (more than 1,000 digits)",
            "1" * 1001: "the expression is too long (more than 1,000 characters)",
            "(" * 101: "the expression is nested too deeply (more than 100 parentheses)",
            "(-4) ** 0.5": "a negative number to a fractional power has no real value",
        }.items():
            with self.assertRaises(CalculatorError) as caught:
                calculate(expression)
            self.assertEqual(str(caught.exception), message)
            self.assertEqual(tool_result(expression), f"Error: {message}")

    def test_a_huge_power_is_refused_before_it_is_computed(self):
        self.assertEqual(tool_result("9 ** 9 ** 9 ** 9"), "Error: the result is too large (more than 1,000 digits)")

    def test_no_expression_of_a_thousand_characters_exhausts_the_stack(self):
        for expression in (
            "-" * 999 + "1",
            "2**" * 333 + "1",
            "1**" * 333 + "1",
            "1+" * 499 + "1",
            "(" * 100 + "-" * 800 + "1" + ")" * 99,
        ):
            tool_result(expression)


class Cases(unittest.TestCase):
    def test_the_golden_file_is_what_the_calculator_says_today(self):
        self.assertEqual(CASES.read_text(encoding="utf-8"), calculator_cases.text())

    def test_there_are_enough_cases_and_each_is_given_once(self):
        cases = json.loads(CASES.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(cases), 300)
        self.assertEqual(len(cases), len({expression for expression, _ in cases}))
