"""Values as they occur in tool calls and results: cities, dates, paths, code-like text, anything."""

from __future__ import annotations

import string

import words
from source import Source


def city(source: Source) -> str:
    kind = source.random.random()
    if kind < 0.5:
        return source.choose(words.CITIES)
    if kind < 0.6:
        return source.choose(words.TWO_WORD_CITIES)
    return source.invented_word(source.weighted({2: 3, 3: 1})).capitalize()


def person(source: Source) -> str:
    first = source.choose(words.FIRST_NAMES) if source.chance(0.6) else source.invented_word(2).capitalize()
    if source.chance(0.35):
        last = source.choose(words.LAST_NAMES) if source.chance(0.6) else source.invented_word(2).capitalize()
        return f"{first} {last}"
    return first


def email(source: Source) -> str:
    name = source.choose(
        [
            source.choose(words.FIRST_NAMES).lower(),
            source.invented_word(2),
            source.plain_word(),
            f"{source.choose(words.FIRST_NAMES).lower()}.{source.choose(words.LAST_NAMES).lower()}",
        ]
    )
    host = source.choose([source.plain_word(), source.invented_word(2), "example", "mail"])
    return (
        f"{name}@{host}.{source.choose(words.DOMAINS[:8])}"
        if source.chance(0.8)
        else f"{name}@{source.choose(words.DOMAINS[8:])}"
    )


def date(source: Source) -> str:
    kind = source.random.random()
    if kind < 0.45:
        return f"{source.integer(2019, 2031)}-{source.integer(1, 12):02d}-{source.integer(1, 28):02d}"
    if kind < 0.65:
        return source.choose(words.WEEKDAYS)
    if kind < 0.8:
        return source.choose(["today", "tomorrow", "yesterday", "next week", "tonight", "next Monday", "next month"])
    return source.choose(
        [
            f"{source.integer(1, 28)} {source.choose(words.MONTHS)}",
            f"{source.choose(words.MONTHS)} {source.integer(1, 28)}",
            f"{source.integer(1, 28)}.{source.integer(1, 12)}.{source.integer(2020, 2030)}",
        ]
    )


def clock_time(source: Source) -> str:
    return source.choose(
        [
            f"{source.integer(0, 23):02d}:{source.integer(0, 59):02d}",
            f"{source.integer(1, 12)}:{source.choose(['00', '15', '30', '45'])}",
            f"{source.integer(1, 12)} {source.choose(['am', 'pm'])}",
            f"{source.integer(1, 12)}{source.choose(['am', 'pm'])}",
            "noon",
        ]
    )


def identifier(source: Source) -> str:
    kind = source.random.random()
    if kind < 0.18:
        return str(source.integer(1, 10 ** source.integer(1, 7)))
    if kind < 0.36:
        return (
            source.letters(1, 4, string.ascii_uppercase) + source.choose(["-", "", "_"]) + str(source.integer(1, 99999))
        )
    if kind < 0.50:
        return source.letters(2, 5, string.ascii_uppercase)
    if kind < 0.62:
        return source.any_word() + source.choose(["-", "_", ""]) + str(source.integer(1, 999))
    if kind < 0.74:
        return source.any_word() + source.choose(["_", "-"]) + source.any_word()
    if kind < 0.84:
        return source.letters(4, 10, "0123456789abcdef")
    if kind < 0.88:
        return source.letters(5, 12, string.ascii_letters + string.digits)
    if kind < 0.94:
        return source.choose(["abc", "foo", "bar", "test", "hello", "x", "demo", "a", "b1"]) + (
            "" if source.chance(0.5) else str(source.integer(1, 999))
        )
    return source.any_word()


def title(source: Source) -> str:
    text = " ".join(source.any_word() for _ in range(source.weighted({1: 2, 2: 4, 3: 3, 4: 1})))
    kind = source.random.random()
    return text if kind < 0.5 else text.capitalize() if kind < 0.8 else text.title() if kind < 0.95 else text.upper()


