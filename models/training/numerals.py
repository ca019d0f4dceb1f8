"""Numbers as digits and as words."""

from __future__ import annotations

from source import Source


def number(source: Source, digits: int | None = None) -> str:
    count = digits or source.weighted({1: 4, 2: 7, 3: 5, 4: 3, 5: 1, 6: 0.6, 8: 0.3, 11: 0.2})
    whole = source.integer(10 ** (count - 1) if count > 1 else 0, 10**count - 1)
    kind = source.random.random()
    if kind < 0.08:
        return f"{whole}.{source.integer(1, 99):02d}".rstrip("0")
    if kind < 0.10:
        return f"0.{source.integer(1, 999)}"
    if kind < 0.16 and whole > 10:
        return str(whole - whole % 10)
    if kind < 0.18:
        return str(source.choose([10, 100, 1000, 10000, 100000, 1000000, 11, 111, 99, 999, 1111]))
    return str(whole)


def positive(source: Source, digits: int | None = None) -> str:
    while True:
        text = number(source, digits)
        if float(text) > 0:
            return text


def said_plain(source: Source) -> str:
    return positive(source, source.weighted({1: 3, 2: 4, 3: 2}))


def said(source: Source, text: str) -> str:
    """A number may be written out, have separators, or a currency sign."""
    if text.isdigit() and source.chance(0.08) and int(text) <= 100:
        return in_words(int(text))
    if text.isdigit() and len(text) > 3 and source.chance(0.06):
        return f"{int(text):,}"
    if source.chance(0.015):
        return f"${text}"
    return text


ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
""".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def in_words(value: int) -> str:
    if value < 20:
        return ONES[value]
    if value < 100:
        return TENS[value // 10 - 2] + (f"-{ONES[value % 10]}" if value % 10 else "")
    if value < 1000:
        return f"{ONES[value // 100]} hundred" + (f" and {in_words(value % 100)}" if value % 100 else "")
    return f"{in_words(value // 1000)} thousand" + (f" {in_words(value % 1000)}" if value % 1000 else "")


def ordinal(value: int) -> str:
    ending = "th" if value % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(value % 10, "th")
    return f"{value}{ending}"
