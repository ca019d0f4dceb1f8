/** Writes a reproduction as a Python test that fails at the drift and prints the tokens of both sides there. */
import { inDocstring, pythonString } from '#lib/templates/document/python-source.ts'
import type { Repro } from './repro.ts'

/** Returns the source of a pytest file. Running it needs transformers. */
export function reproPytest(repro: Repro): string {
  const { mode, tokenizer, rendered, recorded, again, recordedSide, report, drift, caveats } = repro
  const hasClock = rendered?.clock !== undefined
  const [side, other] = recordedSide === 'left' ? (['left', 'right'] as const) : (['right', 'left'] as const)
  // Drifts after the chosen one are listed too: if a text repeats itself, only the tokens after it show which copy was encoded.
  const drifts = drift ? report.spans : []
  const found = drift
    ? 'This test fails at the first token of this drift that differs, with or without the drifts before it. It passes if encoding gives the recorded tokens here.'
    : report.spans.length === 0
      ? 'Rollscope found no drift: this test passes.'
      : 'This test fails at the first token that differs, and passes if ids are passed on.'
  const paragraphs = [
    ...(drift
      ? [
          `Drift ${drift.number + 1} of ${report.spans.length} (${drift.span.kind}), from token ${drift.span[side].start}: ${drift.span.cause}`,
          drift.span.remedy,
        ]
      : []),
    found,
    ...caveats.map((caveat) => `Caveat: ${caveat}`),
  ]
  return `"""Token drift: ${TITLES[mode]}

${inDocstring(paragraphs.join('\n\n'))}

Run with pytest; needs transformers. MODEL may name another tokenizer or a folder.
Rollscope's tokenizer: ${inDocstring(tokenizer.name)}, tokenizer.json with SHA-256 ${tokenizer.fingerprint ?? 'unknown'}.
${tokenizer.name.includes('/') ? '' : 'This name is local to Rollscope: set MODEL to the folder of the model, or to its name on the Hub.\n'}"""
${hasClock ? 'import datetime\n' : ''}import json
import os
from itertools import chain, islice, zip_longest

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
    """Fixes the time that the template writes to the time of the recording."""

    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(${(rendered.clock ?? 0) / 1000}, tz)


`
    : ''
}# The ids that the model read and wrote.
RECORDED = ${JSON.stringify(recorded)}
# Drift spans: first token, the token after the last, and the ids that encoding gives instead.
DRIFTS = [${drifts
    .map((span) => {
      const ids = again.slice(span[other].start, span[other].end)
      return `\n    (${span[side].start}, ${span[side].end}, ${JSON.stringify(ids)}),`
    })
    .join('')}${drifts.length > 0 ? '\n' : ''}]
# Number of the drift span that this test checks, from 1. 0: any difference.
DRIFT = ${drift ? drift.number + 1 : 0}


def test_the_text_gives_the_recorded_tokens(${hasClock ? 'monkeypatch' : ''}):
${hasClock ? '    monkeypatch.setattr(chat_template_utils, "datetime", Clock)\n' : ''}    tokenizer = AutoTokenizer.from_pretrained(MODEL)
${rendered ? RENDERED : DECODED}
    again = tokenizer.encode(text, add_special_tokens=False)
    found = difference(again)
    assert found is None, shown(tokenizer, again, *found)


def difference(again):
    """Return what differs, and the token of each side at which it differs. None: the drift is gone."""
    before, at = 0, 0
    for number, (start, end, instead) in enumerate(DRIFTS[:DRIFT], 1):
        offset = first_difference(RECORDED[before:start], again[at : at + start - before])
        if offset is not None:
            return "first difference before the drift", before + offset, at + offset
        at += start - before
        offset = first_difference(chain(RECORDED[start:end], rest(number)), chain(instead, rest(number)))
        kept = next(islice(chain(RECORDED[start:end], rest(number)), offset, None), None)
        lost = next(islice(chain(instead, rest(number)), offset, None), None)
        token = again[at + offset] if at + offset < len(again) else None
        if number == DRIFT:
            # A token of a later drift only shows that this drift did not occur here.
            later = number < len(DRIFTS) and start + offset >= DRIFTS[number][0]
            gone = token == kept or (later and token != lost)
            return None if gone else (f"drift {number}: first difference", start + offset, at + offset)
        at += len(instead) if token == lost else end - start
        before = end
    offset = first_difference(RECORDED, again)
    return None if offset is None else ("first difference", offset, offset)


def first_difference(left, right):
    pairs = enumerate(zip_longest(left, right))
    return next((index for index, (a, b) in pairs if a != b), None)


def rest(number):
    """Yield the ids that encoding gives after a drift."""
    at = DRIFTS[number - 1][1]
    for start, end, instead in islice(DRIFTS, number, None):
        yield from RECORDED[at:start]
        yield from instead
        at = end
    yield from RECORDED[at:]


def shown(tokenizer, again, what, recorded_at, again_at):
    def tokens(ids):
        return [(token, tokenizer.decode([token])) for token in ids]

    return f"""{what} at token {recorded_at} of {len(RECORDED)} recorded, {again_at} of {len(again)} again
recorded: {tokens(RECORDED[recorded_at : recorded_at + 8])}
again:    {tokens(again[again_at : again_at + 8])}"""
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