def sentence(source: Source) -> str:
    count = source.weighted({2: 2, 3: 3, 4: 3, 5: 2, 6: 2, 7: 1, 9: 1, 12: 0.4})
    parts = [
        source.any_word() if source.chance(0.85) else source.choose([person, city, date, identifier])(source)
        for _ in range(count)
    ]
    text = " ".join(parts)
    if source.chance(0.15):
        text = text.replace(" ", ", ", 1)
    if source.chance(0.4):
        text = text[:1].upper() + text[1:]
    return text + (source.choose("!?.") if source.chance(0.15) else "")


def query(source: Source) -> str:
    return " ".join(source.any_word() for _ in range(source.weighted({1: 4, 2: 4, 3: 2})))


def path(source: Source) -> str:
    parts = [source.any_word() for _ in range(source.weighted({1: 3, 2: 3, 3: 1}))]
    ending = f".{source.choose(words.FILE_ENDINGS)}" if source.chance(0.7) else ""
    return source.choose(["", "", "/", "./", "~/"]) + "/".join(parts) + ending


def url(source: Source) -> str:
    host = f"{source.any_word()}.{source.choose(words.DOMAINS)}"
    return source.choose(
        [
            f"https://{host}",
            f"https://{host}/{source.any_word()}",
            f"http://{host}/{source.any_word()}",
            host,
            f"www.{host}",
        ]
    )


def thing(source: Source) -> str:
    return source.choose(words.NOUNS) if source.chance(0.7) else source.invented_word()


def place_name(source: Source) -> str:
    parts = [
        source.choose(
            [
                source.plain_word,
                source.invented_word,
                lambda: source.choose(words.FIRST_NAMES),
                lambda: source.choose(words.COLOURS),
            ]
        )()
        for _ in range(source.weighted({1: 3, 2: 5, 3: 1}))
    ]
    return " ".join(parts).title()


def statement(source: Source) -> str:
    """Code-like text: a query or a command."""
    a, b, c = source.any_word(), source.any_word(), source.any_word()
    return source.choose(
        [
            f"select {a} from {b}",
            f"select * from {a}",
            "select 1",
            f"select {a}, {b} from {c} where {a} = {source.integer(1, 99)}",
            f"ls -l {a}",
            f"git {a} {b}",
            f"{a} --{b}",
            f"{a} | {b}",
            f"echo {a}",
            f"{a}({b})",
            f"delete from {a} where id = {source.integer(1, 99)}",
            f"cat {a}.{source.choose(words.FILE_ENDINGS)}",
            f"print({a})",
            f"{a} = {source.integer(1, 99)}",
        ]
    )


def anything(source: Source) -> str:
    return source.choose([identifier, identifier, title, query, city, person, thing, thing, sentence, random_text])(
        source
    )


def random_text(source: Source) -> str:
    """Any characters: what the byte-level tokens are for."""
    kind = source.random.random()
    if kind < 0.3:
        return source.letters(2, 10, string.ascii_letters)
    if kind < 0.5:
        return source.letters(2, 10, string.ascii_letters + string.digits + "_-./:#@+*=<>$%&!?;~|^()")
    if kind < 0.75:
        return source.letters(1, 8, "äöüßéèñçåøłőğışêàâîôíóúąćęńśźžšýÄÖÜÉÇÅØŁ")
    low, high = source.choose(UNICODE_RANGES)
    return "".join(chr(source.integer(low, high)) for _ in range(source.integer(1, 6)))


# Greek, Cyrillic, Hebrew, Arabic, Devanagari, punctuation, arrows and mathematics, kana, Chinese, Hangul, emoji
UNICODE_RANGES = [
    (0x3B1, 0x3C9),
    (0x410, 0x44F),
    (0x5D0, 0x5EA),
    (0x627, 0x63A),
    (0x905, 0x939),
    (0x2010, 0x2026),
    (0x2190, 0x22FF),
    (0x3041, 0x30FE),
    (0x4E00, 0x9FA5),
    (0xAC00, 0xD7A3),
    (0x1F300, 0x1F6FF),
]


def decimal(source: Source, low: float, high: float, places: int = 2) -> float | int:
    value = round(source.random.uniform(low, high), source.integer(0, places))
    return int(value) if value == int(value) else value


def quoted(source: Source, value: str) -> str:
    left, right = source.choose([("'", "'"), ('"', '"'), ('"', '"'), ('"', '"'), ("“", "”"), ("`", "`")])
    if left in value or right in value:
        left, right = "“", "”"
    return f"{left}{value}{right}"
