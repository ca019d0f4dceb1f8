/**
 * Describes what cannot be reconstructed as a pipeline would do it, in sentences for a person. A difference that comes from this is not
 * drift of the run.
 */

import { exactInput } from '#lib/json/written-json.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Message, Span, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { Reconstruction } from '../compare/side.ts'
import type { ConversationPart } from './recorded-messages.ts'

/** Returns true if ids have the same meaning for the tokenizer as in the run. A file that names no tokenizer is assumed to match. */
export function isSameTokenizer({ model }: Pick<TrajectoryView, 'model'>, { name, fingerprint }: Tokenizer): boolean {
  if (!model.tokenizer) return true
  return model.tokenizer.fingerprint === undefined
    ? model.tokenizer.name === name
    : model.tokenizer.fingerprint === fingerprint
}

interface Encoded {
  readonly trajectory: TrajectoryView
  readonly as: Reconstruction
  readonly tokenizer: Tokenizer
  readonly text: string
  /** Tokens of the reconstructed side whose position in the text is uncertain. */
  readonly unsure: readonly Span[]
}

/** Returns the caveats of a side in mode text. `vocab` holds the texts of the recorded ids. */
export const textCaveats = ({ vocab, ...encoded }: Encoded & { readonly vocab: Vocab }): readonly string[] => [
  ...unknownIdCaveats(encoded.trajectory, vocab),
  ...encodingCaveats(encoded),
]

/** Returns the caveats of any text that was encoded here. */
export const encodingCaveats = ({ trajectory, as, tokenizer, text, unsure }: Encoded): readonly string[] => [
  ...(trajectory.outcome.kind === 'running' ? [UNDER_WAY] : []),
  ...tokenizerCaveats(trajectory, as, tokenizer),
  ...unsureCaveats(unsure),
  ...recentCaveats(text),
]

const UNDER_WAY = 'The run has not ended: the tokens so far are compared.'

function tokenizerCaveats({ model }: TrajectoryView, as: Reconstruction, tokenizer: Tokenizer): readonly string[] {
  const recorded = model.tokenizer
  if (recorded?.source === 'server')
    return [
      'The server itself was the tokenizer of the run: the texts of ids are as the server decodes them, which is not always their exact bytes.',
    ]
  const isChosen = 'tokenizer' in as && as.tokenizer !== undefined
  if (isChosen || recorded?.fingerprint === undefined || recorded.fingerprint === tokenizer.fingerprint) return []
  return [
    `The tokenizer ${tokenizer.name} on this machine is not the recorded one (its file differs), which alone may cause differences.`,
  ]
}

function unknownIdCaveats(trajectory: TrajectoryView, vocab: Vocab): readonly string[] {
  let count = 0
  let first: number | undefined
  for (const { ids } of segmentsOf(trajectory))
    for (let index = 0; index < ids.length; index++) {
      const id = elementAt(ids, index)
      if (bytesOf(vocab[id] ?? '').length > 0) continue
      count++
      first ??= id
    }
  if (count === 0) return []
  return [
    `${countWithNoun(count, 'token')} with an id that the tokenizer does not have (the first is ${first}): it has no text.`,
  ]
}

function unsureCaveats(unsure: readonly Span[]): readonly string[] {
  const count = unsure.reduce((sum, { start, end }) => sum + end - start, 0)
  if (count === 0) return []
  return [
    `The position of ${countWithNoun(count, 'token')} in the text is uncertain: segments, mask and calls may be off by as much.`,
  ]
}

function recentCaveats(text: string): readonly string[] {
  const found = [...new Set(text.match(recentCharacters))]
  if (found.length === 0) return []
  const names = found.slice(0, MOST_NAMED).map((character) => codePoint(character))
  const more = found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : ''
  return [
    `The text has characters that Python’s tokenizers handle by an older Unicode version (${names.join(', ')}${more}): their ids may differ from those in Python.`,
  ]
}

const MOST_NAMED = 5

