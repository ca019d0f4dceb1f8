"""The one seeded source of randomness behind a dialogue, and the split into training and held-out items."""

from __future__ import annotations

import random
import string
import zlib
from collections.abc import Callable, Sequence
from typing import TypeVar

import words

T = TypeVar("T")

# One item in twelve never occurs in training. Items are expressions, tool names and invented words, never real names.
HELD_OUT_SHARE = 12


def is_held_out(item: str) -> bool:
    return zlib.crc32(f"rollscope:{item}".encode()) % HELD_OUT_SHARE == 0


class Source:
    def __init__(self, seed: int | str, held_out: bool = False) -> None:
        self.random = random.Random(seed)
        self.held_out = held_out

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def choose(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def weighted(self, options: dict[T, float]) -> T:
        return self.random.choices(list(options), list(options.values()))[0]

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        return self.random.sample(options, count)

    def shuffled(self, options: Sequence[T]) -> list[T]:
        return self.random.sample(options, len(options))

    def phrase(self, pattern: str, **values: object) -> str:
        """From "[What is|what's] {e}[?|]" one of four texts. Brackets may nest; the {names} are filled in afterwards, so
        that a value may hold any character."""
        return self._expand(pattern).format(**values)

    def _expand(self, pattern: str) -> str:
        while (end := pattern.find("]")) >= 0:
            start = pattern.rfind("[", 0, end)
            pattern = pattern[:start] + self.choose(pattern[start + 1 : end].split("|")) + pattern[end + 1 :]
        return pattern

    def fresh(self, make: Callable[[], str]) -> str:
        """An item from this source's side of the split."""
        for _ in range(10_000):
            item = make()
            if self.owns(item):
                return item
        raise RuntimeError("this maker gives no item on the wanted side of the split")

    def owns(self, item: str) -> bool:
        return is_held_out(item) == self.held_out

    def invented_word(self, syllables: int | None = None) -> str:
        count = syllables or self.weighted({1: 3, 2: 5, 3: 1})
        return "".join(
            self.choose(words.ONSETS) + self.choose(words.VOWELS) + self.choose(words.CODAS) for _ in range(count)
        )

    def letters(self, low: int, high: int, alphabet: str = string.ascii_lowercase) -> str:
        return "".join(self.choose(alphabet) for _ in range(self.integer(low, high)))

    def plain_word(self) -> str:
        return self.choose(
            self.choose((words.PLAIN, words.NOUNS, words.VERBS, words.ADJECTIVES, words.NOUNS, words.PLAIN))
        )

    def any_word(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            return self.plain_word()
        if kind < 0.85:
            return self.invented_word()
        return self.letters(2, 6)
