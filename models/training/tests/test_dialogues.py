import json
import unittest
from pathlib import Path

import dialogues
import expressions
import numerals
import score
import tasks
from calculator import tool_result
from conversation import Assistant, Call, Dialogue, ToolResults, User, messages, render_again, render_in_place
from source import Source, is_held_out

TEMPLATE = Path(__file__).parent.parent / "chat_template.jinja"
COUNT = 400


def examples(stage: str = "full", held_out: bool = False):
    source = Source(f"test {stage}", held_out)
    return [dialogues.example(source, stage) for _ in range(COUNT if stage != "long" else 40)]


class Rendering(unittest.TestCase):
    def test_a_history_rendered_again_is_what_the_chat_template_renders(self):
        for example in examples():
            for thinking in (True, False):
                segments = render_again(example.dialogue, thinking)
                prompt = "".join(segment.text for segment in segments[:-1])
                before = Dialogue(
                    example.dialogue.system, example.dialogue.tools, turns_before_the_last_answer(example.dialogue)
                )
                self.assertEqual(prompt, self.template(before, thinking, add_generation_prompt=True))

    def test_in_place_and_template_agree_while_there_is_one_question(self):
        for example in examples():
            dialogue = first_question(example.dialogue)
            text = "".join(segment.text for segment in render_in_place(dialogue, thinking=True))
            self.assertEqual(text + "\n", self.template(dialogue, True, add_generation_prompt=False))

    def test_only_what_the_model_writes_is_trained(self):
        for example in examples() + examples("first") + examples("long"):
            for index, segment in enumerate(example.segments):
                if segment.trained:
                    self.assertTrue(segment.text.endswith("<|im_end|>"))
                    self.assertNotIn("<|im_start|>", segment.text)
                    self.assertNotIn("<tool_response>", segment.text)
                    opening = "<|im_start|>assistant\n" + ("" if example.thinking else "<think>\n\n</think>\n\n")
                    self.assertTrue(example.segments[index - 1].text.endswith(opening))
            self.assertTrue(any(segment.trained for segment in example.segments))

    def template(self, dialogue: Dialogue, thinking: bool, **options) -> str:
        try:
            from jinja2.sandbox import ImmutableSandboxedEnvironment
        except ImportError:
            self.skipTest("jinja2 is not installed")
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
        return template.render(
            messages=messages(dialogue, thinking),
            tools=list(dialogue.tools) or None,
            enable_thinking=thinking,
            **options,
        )


class Dialogues(unittest.TestCase):
    def test_a_seed_gives_the_same_dialogues_again(self):
        self.assertEqual(examples(), examples())

    def test_turns_alternate_and_end_with_an_answer(self):
        for example in examples() + examples("first") + examples("long"):
            turns = example.dialogue.turns
            self.assertIsInstance(turns[0], User)
            self.assertIsInstance(turns[-1], Assistant)
            for turn, following in zip(turns, turns[1:]):
                if isinstance(turn, Assistant):
                    self.assertIsInstance(following, ToolResults if turn.calls else User)
                    self.assertEqual(len(turn.calls), len(following.texts) if isinstance(following, ToolResults) else 0)
                else:
                    self.assertIsInstance(following, Assistant)

    def test_every_taught_call_fits_its_tool(self):
        for example in examples():
            tools = {tool["function"]["name"]: tool["function"]["parameters"] for tool in example.dialogue.tools}
            for call in taught_calls(example.dialogue):
                schema = tools[call.name]
                self.assertLessEqual(set(schema.get("required", [])), set(call.arguments))
                for name, value in call.arguments.items():
                    self.assertTrue(fits(value, schema["properties"][name]), (name, value, schema))

    def test_optional_arguments_keep_the_order_of_the_schema(self):
        for example in examples():
            tools = {
                tool["function"]["name"]: list(tool["function"]["parameters"]["properties"])
                for tool in example.dialogue.tools
            }
            for call in taught_calls(example.dialogue):
                order = [name for name in tools[call.name] if name in call.arguments]
                self.assertEqual(list(call.arguments), order)

    def test_no_wrong_call_is_ever_taught(self):
        wrong = [
            turn
            for example in examples()
            for turn in example.dialogue.turns
            if isinstance(turn, Assistant) and not turn.trained
        ]
        self.assertTrue(wrong)
        for example in examples():
            trained = {segment.text for segment in example.segments if segment.trained}
            for turn in example.dialogue.turns:
                if (
                    isinstance(turn, Assistant)
                    and not turn.trained
                    and turn.body()
                    not in {
                        other.body()
                        for other in example.dialogue.turns
                        if isinstance(other, Assistant) and other.trained
                    }
                ):
                    self.assertFalse(any(turn.body() in text for text in trained))


