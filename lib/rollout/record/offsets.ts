/**
 * Finds the characters of each token of a text, by walking through the bytes of the tokens and of the text in parallel. A
 * tokenizer may have changed the text (Unicode forms, spaces around added tokens, a space before the first word); changes
 * within a few characters are still located exactly. Where that fails, the tokens up to the next certain position are
 * reported as unsure: nothing is guessed. Time is linear in the text's length.
 */
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'

/** The tokens of a text with their positions. */
export interface Encoding {
  readonly ids: readonly number[]
  /**
   * UTF-16 offset of the first character of which the token has a byte, then the length of the text: ids.length + 1 entries,
   * never decreasing. Characters that were normalised together count as one.
   */
  readonly starts: readonly number[]
  /**
   * Offset after the last character of which the token has a byte, one entry for each token. It is greater than the next
   * token's start if both share a character, and smaller if the tokenizer dropped the text between them.
   */
  readonly ends: readonly number[]
  /** Ranges of tokens with unknown positions, between the first one's start and the last one's end. */
  readonly unsure: readonly { readonly start: number; readonly end: number }[]
}

/** Encodes a text and finds the position of each token in it. */
export function encodeWithOffsets(tokenizer: Tokenizer, text: string): Encoding {
  const ids = tokenizer.encode(text)
  const { bytes, bounds } = spelling(tokenizer, ids)
  const contents = new Map(tokenizer.addedTokens.map(({ id, content }) => [id, content]))
  const starts = new Array<number>(ids.length + 1).fill(text.length)
  const ends = new Array<number>(ids.length).fill(text.length)
  const unsure: { start: number; end: number }[] = []
  const takesSpaces = spaceTakers(tokenizer)
  const certainPlace = certainPlaces({ ids, bytes, bounds, contents, text })

  // The byte `at`, in the token `index`, corresponds to the character at `offset`.
  let index = 0
  let at = 0
  let offset = 0

  const isAtBoundary = (): boolean => bounds[index] === at
  const addedAt = (token: number): string | undefined => contents.get(ids[token] as number)

  /** Assigns the bytes before `to` to the characters before `next`; a token that begins with them starts at `start`. */
  const place = (to: number, next: number, start = offset): void => {
    while (at < to) {
      if (bounds[index] === at) starts[index] = start
      ends[index] = next
      const end = bounds[index + 1] as number
      at = Math.min(to, end)
      if (at === end) index++
    }
    offset = next
  }

  /** Assigns the next characters if the next bytes spell them. Returns whether it did, like the other steps. */
  const stepUnchanged = (start = offset): boolean => {
    const content = isAtBoundary() ? addedAt(index) : undefined
    if (content !== undefined && text.startsWith(content, offset)) {
      place(bounds[index + 1] as number, offset + content.length, start)
      return true
    }
    const code = text.charCodeAt(offset)
    if (code < 0x80 && bytes[at] === code && !(text.charCodeAt(offset + 1) >= FIRST_JOINING)) {
      place(at + 1, offset + 1)
      return true
    }
    const cluster = clusterAt(text, offset)
    if (!spells(bytes, at, cluster)) return false
    for (const character of cluster) place(at + byteLength(character), offset + character.length)
    return true
  }

  /** Assigns the next characters if the next bytes spell a normalised form of them. */
  const stepNormalised = (): boolean => {
    const cluster = clusterAt(text, offset)
    const form = FORMS.find((name) => spells(bytes, at, cluster.normalize(name)))
    if (form === undefined) return false
    place(at + byteLength(cluster.normalize(form)), offset + cluster.length)
    return true
  }

  /**
   * Assigns a space that SentencePiece puts before the first word, and before a word after an added token. It shares the next
   * character.
   */
  const stepOverInsertedSpace = (): boolean => {
    const isFirst = isAtBoundary() && (index === 0 || addedAt(index - 1) !== undefined)
    if (bytes[at] !== SPACE || !isFirst) return false
    const before = { index, at, offset }
    place(at + 1, offset + String.fromCodePoint(text.codePointAt(offset) as number).length)
    offset = before.offset
    if (stepUnchanged() || stepNormalised()) return true
    ;({ index, at } = before)
    return false
  }

  /** Skips spaces that no token spells: an added token took them, or the tokenizer dropped them. */
  const stepOverSpaces = (): boolean => {
    const from = offset
    const to = afterSpaces(text, from)
    if (to === from || !isAtBoundary() || (to === text.length) !== (at === bytes.length)) return false
    const last = index - 1
    const isTaken = takesSpaces(addedAt(last))
    offset = to
    const start = isTaken || addedAt(index) === undefined ? to : from
    if (at < bytes.length && !stepUnchanged(start) && !stepNormalised()) {
      offset = from
      return false
    }
    if (isTaken) ends[last] = to
    return true
  }

  /** Continues at the next certain position. */
  const skip = (): void => {
    // An added token is in the text completely or not at all, because another one may begin with the same characters.
    if (addedAt(index) !== undefined && !isAtBoundary()) {
      at = bounds[index] as number
      offset = starts[index] as number
    }
    const from = { index, offset }
    const firstWhole = isAtBoundary() ? index : index + 1
    let token = firstWhole
    let found: number | undefined
    while (token < ids.length) {
      // A token without a position here may follow later, because the tokenizer drops some characters.
      const first = token === from.index ? offset + 1 : offset
      found = certainPlace(token, first, first + (bounds[token] as number) - at)
      if (found !== undefined) break
      token++
    }
    offset = found ?? text.length
    starts.fill(from.offset, firstWhole, token)
    ends.fill(offset, from.index, token)
    if (token > from.index) unsure.push({ start: from.index, end: token })
    index = token
    at = bounds[token] as number
  }

  while (at < bytes.length && offset < text.length)
    if (!stepUnchanged() && !stepOverInsertedSpace() && !stepNormalised() && !stepOverSpaces()) skip()
  if (offset < text.length) stepOverSpaces()
  return { ids, starts, ends, unsure }
}

