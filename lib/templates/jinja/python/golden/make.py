"""Writes cases.json: what Python says of generated expressions, of nested data, of JSON texts and of times.

    pip install transformers==5.23.0 jinja2==3.1.6
    python lib/templates/jinja/python/golden/make.py [how many] [seed] [file]

Run in the root of the repository with CPython 3.11 (some of its messages differ in others). Expressions: methods, filters, formats and
operators on values of every kind, with arguments that fit and that do not, as transformers renders them or the error it raises.
golden.test.ts holds Rollscope against them; a larger count and another seed find more.
"""
import json
import random
import re
import sys
from datetime import datetime
from pathlib import Path

from transformers.utils import chat_template_utils

TEXTS = [
    "''", "'a'", "'Hello, World'", "'  x y\\t'", "'it\\'s \"q\"'", "'a,b,,c'", "'ß ΑΣ ǆ ŉ İ'", "'😀a👩‍👧b'", "'one\\ntwo\\r\\n\\x0bthree\\u2028'", "'42'", "' -7_0 '", "'1e5'", "'0x1F'", "'٣٤'", "'inf'",
    "'a-b c_d'", "'<b>&amp;</b>'", "'xxabcxx'", "'aaaa'", "'{}-{}'", "'\\t1\\t22\\t'", "'ⅷ²½'", "'he\\u0301'", "'the quick-brown fox -- jumps over'", "'http://a.org/x?y=1, (b@c.de) www.q.com.'", "'A1'", "'a b'|escape", "'<i>'|safe",
]
NUMBERS = ["0", "1", "-1", "3", "7", "42", "-13", "255", "2**53", "10**20", "-(10**18)", "123456789", "true", "false"]
FLOATS = ["0.0", "-0.0", "1.0", "2.5", "-2.5", "0.1", "1e16", "1e-7", "123456.789", "1e300", "inf", "-inf", "nan", "2.675", "0.5", "1.5", "3.14159", "5e-324", "99999.95"]
LISTS = ["[]", "[1, 2, 3]", "['b', 'A', 'c']", "[1, 'a', none]", "[[1, 2], [3]]", "[1.0, true, 2]", "(1, 2)", "('a',)", "()", "range(4)", "range(9, 1, -3)", "[{'k': 'b', 'n': 2}, {'k': 'A', 'n': 1}, {'k': 'a', 'n': 3}]", "[('a', 1), ('b', 2)]",
         "[1, 2, 3, 4, 5]|select('odd')|list", "['x', none]", "[2.5, 10**20, -1]", "[[], {}, ()]", "['a', 'b', 'a', 'B']"]
DICTS = ["{}", "{'a': 1, 'b': 2}", "{'b': 'x', 'A': none, '10': 1.0}", "{1: 'i', 2.5: 'f', none: 'n', true: 't'}", "{'k': [1, {'z': 2}]}", "{'a': 1}.items()", "{'a': 1}.keys()", "{'a': 1}.values()", "{'é': '😀', 'items': 5}"]
ODD = ["none", "missing", "missing", "{'x': 1}.nope"]
# jinja2 cannot write these as literals.
VARIABLES = {"inf": float("inf"), "nan": float("nan")}
KINDS = [TEXTS, TEXTS, NUMBERS, FLOATS, LISTS, DICTS, ODD]

