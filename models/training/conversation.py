"""A dialogue and its text: what the model is shown, and which parts of it the model itself would have written.

Two kinds of history exist in the app. Token in, token out: every prompt is what was there before plus what is new, so
earlier think blocks stay. Rendered again: the chat template drops the thinking before the last question. The model has
to cope with both, so dialogues are rendered both ways.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

IM_END = "<|im_end|>"
EMPTY_THINKING = "<think>\n\n</think>\n\n"

TOOLS_HEAD = "# Tools\n\nYou can call these functions:\n<tools>"
TOOLS_TAIL = (
    "\n</tools>\n\nTo call a function, answer with its name and arguments as JSON:\n"
    '<tool_call>\n{"name": <name>, "arguments": <arguments>}\n</tool_call>'
)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any]

    def text(self) -> str:
        return f"<tool_call>\n{to_json({'name': self.name, 'arguments': self.arguments})}\n</tool_call>"


@dataclass(frozen=True)
class User:
    text: str


@dataclass(frozen=True)
class Assistant:
    """Either says something or calls tools. A mistake is shown to the model, never taught: trained is False."""

    thinking: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    trained: bool = True

    def body(self) -> str:
        return "\n".join([*([self.text] if self.text else []), *(call.text() for call in self.calls)])


@dataclass(frozen=True)
class ToolResults:
    texts: tuple[str, ...]


Turn = User | Assistant | ToolResults


@dataclass(frozen=True)
class Dialogue:
    system: str | None = None
    tools: tuple[dict[str, Any], ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Segment:
    text: str
    trained: bool


def render_in_place(dialogue: Dialogue, thinking: bool) -> list[Segment]:
    """The token-in/token-out history: nothing is ever dropped."""
    segments, prompt = [], head(dialogue)
    for turn in dialogue.turns:
        if not isinstance(turn, Assistant):
            prompt += context(turn)
            continue
        prompt += generation_prompt(thinking)
        segments.append(Segment(prompt, False))
        segments.append(Segment(sampled(turn, thinking), turn.trained))
        prompt = "\n"
    return segments


def render_again(dialogue: Dialogue, thinking: bool) -> list[Segment]:
    """The history as the chat template renders it. Trained are the last question's turns with thinking, and without
    thinking only the very last turn: the template leaves the empty think block out of every other one."""
    last_question = max(index for index, turn in enumerate(dialogue.turns) if isinstance(turn, User))
    last_answer = max(index for index, turn in enumerate(dialogue.turns) if isinstance(turn, Assistant))
    segments, prompt = [], head(dialogue)
    for index, turn in enumerate(dialogue.turns[: last_answer + 1]):
        if not isinstance(turn, Assistant):
            prompt += context(turn)
        elif index == last_answer or (thinking and index > last_question):
            prompt += generation_prompt(thinking)
            segments.append(Segment(prompt, False))
            segments.append(Segment(sampled(turn, thinking), turn.trained))
            prompt = "\n"
        else:
            prompt += f"{generation_prompt(True)}{turn.body()}{IM_END}\n"
    return segments


def head(dialogue: Dialogue) -> str:
    system = dialogue.system or ""
    if dialogue.tools:
        listed = "".join(f"\n{to_json(tool)}" for tool in dialogue.tools)
        system += ("\n\n" if system else "") + TOOLS_HEAD + listed + TOOLS_TAIL
    return f"<|im_start|>system\n{system}{IM_END}\n" if system else ""


def context(turn: User | ToolResults) -> str:
    if isinstance(turn, User):
        return f"<|im_start|>user\n{turn.text}{IM_END}\n"
    responses = "".join(f"\n<tool_response>\n{text}\n</tool_response>" for text in turn.texts)
    return f"<|im_start|>user{responses}{IM_END}\n"


def generation_prompt(thinking: bool) -> str:
    return "<|im_start|>assistant\n" + ("" if thinking else EMPTY_THINKING)


def sampled(turn: Assistant, thinking: bool) -> str:
    thought = f"<think>\n{turn.thinking}\n</think>\n\n" if thinking else ""
    return f"{thought}{turn.body()}{IM_END}"


def messages(dialogue: Dialogue, thinking: bool) -> list[dict[str, Any]]:
    """The same dialogue as chat messages, for the chat template."""
    result: list[dict[str, Any]] = [{"role": "system", "content": dialogue.system}] if dialogue.system else []
    for turn in dialogue.turns:
        if isinstance(turn, User):
            result.append({"role": "user", "content": turn.text})
        elif isinstance(turn, ToolResults):
            result += [{"role": "tool", "content": text} for text in turn.texts]
        else:
            message: dict[str, Any] = {"role": "assistant", "content": turn.text}
            if thinking:
                message["reasoning_content"] = turn.thinking
            if turn.calls:
                message["tool_calls"] = [
                    {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                    for call in turn.calls
                ]
            result.append(message)
    return result


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