const SPACE = 0x20
/** The first code unit of combining characters. */
const FIRST_JOINING = 0x300
const FORMS = ['NFC', 'NFKC', 'NFD', 'NFKD'] as const

const encoder = new TextEncoder()

/** Returns all bytes of the tokens and the start of each token among them, then their number. */
function spelling(tokenizer: Tokenizer, ids: readonly number[]): { bytes: Uint8Array; bounds: Uint32Array } {
  const known = new Map<number, Uint8Array>()
  const bounds = new Uint32Array(ids.length + 1)
  for (const [index, id] of ids.entries()) {
    if (!known.has(id)) known.set(id, tokenizer.bytes(id))
    bounds[index + 1] = (bounds[index] as number) + (known.get(id) as Uint8Array).length
  }
  const bytes = new Uint8Array(bounds[ids.length] as number)
  for (const [index, id] of ids.entries()) bytes.set(known.get(id) as Uint8Array, bounds[index])
  return { bytes, bounds }
}

/**
 * Matches a character with everything that normalisation may join to it: marks, the later letters of a Hangul syllable, and
 * the vowel signs of Kirat Rai, which are letters too.
 */
const CLUSTER = /.[\p{M}\u1160-\u11ff\u{16d63}-\u{16d6a}]*/suy

function clusterAt(text: string, offset: number): string {
  CLUSTER.lastIndex = offset
  return (CLUSTER.exec(text) as RegExpExecArray)[0]
}

function afterSpaces(text: string, offset: number): number {
  SPACES.lastIndex = offset
  return offset + (SPACES.exec(text) as RegExpExecArray)[0].length
}
const SPACES = /\s*/y

/** Returns the number of UTF-8 bytes. A lone surrogate counts as U+FFFD, as in tokenizers. */
const byteLength = (text: string): number => encoder.encode(text).length

function spells(bytes: Uint8Array, at: number, text: string): boolean {
  return encoder.encode(text).every((byte, index) => bytes[at + index] === byte)
}

/** Returns a test for added tokens that take the spaces after them (`rstrip`); false for undefined. */
function spaceTakers(tokenizer: Tokenizer): (content: string | undefined) => boolean {
  const known = new Map<string, boolean>()
  return (content) => {
    if (content === undefined) return false
    if (!known.has(content)) known.set(content, tokenizer.encode(`${content} `).length === 1)
    return known.get(content) as boolean
  }
}

/** UTF-16 code units around the expected position that are searched. */
const WINDOW = 256
/** Bytes of a searched text, and the characters that it must have to be distinctive. */
const SEARCHED_BYTES = 24
const FEWEST_SEARCHED_CHARACTERS = 8

/**
 * Returns a function that finds the position of a token at or after an offset if it is certain. The position of an added
 * token is certain if the text contains it as often as the ids; that of another token, if its text occurs exactly once around
 * the expected position.
 */
function certainPlaces({
  ids,
  bytes,
  bounds,
  contents,
  text,
}: {
  readonly ids: readonly number[]
  readonly bytes: Uint8Array
  readonly bounds: Uint32Array
  readonly contents: ReadonlyMap<number, string>
  readonly text: string
}): (token: number, from: number, expected: number) => number | undefined {
  let anchors: ReadonlyMap<number, number> | undefined
  return (token, from, expected) => {
    anchors ??= addedPlaces(ids, contents, text)
    const anchor = anchors.get(token)
    if (anchor !== undefined) return anchor >= from ? anchor : undefined
    const start = bounds[token] as number
    // Decoding as a stream leaves out a character that is cut at the end.
    const searched = new TextDecoder('utf-8', { ignoreBOM: true }).decode(
      bytes.subarray(start, start + SEARCHED_BYTES),
      {
        stream: true,
      },
    )
    if (searched.length < FEWEST_SEARCHED_CHARACTERS) return undefined
    const first = Math.max(from, expected - WINDOW)
    const window = text.slice(first, expected + WINDOW)
    const found = window.indexOf(searched)
    return found >= 0 && found === window.lastIndexOf(searched) ? first + found : undefined
  }
}

/** Returns token index → offset of the added tokens that the text contains as often as the ids. */
function addedPlaces(
  ids: readonly number[],
  contents: ReadonlyMap<number, string>,
  text: string,
): ReadonlyMap<number, number> {
  const indexes = new Map<number, number[]>()
  for (const [index, id] of ids.entries())
    if (contents.has(id)) {
      const known = indexes.get(id)
      if (known) known.push(index)
      else indexes.set(id, [index])
    }
  const places = new Map<number, number>()
  for (const [id, tokens] of indexes) {
    const content = contents.get(id) as string
    const offsets: number[] = []
    for (let at = text.indexOf(content); at >= 0; at = text.indexOf(content, at + content.length)) offsets.push(at)
    if (offsets.length === tokens.length)
      for (const [n, token] of tokens.entries()) places.set(token, offsets[n] as number)
  }
  return places
}
