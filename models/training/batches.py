"""Dialogues as batches of token ids, made on the fly from a seed. Nothing is stored."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

import dialogues
from conversation import Segment
from source import Source
from tokenizer import Codec

# Rows of a batch have one length, so dialogues wait in buckets until a batch is full. Short steps: little is padding.
LENGTHS = [*range(128, 1024, 64), *range(1024, 2048, 128), *range(2048, 4097, 256)]

# BPE dropout on what the model writes, in a share of the dialogues: this is why a sampled rollout sometimes differs
# from its own text tokenised again, as it does with large models. In every dialogue it would differ nearly always.
DROPOUT_DIALOGUES = 0.3
DROPOUT = 0.1


@dataclass(frozen=True)
class Batch:
    ids: Tensor  # rows x length
    trained: Tensor  # rows x length, true where the model itself would have written the token


def encode(
    codec: Codec, segments: list[Segment], dropout: float, chance: random.Random
) -> tuple[list[int], list[bool]]:
    """Each segment is tokenised by itself: those are the boundaries of a token-in/token-out rollout."""
    ids: list[int] = []
    trained: list[bool] = []
    for segment in segments:
        if segment.trained and dropout:
            piece = codec.encode_with_dropout(segment.text, dropout, chance)
        else:
            piece = codec.encode(segment.text)
        ids += piece
        trained += [segment.trained] * len(piece)
    return ids, trained


def stream(codec: Codec, seed: str, tokens: int, stages: dict[str, float], held_out: bool = False) -> Iterator[Batch]:
    """Endless batches of at most so many tokens. stages: the share of each kind of dialogue. Batches come in shuffled
    groups, so that a rare length does not wait for its neighbours."""
    source, chance = Source(seed, held_out), random.Random(f"{seed} tokens")
    waiting: dict[int, list[tuple[list[int], list[bool]]]] = {length: [] for length in LENGTHS}
    padding = codec.id("<|endoftext|>")
    while True:
        ready: list[Batch] = []
        for _ in range(400):
            example = dialogues.example(source, source.weighted(stages))
            dropout = DROPOUT if chance.random() < DROPOUT_DIALOGUES else 0.0
            ids, trained = encode(codec, example.segments, dropout, chance)
            length = next((length for length in LENGTHS if len(ids) <= length), None)
            if length is None or not any(trained):
                continue
            waiting[length].append((ids, trained))
            if len(waiting[length]) == max(1, tokens // length):
                ready.append(pad(waiting[length], length, padding))
                waiting[length] = []
        chance.shuffle(ready)
        yield from ready


def pad(rows: list[tuple[list[int], list[bool]]], length: int, padding: int) -> Batch:
    ids = torch.full((len(rows), length), padding)
    mask = torch.zeros((len(rows), length), dtype=torch.bool)
    for row, (tokens, trained) in enumerate(rows):
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(trained)] = torch.tensor(trained)
    return Batch(ids, mask)