TEXT_METHODS = {
    "upper": 0, "lower": 0, "title": 0, "capitalize": 0, "casefold": 0, "swapcase": 0, "isalpha": 0, "isalnum": 0, "isascii": 0, "isdecimal": 0, "isdigit": 0, "isnumeric": 0, "isidentifier": 0, "isspace": 0, "isprintable": 0, "islower": 0,
    "isupper": 0, "istitle": 0, "strip": 1, "lstrip": 1, "rstrip": 1, "split": 2, "rsplit": 2, "splitlines": 1, "find": 3, "rfind": 3, "index": 3, "rindex": 3, "count": 3, "startswith": 3, "endswith": 3, "replace": 3, "center": 2, "ljust": 2,
    "rjust": 2, "zfill": 1, "expandtabs": 1, "partition": 1, "rpartition": 1, "removeprefix": 1, "removesuffix": 1, "join": 1, "encode": 1, "format": 2, "translate": 1, "maketrans": 2,
}
OTHER_METHODS = {"index": 2, "count": 1, "copy": 0, "get": 2, "items": 0, "keys": 0, "values": 0, "fromkeys": 2, "is_integer": 0, "bit_length": 0, "as_integer_ratio": 0, "hex": 0, "conjugate": 0, "append": 1, "pop": 1, "update": 1, "isdisjoint": 1, "decode": 0}
SMALL = ["'a'", "' '", "','", "'x'", "'ab'", "''", "'l'", "'😀'", "none", "0", "1", "2", "-1", "5", "10", "true", "('a', 'H')", "['a', 'b']", "1.5", "{97: 'z'}", "missing"]
FILTERS = {
    "abs": [], "attr": ["'upper'", "'a'", "'items'", "1"], "batch": ["2", "3, 'x'", "0", "'a'"], "capitalize": [], "center": ["10", "width=7", "'a'"], "count": [], "default": ["1", "'x', true", "boolean=true"], "dictsort": ["true", "by='value'", "reverse=true", "false, 'x'"],
    "escape": [], "filesizeformat": ["true"], "first": [], "float": ["1", "default='x'"], "forceescape": [], "format": ["1", "'a', 2", "a=1"], "groupby": ["'k'", "0", "'k', case_sensitive=true", "'zz', default='q'"], "indent": ["2", "'> ', true", "1, true, true", "blank=true"],
    "int": ["5", "0, 16", "base=8", "default=none"], "join": ["', '", "'-', attribute='k'", "1"], "last": [], "length": [], "list": [], "lower": [], "items": [], "map": ["'upper'", "attribute='k'", "'int'", "'default', 3", "attribute='zz', default=1", "'nope'", ""], "min": ["attribute='n'", "true"],
    "max": ["attribute='k'", "case_sensitive=true"], "pprint": [], "reject": ["'odd'", "", "'none'"], "rejectattr": ["'k'", "'n', 'gt', 1", ""], "replace": ["'a', 'b'", "'l', '_', 1", "'', '-'", "1, 2"], "reverse": [], "round": ["1", "2, 'ceil'", "0, 'floor'", "-1", "1, 'x'", "'a'"],
    "select": ["'odd'", "", "'string'", "'divisibleby', 2"], "selectattr": ["'k'", "'n', 'equalto', 2", "'k.x'"], "slice": ["2", "3, 'x'", "0"], "sort": ["true", "case_sensitive=true", "attribute='k'", "attribute='n,k'", "reverse=true"], "string": [], "striptags": [], "sum": ["attribute='n'", "start=10", "start=''"], "title": [],
    "trim": ["'x'", "' '", "1"], "truncate": ["5", "5, true", "7, false, '~', 0", "2"], "unique": ["true", "attribute='k'"], "upper": [], "urlencode": [], "urlize": ["10", "5, true", "target='_b'", "rel='x y'"], "wordcount": [], "wordwrap": ["5", "8, false", "10, true, '|'", "4, true, '|', false"], "xmlattr": ["false"],
    "tojson": ["indent=2", "sort_keys=true", "true", "separators=(',', ':')", "indent='\\t'", "indent=0"],
}
TESTS = ["odd", "even", "divisibleby(2)", "defined", "none", "boolean", "true", "false", "integer", "float", "lower", "upper", "string", "mapping", "number", "sequence", "iterable", "callable", "sameas(none)", "escaped", "in('abc')", "in([1, 'a'])", "eq(1)", "ne('a')", "gt(1)", "ge(1.0)", "lt('b')", "le([1, 2])", "filter", "test"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
# They give iterators, whose repr says nothing.
LAZY = {"batch", "slice", "map", "select", "reject", "selectattr", "rejectattr", "unique", "items", "reverse"}
CONVERSIONS = ["%s", "%r", "%a", "%d", "%i", "%5d", "%-6d|", "%05d", "%+d", "% d", "%x", "%#x", "%X", "%o", "%#o", "%e", "%.2e", "%f", "%.3f", "%08.2f", "%+.1f", "%g", "%.3g", "%#g", "%G", "%c", "%.2s", "%8s|", "%-8s|", "%5%", "%u", "%.5d", "%.0f", "%(a)s", "%b", "%"]
SPECS = ["", "d", "5", "<6", ">6", "^7", "*^9", "=+8", "+", " ", "06", "08.2f", ".2f", ".0f", ",", "_", ",.2f", "012,", "_x", "#x", "X", "o", "b", "#b", "e", ".3e", "g", ".3g", "G", "%", ".1%", "n", "c", "s", ".2", ".2s", "10s", "z.1f", "+.1e", "#.0f", ",d", "_d", "x<5", "x=5", "é^5", "08", "+,", "5.", "q", "10.3", "020,.3f", "-", "F", "E"]


class Case:
    """Operands are bound to names, else jinja2 computes some expressions while it compiles, which is not what is tried here."""

    def __init__(self, rng):
        self.rng, self.bound = rng, []
        expression = self.expression()
        settings = "".join(f"{{% set {name} = {value} %}}" for name, value in self.bound)
        self.text = settings + ("{{ [%s] }}" if rng.random() < 0.6 else "{{ %s }}") % expression

    def one(self, values=None):
        value = self.rng.choice(values or self.rng.choice(KINDS))
        name = "vwxyz"[len(self.bound)]
        self.bound.append((name, value))
        return name

    def arguments(self, most):
        # Markup words what is too much or too little in its own way.
        own = "|" in self.bound[0][1]
        count = most if own else self.rng.choice([most, most, self.rng.randint(0, most), most + 1])
        return ", ".join(self.rng.choice(SMALL) for _ in range(count))

    def slicing(self):
        part = lambda: self.rng.choice(["", "", "0", "1", "2", "-1", "-3", "9", "-9", "none", "'a'", "1.5"])
        return f"{part()}:{part()}" + self.rng.choice(["", ":", f":{self.rng.choice(['1', '-1', '2', '-2', '0'])}"])

    def expression(self):
        rng = self.rng
        kind = rng.randrange(12)
        if kind < 3:
            name = rng.choice(list(TEXT_METHODS))
            return f"{self.one(TEXTS)}.{name}({self.arguments(TEXT_METHODS[name])})"
        if kind == 3:
            name = rng.choice(list(OTHER_METHODS))
            return f"{self.one()}.{name}({self.arguments(OTHER_METHODS[name])})"
        if kind < 7:
            name = rng.choice(list(FILTERS))
            given = rng.choice([*FILTERS[name], *FILTERS[name], ""])
            tail = "|list" if name in LAZY else ""
            return f"{self.one()}|{name}" + (f"({given})" if given else "") + tail
        if kind == 7:
            return f"{self.one()} is {rng.choice(TESTS)}"
        if kind == 8:
            left, right, operator = self.one(), self.one(), rng.choice(OPERATORS)
            written = self.bound[0][1] + self.bound[1][1]
            if operator in ("**", "*") and ("**" in written or "1234" in written or "255" in written):
                operator = "-"
            return f"{left} {operator} {right}"
        if kind == 9:
            values = ", ".join(self.one() for _ in range(rng.choice([1, 1, 1, 0, 2])))
            return f"'{rng.choice(CONVERSIONS)}' % " + (f"({values}{',' if values and ',' not in values else ''})" if rng.random() < 0.8 else self.one())
        if kind == 10:
            conversion = rng.choice(["", "", "", "", "!r", "!s", "!a", "!x"])
            more = rng.choice(["", ", k=" + self.one()])
            return f"'{{{rng.choice(['', '0', 'k', '0.real', '0[0]', '0[a]', '1'])}{conversion}:{rng.choice(SPECS)}}}'.format({self.one()}{more})"
        return f"{self.one()}[{self.slicing() if rng.random() < 0.6 else rng.choice(SMALL)}]"


def outcome(text, variables=VARIABLES):
    try:
        return without_address(chat_template_utils._compile_jinja_template.__wrapped__(text).render(**variables))
    except Exception as error:
        message = getattr(error, "message", None)
        return {"class": type(error).__name__, "message": without_address(str(error if message is None else message))}


def without_address(text):
    return re.sub(r" at 0x[0-9a-f]{6,}", " at 0x0", text)


# Each in a block that escapes, which no filter of the generated ones stands in.
ESCAPING = [
    "{{ '<a>' }}{{ ['<'] }}{{ '<'|safe }}{{ '<'|e }}", "{{ ['<a>', '<b>'|safe]|join('&') }}", "{{ ['<', '>']|join('&')|upper }}", "{{ ['<', 1]|join('&'|safe) }}", "{{ [{'k': '<'|safe}, {'k': '>'}]|join('-', attribute='k') }}",
    "{{ '<a>'|replace('a', '<') }}{{ '<'|safe|replace('<', '>') }}{{ '<a'|replace('a', '<b>'|safe) }}{{ '<a'|replace('a'|safe, 'c', 1) }}", "{{ '<' ~ 'a' }}{{ ('<'|safe) ~ '>' }}",
    "{% macro m() %}<b>{{ '<' }}{% endmacro %}{{ m() }}", "{% set x %}<{{ '<' }}{% endset %}{{ x }}", "{{ {'a': '<'}|xmlattr }}{{ 'http://a.org'|urlize }}", "{{ none }}{{ 1.0 }}{{ missing }}", "{{ {'a': '<'}|tojson }}", "{% filter upper %}<{{ '<' }}{% endfilter %}",
    "{{ '<%s>' % '<' }}{{ ('<%s>'|safe) % '<' }}{{ ('<{}>'|safe).format('<') }}", "{{ '<'|indent(2, true) }}{{ ('<'|safe)|center(5) }}",
]

JSON_TEXTS = [
    "1", "-0", "1.0", "-0.0", "1e400", "-1E400", "1e-400", "12345678901234567890", "1.5e3", "NaN", "Infinity", "-Infinity", "null", "true", "false", '""', '"a\\u00e9\\ud83d\\ude00\\n\\/"', '"\\ud83d"', "[]", "{}", " [1 , 2 ] ", '{"b": 1, "a": 2, "10": 3, "2": 4}',
    '{"a": 1, "b": 2, "a": 3}', '{"a": {"b": [1.0, null, {}]}}', '"\u2028\x7f"', "\t\n\r [ ]", "1" * 4300, "",
    " ", "[1,", "[1 2]", "[1,]", "{", '{"a"', '{"a":', '{"a": 1,}', "{'a': 1}", '{"a" 1}', '{"a": 1 "b": 2}', "nul", "tru", "+1", "01", "1.", ".5", "1e", "-", "--1", '"abc', '"a\nb"', '"\\x"', '"\\u12"', '"\\u12g4"', "[1] x", '{"é😀": [1,\n  x]}', "[\n\n  1,\n  oops]", "1" * 4301,
    "\ufeff1", "[" * 5 + "]" * 4, "undefined", '{1: 2}', "[NaN, -Infinity, -NaN]",
]
LEAVES = [
    "a", "hello world this is long enough to wrap around the line of eighty characters, perhaps even twice if it goes on", "é😀", "it's", "\"q\"", "\\", "\n", "line one\nline two is longer than the first one is\n\nline four", "\u2028", "\x7f\x00", "", "日本語テキスト", "x" * 90,
    0, -1, 10**20, 2**53, 1.0, -0.0, 1e16, 1e-7, 0.1, 1e400, None, True, False,
]
WAYS = ["x", "x|tojson", "x|tojson(indent=2)", "x|tojson(indent=0, sort_keys=true)", "x|tojson(ensure_ascii=true, separators=(',', ':'))", "x|tojson(indent='--')", "x|pprint", "[x, (x,), {'k': x}]|pprint", "x|string|wordwrap(20)", "x|string|truncate(30)", "x|dictsort", "x|urlencode", "'{!r:>50}'.format(x)"]


def nested(rng, depth):
    kind = rng.randrange(5)
    if depth == 0 or kind == 0:
        return rng.choice(LEAVES)
    if kind < 3:
        return [nested(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {rng.choice(["b", "c", "10", "2", *LEAVES[:9]]): nested(rng, depth - 1) for _ in range(rng.randrange(5))}


MOMENTS = ["2026-07-04T15:09:08.123", "2024-02-29T00:00:00", "2023-01-01T12:30:59.999", "2020-12-31T23:59:59", "2021-01-03T01:02:03", "1999-11-09T11:00:00", "2026-12-28T13:05:00"]
DIRECTIVES = [f"%{flag}{letter}" for letter in "aAbBcCdDeFgGhHIjklmMnpPrRStTuUVwWxXyYzZ%fQ" for flag in ("", "-", "_", "^", "#", "0")
              if not (letter in "zZf" and flag)] + ["%5d", "%05e", "%10A", "%-5d", "%Ey", "%Od", "%", "%d %B %Y, %-I:%M %p", "100%", "%é", "%_5m|%-H", "%999999d|"]


def json_outcome(text):
    try:
        return repr(json.loads(text))
    except json.JSONDecodeError as error:
        return {"message": error.msg, "line": error.lineno, "column": error.colno}
    except ValueError as error:
        return {"message": str(error), "line": 1, "column": 1}


def main(count=1500, seed=1, file=Path(__file__).parent / "cases.json"):
    assert sys.version_info[:2] == (3, 11), "other versions word some errors differently"
    rng = random.Random(int(seed))
    cases = {text: outcome(text) for text in (f"{{% autoescape true %}}{body}{{% endautoescape %}}" for body in ESCAPING)}
    while len(cases) < int(count):
        text = Case(rng).text
        # The order of a set differs from run to run.
        if not re.search(r"\{% set [vw] = \{.*(keys|items)\(\).* - ", text):
            cases[text] = outcome(text)
    times = [[moment, [[directive, datetime.fromisoformat(moment).strftime(directive)] for directive in DIRECTIVES]] for moment in MOMENTS]
    data = [[f"{{{{ {way} }}}}", json.dumps(value), outcome(f"{{{{ {way} }}}}", {"x": value})] for way in WAYS for value in (nested(rng, 4) for _ in range(15))]
    groups = {"expressions": cases.items(), "data": data, "json": [[text, json_outcome(text)] for text in JSON_TEXTS], "times": times}
    lists = [f"{json.dumps(name)}:[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]" for name, rows in groups.items()]
    Path(file).write_text("{" + ",\n".join(lists) + "}\n")


main(*sys.argv[1:])
