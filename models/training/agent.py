"""The agent loop of the app, on the exported model: token in, token out, with tools that answer from a script.

The first prompt is the whole template; every later prompt only adds "\\n", the new turn and the generation prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from conversation import Call, Dialogue, ToolResults, User, context, generation_prompt, head
from tokenizer import Codec

MOST_NEW_TOKENS = 400
MOST_ROUNDS = 8
TOOL_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)


class Engine:
    """The ONNX file, one sequence at a time."""

    def __init__(self, folder: Path, threads: int = 1) -> None:
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            str(folder / "onnx" / "model.onnx"), settings, providers=["CPUExecutionProvider"]
        )
        self.codec = Codec(folder)
        shape = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.layers = shape["num_hidden_layers"]
        self.cache_shape = (1, shape["num_key_value_heads"], 0, shape["head_dim"])
        self.context_length = shape["max_position_embeddings"]
        self.stops = {self.codec.id("<|im_end|>"), self.codec.id("<|endoftext|>")}
        self.cache_names = [
            f"past_key_values.{layer}.{part}" for layer in range(self.layers) for part in ("key", "value")
        ]

    def empty_cache(self) -> list[np.ndarray]:
        return [np.zeros(self.cache_shape, np.float32) for _ in self.cache_names]

    def forward(self, ids: list[int], cache: list[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        """-> (logits after the last id, the longer cache)"""
        past = cache[0].shape[2]
        feeds: dict[str, Any] = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, past + len(ids)), np.int64),
            "position_ids": np.arange(past, past + len(ids), dtype=np.int64)[None],
            "num_logits_to_keep": np.array(1, np.int64),
            **dict(zip(self.cache_names, cache)),
        }
        logits, *cache = self.session.run(None, feeds)
        return logits[0, -1], cache

    def generate(
        self, ids: list[int], cache: list[np.ndarray], temperature: float, chance: np.random.Generator
    ) -> tuple[list[int], list[np.ndarray]]:
        sampled: list[int] = []
        while len(sampled) < MOST_NEW_TOKENS:
            if cache[0].shape[2] + len(ids) > self.context_length:
                break
            logits, cache = self.forward(ids, cache)
            token = int(logits.argmax()) if temperature == 0 else draw(logits.astype(np.float64) / temperature, chance)
            sampled.append(token)
            ids = [token]
            if token in self.stops:
                break
        return sampled, cache


def draw(logits: np.ndarray, chance: np.random.Generator) -> int:
    weights = np.exp(logits - logits.max())
    return int(chance.choice(len(weights), p=weights / weights.sum()))


@dataclass
class Answered:
    """What the model did about one question."""

    rounds: list[list[Call]] = field(default_factory=list)
    malformed: int = 0
    text: str | None = None  # None: no final answer
    texts: list[str] = field(default_factory=list)  # everything it wrote, for people to read


@dataclass
class Rollout:
    answers: list[Answered] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    responses: list[list[int]] = field(default_factory=list)
    endless: int = 0  # turns that reached the limit of new tokens

    def drifted(self, codec: Codec) -> bool:
        return codec.encode(codec.decode(self.ids)) != self.ids


# Answers the calls of one round: (question number, round number, calls) -> one text per call
Tools = Callable[[int, int, list[Call]], list[str]]


def roll_out(
    engine: Engine,
    dialogue: Dialogue,
    questions: Iterable[str],
    tools: Tools,
    thinking: bool,
    temperature: float,
    seed: int = 0,
) -> Rollout:
    rollout, cache, chance = Rollout(), engine.empty_cache(), np.random.default_rng(seed)
    prompt, unfed = head(dialogue), []
    for number, question in enumerate(questions):
        answered = Answered()
        rollout.answers.append(answered)
        prompt += context(User(question)) + generation_prompt(thinking)
        for round_number in range(MOST_ROUNDS):
            prompt_ids = engine.codec.encode(prompt)
            sampled, cache = engine.generate(unfed + prompt_ids, cache, temperature, chance)
            rollout.ids += prompt_ids + sampled
            rollout.responses.append(sampled)
            unfed, prompt = sampled[-1:], "\n"
            text = engine.codec.decode(sampled)
            answered.texts.append(text)
            if not sampled or sampled[-1] not in engine.stops:
                rollout.endless += 1
                return rollout
            calls, malformed = parse(text)
            answered.malformed += malformed
            if not calls and not malformed:
                answered.text = said(text)
                break
            answered.rounds.append(calls)
            results = tools(number, round_number, calls) + ["Error: invalid JSON in the tool call"] * malformed
            prompt += context(ToolResults(tuple(results))) + generation_prompt(thinking)
    return rollout


def parse(text: str) -> tuple[list[Call], int]:
    """-> (calls, how many could not be read)"""
    calls, malformed = [], 0
    for content in TOOL_CALL.findall(after_thinking(text)):
        try:
            call = json.loads(content)
            calls.append(Call(call["name"], dict(call["arguments"])))
        except (ValueError, KeyError, TypeError):
            malformed += 1
    return calls, malformed


def said(text: str) -> str:
    return after_thinking(text).removesuffix("<|im_end|>").removesuffix("<|endoftext|>").strip()


def after_thinking(text: str) -> str:
    return text.rsplit("</think>", 1)[-1]
