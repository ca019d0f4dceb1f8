/** Writes a counterexample as a Python test, for those who have transformers and not this page. */
import { inDocstring, pythonString as literal } from '../document/python-source.ts'
import { SAMPLE_TOOLS_JSON } from './sample-tools.ts'

interface Reproduced {
  /** Name of the tokenizer for from_pretrained. */
  readonly model: string
  readonly template: string
  /** Messages, tools and options as JSON; empty tools mean the doctor's own. */
  readonly messages: string
  readonly tools: string
  readonly options: string
  readonly replyIndex: number
  /** Text that the model wrote, including the end of its turn. */
  readonly written: string
  /** Text that is appended for the new messages. */
  readonly appended: string
  readonly cause: string
}

/** Returns the source of the Python test. */
export const reproduction = ({
  model,
  template,
  messages,
  tools,
  options,
  replyIndex,
  written,
  appended,
  cause,
}: Reproduced): string =>
  `"""A chat template that is not prefix-preserving.

${inDocstring(cause)}

Run with pytest; needs transformers. MODEL may name another tokenizer or a folder.
"""
import json
import os

from transformers import AutoTokenizer

MODEL = os.environ.get("MODEL", ${literal(model)})
TEMPLATE = ${literal(template)}
MESSAGES = json.loads(${literal(messages)})
TOOLS = json.loads(${literal(['', '[]', 'null'].includes(tools.trim()) ? SAMPLE_TOOLS_JSON : tools)})
OPTIONS = json.loads(${literal(options.trim() === '' ? '{}' : options)})
REPLY = ${replyIndex}  # index of the reply among the messages
WRITTEN = ${literal(written)}  # the reply as sampled
APPENDED = ${literal(appended)}  # the text appended for the new messages


def test_the_next_turn_begins_with_what_was_read_and_written():
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    options = {name: value for name, value in OPTIONS.items() if name not in ("add_generation_prompt", "continue_final_message")}

    def render(messages):
        return tokenizer.apply_chat_template(
            messages,
            tools=TOOLS,
            chat_template=TEMPLATE,
            add_generation_prompt=True,
            tokenize=False,
            **options,
        )

    def ids(text):
        return tokenizer.encode(text, add_special_tokens=False)

    turn = ids(render(MESSAGES[:REPLY])) + ids(WRITTEN) + ids(APPENDED)
    assert ids(render(MESSAGES))[: len(turn)] == turn
`
