/**
 * Computes the bytes of token ids from a server that returns only text. A single token decodes differently than in a
 * text in two cases: some tokenizers drop the space before the first word, and a part of a UTF-8 character becomes
 * U+FFFD. So each token is decoded after another token, and parts are completed by single-byte tokens: the resulting
 * character determines the bytes of the part.
 */

import { elementAt, uint8At } from '#lib/util/element-at.ts'
import type { ServerTokenizer } from './server-tokenizer.ts'

/** The tokens that help to decode others with a server. */
export interface Decoding {
  /** A token after which others are decoded, and its text; undefined if no token fits. */
  readonly anchor: { readonly id: number; readonly text: string } | undefined
  /** Single-byte tokens; undefined if the tokenizer has none, so that parts of characters stay U+FFFD. */
  readonly parts: Parts | undefined
}

interface Parts {
  /** The four bytes of a character, each as an id. */
  readonly whole: readonly SingleByte[]
  /** Last bytes from three ranges: after E0, ED, F0 and F4 only some of them may follow. */
  readonly lasts: readonly SingleByte[]
}

interface SingleByte {
  readonly id: number
  readonly byte: number
}

const ANCHOR = 'a'

/** Unassigned characters, which no text has taught a tokenizer as one: F1 90 80 85, F1 90 80 95, F1 90 80 A5. */
const RARE = ['\u{50005}', '\u{50015}', '\u{50025}'] as const

/** Finds the tokens that help to decode others, with two requests. Throws EngineError. */
export async function findDecoding(server: ServerTokenizer, signal: AbortSignal): Promise<Decoding> {
  const [anchorIds = [], ...rare] = await server.tokenize([ANCHOR, ...RARE], signal)
  const texts = await server.detokenize([anchorIds, ...rare], 'with special tokens', signal)
  const [anchor] = anchorIds
  const isPlain = rare.every((_, i) => texts[i + 1]?.trimStart() === RARE[i])
  const spelled = rare.map((ids, i) => singleBytes(ids.slice(-4), elementAt(RARE, i)))
  const whole = spelled[0]
  return {
    anchor:
      anchor !== undefined && anchorIds.length === 1 && texts[0] === ANCHOR ? { id: anchor, text: ANCHOR } : undefined,
    parts:
      isPlain && whole && spelled.every((bytes) => bytes !== undefined)
        ? { whole, lasts: spelled.map((bytes) => elementAt(bytes as readonly SingleByte[], 3)) }
        : undefined,
  }
}

/** Some tokenizers write a space piece before a first word: the last four ids are the character's. */
function singleBytes(ids: readonly number[], character: string): readonly SingleByte[] | undefined {
  const bytes = encoder.encode(character)
  if (ids.length !== bytes.length) return undefined
  return ids.map((id, i) => ({ id, byte: uint8At(bytes, i) }))
}

const encoder = new TextEncoder()
const UNKNOWN = '\uFFFD'

/**
 * Returns the bytes of each id. They are exact, except for tokenizers that change spaces in decoding or have no single
 * bytes.
 */
export async function bytesOfIds(
  server: ServerTokenizer,
  ids: readonly number[],
  { anchor, parts }: Decoding,
  signal: AbortSignal,
): Promise<readonly Uint8Array[]> {
  const decoded = await server.detokenize(
    ids.map((id) => (anchor ? [anchor.id, id] : [id])),
    'with special tokens',
    signal,
  )
  const isAfterAnchor = (text: string | undefined): boolean =>
    anchor !== undefined && (text ?? '').startsWith(anchor.text)
  const separateIds = ids.filter((_, i) => anchor && !isAfterAnchor(decoded[i]))
  const aloneTexts = await server.detokenize(
    separateIds.map((id) => [id]),
    'with special tokens',
    signal,
  )
  const textAlone = new Map(separateIds.map((id, i) => [id, aloneTexts[i] ?? '']))
  const texts = ids.map(
    (id, i) => textAlone.get(id) ?? (decoded[i] ?? '').slice(isAfterAnchor(decoded[i]) ? anchor?.text.length : 0),
  )
  const partial = parts ? ids.filter((_, i) => texts[i]?.includes(UNKNOWN)) : []
  const exact = new Map(
    parts && partial.length > 0
      ? await completeBytes(server, partial, new Map(ids.map((id, i) => [id, elementAt(texts, i)])), parts, signal)
      : [],
  )
  return ids.map((id, i) => exact.get(id) ?? encoder.encode(texts[i]))
}

async function completeBytes(
  server: ServerTokenizer,
  ids: readonly number[],
  texts: ReadonlyMap<number, string>,
  parts: Parts,
  signal: AbortSignal,
): Promise<(readonly [number, Uint8Array])[]> {
  const before = LENGTHS.map((missing) => parts.whole.slice(0, 4 - missing))
  const fill = elementAt(parts.whole, 3)
  const after = parts.lasts.flatMap((second) => LENGTHS.map((missing) => [second, ...Array(missing - 1).fill(fill)]))
  const idsOf = (bytes: readonly SingleByte[]): readonly number[] => bytes.map(({ id }) => id)
  const idLists = ids.flatMap((id) => [
    ...before.map((some) => [...idsOf(some), id]),
    ...after.map((some) => [id, ...idsOf(some)]),
  ])
  const answers = await server.detokenize(idLists, 'with special tokens', signal)
  const each = before.length + after.length
  return ids.flatMap((id, index) => {
    const own = answers.slice(index * each, (index + 1) * each)
    const head = longest(before.map((some, i) => completingBytes(own[i] ?? '', some)))
    const tail = longest(after.map((some, i) => bytesBefore(own[before.length + i] ?? '', some)))
    const middle = (texts.get(id) as string).slice(head.length, tail.length > 0 ? -1 : undefined)
    const bytes = Uint8Array.of(...head, ...encoder.encode(middle), ...tail)
    // Bytes that decode to the server's text are right; otherwise the server's text is used.
    return decoder.decode(bytes) === texts.get(id) ? [[id, bytes] as const] : []
  })
}

/** The possible numbers of missing bytes of a character. */
const LENGTHS = [1, 2, 3] as const

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const longest = (found: readonly (readonly number[])[]): readonly number[] =>
  found.reduce((most, bytes) => (bytes.length > most.length ? bytes : most), [])

/** Returns the bytes with which a token completed a character that others began; none if it did not. */
function completingBytes(text: string, begun: readonly SingleByte[]): readonly number[] {
  const bytes = encoder.encode(firstCharacter(text))
  const isCompleted = bytes.length === 4 && begun.every(({ byte }, i) => bytes[i] === byte)
  return isCompleted ? [...bytes.slice(begun.length)] : []
}

/** Returns the bytes with which a token began a character that others completed; none if it did not. */
function bytesBefore(text: string, completing: readonly SingleByte[]): readonly number[] {
  const last = lastCharacter(text)
  if (last === UNKNOWN) return []
  const bytes = encoder.encode(last)
  const from = bytes.length - completing.length
  const isCompleted = from > 0 && completing.every(({ byte }, i) => bytes[from + i] === byte)
  return isCompleted ? [...bytes.slice(0, from)] : []
}

const firstCharacter = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 0)
const lastCharacter = (text: string): string => [...text.slice(-2)].at(-1) ?? ''