class HeldOut(unittest.TestCase):
    def test_no_tool_name_of_the_scores_is_used_in_training(self):
        for held_out in (False, True):
            for example in examples(held_out=held_out):
                for tool in example.dialogue.tools:
                    if (name := tool["function"]["name"]) != "calculator":
                        self.assertEqual(is_held_out(name), held_out, name)

    def test_no_expression_of_the_scores_is_used_in_training(self):
        for held_out in (False, True):
            source = Source("test expressions", held_out)
            for _ in range(COUNT):
                self.assertEqual(is_held_out(expressions.question(source).expression), held_out)

    def test_the_split_is_about_one_in_twelve(self):
        share = sum(is_held_out(str(number)) for number in range(12_000)) / 12_000
        self.assertAlmostEqual(share, 1 / 12, delta=0.01)


class Expressions(unittest.TestCase):
    def test_every_question_can_be_computed(self):
        source = Source("test questions")
        for _ in range(COUNT):
            self.assertFalse(tool_result(expressions.question(source).expression).startswith("Error"))

    def test_numbers_in_words(self):
        self.assertEqual(
            [numerals.in_words(value) for value in (0, 7, 13, 40, 99, 100, 342, 1005)],
            [
                "zero",
                "seven",
                "thirteen",
                "forty",
                "ninety-nine",
                "one hundred",
                "three hundred and forty-two",
                "one thousand five",
            ],
        )


class Scoring(unittest.TestCase):
    def test_a_value_is_said_only_as_a_whole_number(self):
        self.assertTrue(score.says("12 * 1 = 12.", "12"))
        self.assertFalse(score.says("The result is 112.", "12"))
        self.assertFalse(score.says("The result is 12.5.", "12"))
        self.assertTrue(score.says("1 / 8 = 0.125.", "0.125"))

    def test_the_values_of_an_answer(self):
        self.assertEqual(tasks.arithmetic_values("12 * 7 = 84 and 81 / 9 = 9."), ("84", "9"))
        self.assertEqual(tasks.arithmetic_values("25 * 17 = 425, then 425 + 9 = 434."), ("434",))
        self.assertEqual(tasks.arithmetic_values("The result is -0.5."), ("-0.5",))

    def test_calls_are_compared_by_value_and_type(self):
        call = Call
        self.assertTrue(score.same_calls([call("a", {"x": 1.0, "y": "b"})], [call("a", {"y": "b", "x": 1})]))
        self.assertFalse(score.same_calls([call("a", {"x": "1"})], [call("a", {"x": 1})]))

    def test_the_hand_written_questions_are_enough_and_name_their_tools(self):
        for suite in ("hand-written", "hand-written-blind"):
            self.assertGreaterEqual(len({task.questions[0].question for task in tasks.hand_written(suite)}), 40)


def turns_before_the_last_answer(dialogue: Dialogue):
    last = max(index for index, turn in enumerate(dialogue.turns) if isinstance(turn, Assistant))
    return dialogue.turns[:last]


def first_question(dialogue: Dialogue) -> Dialogue:
    following = [index for index, turn in enumerate(dialogue.turns) if isinstance(turn, User)][1:]
    return Dialogue(dialogue.system, dialogue.tools, dialogue.turns[: following[0]] if following else dialogue.turns)


def taught_calls(dialogue: Dialogue):
    return [call for turn in dialogue.turns if isinstance(turn, Assistant) and turn.trained for call in turn.calls]


def fits(value, schema) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if kind == "array":
        return isinstance(value, list) and all(fits(one, schema["items"]) for one in value)
    if kind == "object":
        return set(value) == set(schema["required"]) and all(
            fits(one, schema["properties"][name]) for name, one in value.items()
        )
    types = {"string": str, "boolean": bool, "integer": int, "number": (int, float)}
    return isinstance(value, types[kind]) and (kind == "boolean" or not isinstance(value, bool))
