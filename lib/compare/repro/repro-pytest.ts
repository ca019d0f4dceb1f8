/** A reproduction as a Python test: it fails where the drift is, and says what stands there. */
import { inDocstring, pythonString } from '#lib/lab/python-source.ts'
import { firstDifference, type Repro } from './repro.ts'

export function reproPytest(repro: Repro): string {
  const { mode, tokenizer, rendered, recorded, again, drift, doubts } = repro
  const hasClock = rendered?.clock !== undefined
  const first = firstDifference(recorded, again)
  const found =
    first === undefined
      ? 'Rollscope found no drift: this test passes.'
      : `Rollscope found drift: the first token that differs is ${first}. This test fails there, and passes where ids are passed on.`
  const said = [
    ...(drift
      ? [
          `Drift ${drift.number + 1} (${drift.span.kind}), from token ${drift.span.left.start}: ${drift.span.cause}`,
          drift.span.remedy,
        ]
      : []),
    found,
    ...doubts.map((doubt) => `Doubt: ${doubt}`),
  ]
  return `"""Token drift: ${TITLES[mode]}

${inDocstring(said.join('\n\n'))}

Run with pytest; needs transformers. MODEL may name another tokenizer or a folder.
Rollscope's tokenizer: ${inDocstring(tokenizer.name)}, tokenizer.json with SHA-256 ${tokenizer.fingerprint ?? 'unknown'}.
${tokenizer.name.includes('/') ? '' : 'That is a name of its own: set MODEL to the folder of the model, or to its name on the Hub.\n'}"""
${hasClock ? 'import datetime\n' : ''}import json
import os

from transformers import AutoTokenizer
${hasClock ? 'from transformers.utils import chat_template_utils\n' : ''}
MODEL = os.environ.get("MODEL", ${pythonString(tokenizer.name)})
${
  rendered
    ? `TEMPLATE = ${pythonString(rendered.template)}
MESSAGES = json.loads(${pythonString(rendered.messages)})
TOOLS = json.loads(${pythonString(rendered.tools)})
OPTIONS = json.loads(${pythonString(rendered.options)})
`
    : ''
}${
  hasClock
    ? `

class Clock(datetime.datetime):
    """The template tells the time: here always that at which the trajectory was made."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(${(rendered.clock ?? 0) / 1000}, tz)


`
    : ''
}# What the model read and wrote, token by token.
RECORDED = ${JSON.stringify(recorded)}


def test_the_text_gives_the_recorded_tokens(${hasClock ? 'monkeypatch' : ''}):
${hasClock ? '    monkeypatch.setattr(chat_template_utils, "datetime", Clock)\n' : ''}    tokenizer = AutoTokenizer.from_pretrained(MODEL)
${rendered ? RENDERED : DECODED}
    again = tokenizer.encode(text, add_special_tokens=False)
    difference = first_difference(tokenizer, RECORDED, again)
    assert difference is None, difference


def first_difference(tokenizer, recorded, again):
    if recorded == again:
        return None
    pairs = enumerate(zip(recorded, again))
    at = next((i for i, (a, b) in pairs if a != b), min(len(recorded), len(again)))

    def shown(ids):
        return [(token, tokenizer.decode([token])) for token in ids[at : at + 8]]

    return f"""first difference at token {at} of {len(recorded)} recorded, {len(again)} again
recorded: {shown(recorded)}
again:    {shown(again)}"""
`
}

const TITLES: Readonly<Record<Repro['mode'], string>> = {
  text: 'the ids decoded, and the text encoded again.',
  structured: 'messages with parsed tool calls, rendered by the chat template and encoded.',
  raw: 'messages with replies as raw text, rendered by the chat template and encoded.',
}

const RENDERED = `    text = tokenizer.apply_chat_template(
        MESSAGES, tools=TOOLS or None, chat_template=TEMPLATE, tokenize=False, **OPTIONS
    )`

const DECODED = `    text = tokenizer.decode(
        RECORDED, skip_special_tokens=False, clean_up_tokenization_spaces=False
    )`