const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`

/** Returns the caveats of messages and tools as they were recorded. */
export function messageCaveats(
  { model, provenance }: TrajectoryView,
  parts: readonly ConversationPart[],
): readonly string[] {
  const messages = parts.flatMap((part) => (part.kind === 'context' ? part.messages : []))
  return [
    ...partCaveats(messages),
    // Rollscope renders the prompts of its own runs from the values that it records, so their spelling is not lost.
    ...(provenance.kind === 'rollout' ? [] : numberCaveats(messages, model.tools)),
  ]
}

function partCaveats(messages: readonly Message[]): readonly string[] {
  const types = new Set(
    messages.flatMap(({ content = '' }) =>
      typeof content === 'string' ? [] : content.map(({ type }) => type).filter((type) => type !== 'text'),
    ),
  )
  if (types.size === 0) return []
  return [
    `Messages contain parts that are not text (${[...types].join(', ')}): the template receives them, but Rollscope does not create the tokens of a multimodal processor.`,
  ]
}

function numberCaveats(messages: readonly Message[], tools: TrajectoryView['model']['tools']): readonly string[] {
  const sources = [
    ...messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).map(exactInput),
    ...tools.map(({ inputSchema }) => inputSchema),
  ]
  if (!sources.some(mayLoseSpelling)) return []
  return [
    'Tools or given calls contain very large integers, or keys that look like numbers: their digits or order may differ from the rendered ones.',
  ]
}

/** Returns true if a JavaScript value may have lost its spelling: large integers are rounded, and keys such as "10" are moved first. */
function mayLoseSpelling(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  const keys = Object.keys(value)
  const hasMoved = !Array.isArray(value) && keys.length > 1 && keys.some((key) => /^(?:0|[1-9]\d{0,9})$/.test(key))
  return hasMoved || Object.values(value).some(mayLoseSpelling)
}

/**
 * Characters that Python's tokenizers (0.23.3) handle by an older Unicode version than this engine, in hexadecimal. They were found by
 * encoding every code point, alone, within words and with an accent, with the tokenizers of Qwen3, Llama 3.2 and DeepSeek V3 (Node 24,
 * Unicode 17). peers/retokenized/retokenized.test.ts repeats this. Most were assigned in Unicode 17; the others are marks that older tables order
 * differently.
 */
const RANGES = `
  7fd 899-89b 8cf-8d3 c3c d3b-d3c eba 1715 1abf-1ac0 1ac3-1ac4 1aca 1acf-1add 1ae0-1aeb 1df6-1dfa 20c1 2b96
  a7ce-a7cf a7d2 a7d4 a7f1 a82c fbc3-fbd2 fd90-fd91 fdc8-fdce 10940-10959 10ec5-10ec7 10ed0-10ed8 10efa-10efb
  10efd-10eff 10f46-10f47 10f4b 10f4d-10f50 10f83 10f85 11070 1133b 113ce-113d0 11839-1183a 1193d-1193e 11943
  119e0 11a34 11a47 11a99 11b60-11b67 11d42 11d44-11d45 11d97 11db0-11ddb 11de0-11de9 11f41-11f42 1612f
  16ea0-16eb8 16ebb-16ed3 16ff0-16ff6 187f8-187ff 18d09-18d1e 18d80-18df2 1ccfa-1ccfc 1ceba-1ced0 1cee0-1cef0
  1e4ec-1e4ee 1e5ef 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 1f6d8 1f777-1f77a 1f8d0-1f8d8 1fa54-1fa57 1fa8a 1fa8e
  1fac8 1facd 1faea 1faef 1fbfa 2b73a-2b73f 2cea2-2cead 323b0-33479
`

/** Matches each character that Python's tokenizers handle by an older Unicode version. Global, so it has state: use it with `match`. */
export const recentCharacters = new RegExp(
  `[${RANGES.trim()
    .split(/\s+/)
    .map((range) => range.replace(/\w+/g, '\\u{$&}'))
    .join('')}]`,
  'gu',
)
