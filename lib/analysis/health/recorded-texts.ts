/**
 * Compares texts that a file has next to its ids with the ids as the named tokenizer decodes them. If they differ, the tokenizer
 * belongs to another model, or the ids or the text were changed. Ids of another tokenizer are often small enough to have a text here.
 */
import { isObject } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import type { HealthCheck } from './check.ts'

interface PromptText {
  /** Path of the field in the file. */
  readonly path: string
  readonly text: string
  /** First token of the text. It continues to the last token of the trajectory. */
  readonly start: number
}

/** Reports fields whose text differs from the decoded ids. Checks nothing without a named tokenizer or if a text of an id is unknown. */
export const checkRecordedTexts: HealthCheck = (trajectory) => {
  const { model, segments, vocab } = trajectory
  const ids = segments.flatMap((segment) => segment.ids)
  const isKnown = model.tokenizer !== undefined && ids.every((id) => Object.hasOwn(vocab, id))
  const plain = plainText(trajectory)
  const other = isKnown
    ? promptTexts(trajectory).flatMap(({ path, text, start }) => {
        const [recordedText, decoded] = [plain(text), plain(textOf(ids.slice(start), vocab))]
        return recordedText === decoded ? [] : [{ path, start, given: recordedText, decoded }]
      })
    : []
  const [first] = other
  return {
    findings: first
      ? [
          {
            kind: 'other-text',
            severity: 'warning',
            label: 'text other than its ids',
            message: `The file’s ${first.path} differs from the ids as decoded by the tokenizer ${model.tokenizer?.name}: ${difference(first.given, first.decoded)}.`,
            count: other.length,
            places: other.map(({ start }) => ({ start, end: ids.length })),
            remedy:
              'Name the tokenizer of the model that wrote the tokens. If it is this one, the ids or the text were changed after the rollout.',
          },
        ]
      : [],
  }
}

/** Returns the texts that slime and TorchRL write: that of the whole trajectory, and that of everything after the first prompt. */
function promptTexts({ foreign = {}, segments }: Trajectory): readonly PromptText[] {
  const [first] = segments
  const afterPrompt = first?.kind === 'prompt' ? first.ids.length : 0
  const { slime, torchrl } = foreign
  const text = isObject(torchrl) && isObject(torchrl.text) ? torchrl.text : {}
  return [
    { path: 'response', text: isObject(slime) ? slime.response : undefined, start: afterPrompt },
    { path: 'text.response', text: text.response, start: afterPrompt },
    { path: 'text.full', text: text.full, start: 0 },
  ].flatMap(({ path, text, start }) => (typeof text === 'string' && text !== '' ? [{ path, text, start }] : []))
}

/** Removes special tokens, outer spaces and replacement characters. Servers leave out the first two, and replace parts of characters. */
function plainText({ model, vocab }: Trajectory): (text: string) => string {
  const special = (model.tokenizer?.specialIds ?? []).flatMap((id) => {
    const entry = vocab[id]
    return typeof entry === 'string' && entry !== '' ? [entry] : []
  })
  return (text) =>
    special
      .reduce((left, one) => left.replaceAll(one, ''), text)
      .replaceAll('\ufffd', '')
      .trim()
}

const SHOWN = 24

function difference(recordedText: string, decoded: string): string {
  let at = 0
  while (at < recordedText.length && recordedText[at] === decoded[at]) at++
  const excerpt = (text: string) => JSON.stringify(text.slice(at, at + SHOWN))
  return `from character ${at} the file has ${excerpt(recordedText)}, the tokenizer ${excerpt(decoded)}`
}
