/**
 * Compares texts that a file has next to its ids with the ids as the named tokenizer decodes them. If they differ, the tokenizer
 * belongs to another model, or the ids or the text were changed. Ids of another tokenizer are often small enough to have a text here.
 */
import { isObject } from '#lib/json/json-object.ts'
import type { Span, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { messageText } from '#lib/trajectory/messages/conversation.ts'
import { assistantMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { encodingOf } from '#lib/trajectory/tokens/texts.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type HealthCheck, toTrajectorySpan } from './check.ts'

interface RecordedText {
  /** Path of the field in the file. */
  readonly path: string
  readonly text: string
  /** The tokens of the text, counted from the first of the trajectory. */
  readonly tokens: Span
  /** Returns whether the decoded ids, which are the second argument, have the text. */
  readonly isIn: (text: string, decoded: string) => boolean
}

/** Reports fields whose text differs from the decoded ids. Checks nothing without a named tokenizer or if a text of an id is unknown. */
export const checkRecordedTexts: HealthCheck = (trajectory, starts) => {
  const { model, segments, vocab } = trajectory
  const ids = segments.flatMap((segment) => segment.ids)
  const isKnown = model.tokenizer !== undefined && ids.every((id) => Object.hasOwn(vocab, id))
  const plain = plainText(trajectory)
  const other = isKnown
    ? [...wholeTexts(trajectory), ...replyTexts(trajectory, starts)].flatMap(({ path, text, tokens, isIn }) => {
        const [recordedText, decoded] = [plain(text), plain(textOf(ids.slice(tokens.start, tokens.end), vocab))]
        return isIn(recordedText, decoded) ? [] : [{ path, tokens, given: recordedText, decoded }]
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
            places: other.map(({ tokens }) => tokens),
            remedy:
              'Name the tokenizer of the model that wrote the tokens. If it is this one, the ids or the text were changed after the rollout.',
          },
        ]
      : [],
  }
}

/** Returns the texts that slime and TorchRL write: that of the whole trajectory, and that of everything after the first prompt. */
function wholeTexts(trajectory: Trajectory): readonly RecordedText[] {
  const { foreign = {}, segments } = trajectory
  const [first] = segments
  const afterPrompt = first?.kind === 'prompt' ? first.ids.length : 0
  const { slime, torchrl } = foreign
  const text = isObject(torchrl) && isObject(torchrl.text) ? torchrl.text : {}
  const end = tokenCount(trajectory)
  return [
    { path: 'response', text: isObject(slime) ? slime.response : undefined, start: afterPrompt },
    { path: 'text.response', text: text.response, start: afterPrompt },
    { path: 'text.full', text: text.full, start: 0 },
  ].flatMap(({ path, text, start }) =>
    typeof text === 'string' && text !== ''
      ? [{ path, text, tokens: { start, end }, isIn: (a: string, b: string) => a === b }]
      : [],
  )
}

/** Returns the messages of imported replies. Servers and templates may rewrite parts of a message, but not each of its lines. */
function replyTexts(trajectory: Trajectory, starts: readonly number[]): readonly RecordedText[] {
  if (trajectory.provenance.kind !== 'import' || encodingOf(trajectory)) return []
  return trajectory.segments.flatMap((segment, index) => {
    if (segment.kind !== 'response' || !segment.message || segment.ids.length === 0) return []
    const message = assistantMessage(segment.message)
    const text = [message.reasoning ?? '', messageText(message)].join('\n')
    const tokens = toTrajectorySpan({ start: 0, end: segment.ids.length }, elementAt(starts, index))
    return [{ path: `message of segment ${index}`, text, tokens, isIn: isAnyLineIn }]
  })
}

const isAnyLineIn = (text: string, decoded: string): boolean =>
  text.trim() === '' || text.split('\n').some((line) => line.trim() !== '' && decoded.includes(line.trim()))

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
