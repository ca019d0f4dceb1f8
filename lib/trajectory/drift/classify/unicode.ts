/** The same text to a reader, as other bytes. */
import { bytesIn, type DriftPart, type DriftPosition, type DriftVerdict, isEmpty } from './place.ts'

type Parts = Pick<DriftPosition, 'left' | 'right'>

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const

export function normalisation(place: Parts): DriftVerdict | undefined {
  if (isEmpty(place.left) || isEmpty(place.right)) return undefined
  const [ours, theirs] = wholeCharacters(place).map(({ text }) => text) as [string, string]
  // What is plain ASCII is the same in every form, and so is every character that was not read.
  if (!NOT_ASCII.test(ours + theirs) || (ours + theirs).includes('\ufffd')) return undefined
  const rightIs = FORMS.find((form) => ours.normalize(form) === theirs)
  const leftIs = FORMS.find((form) => theirs.normalize(form) === ours)
  const form = rightIs ?? leftIs ?? FORMS.find((each) => ours.normalize(each) === theirs.normalize(each))
  if (form === undefined) return undefined
  const where = rightIs
    ? 'The right is the left’s text in'
    : leftIs
      ? 'The left is the right’s text in'
      : 'The two are equal under'
  return {
    kind: 'normalisation',
    detail: form,
    cause: `${where} ${form}: a normaliser (the tokenizer’s, or a library’s on the way) rewrote the characters.`,
  }
}

const NOT_ASCII = /[\u0080-\uffff]/

const REPLACED = /\ufffd+/g

export function partialUtf8(place: Parts): DriftVerdict | undefined {
  if (![place.left, place.right].some((part) => part.text().includes('\ufffd'))) return undefined
  const parts = wholeCharacters(place)
  const [left, right] = parts.map(({ text }) => text) as [string, string]
  if (!left.includes('\ufffd') || left.replace(REPLACED, '\ufffd') !== right.replace(REPLACED, '\ufffd'))
    return undefined
  const [ours, theirs] = parts.map(({ isValid }) => isValid())
  return {
    kind: 'partial-utf8',
    cause:
      ours === theirs
        ? 'Bytes that are no character were decoded to U+FFFD, in another number on each side.'
        : `The ${ours ? 'right' : 'left'} holds bytes that are no character (a character cut by a limit, or sampled in part); decoding made U+FFFD of them.`,
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

interface Characters {
  readonly text: string
  readonly isValid: () => boolean
}

/** A character that begins in the tokens before or ends in those behind, which are equal, belongs to both parts. */
function wholeCharacters({ left, right }: Parts): readonly Characters[] {
  const before = Math.max(missingBefore(left), missingBefore(right))
  const after = Math.max(missingAfter(left), missingAfter(right))
  return [left, right].map(({ side, span }) => {
    const bytes = bytesIn(side, {
      start: Math.max(0, span.start - before),
      end: Math.min(side.ids.length, span.end + after),
    })
    return { text: lenient.decode(bytes), isValid: () => isUtf8(bytes) }
  })
}

/** A character has at most four bytes. */
const MOST = 3

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const firstByte = ({ side }: DriftPart, token: number): number | undefined =>
  token < side.ids.length ? side.bytesAt(token)?.[0] : undefined

/** Tokens before the part over which its first character reaches. */
function missingBefore(part: DriftPart): number {
  let count = 0
  while (count < MOST && count <= part.span.start && isContinuation(firstByte(part, part.span.start - count))) count++
  return count
}

function missingAfter(part: DriftPart): number {
  let count = 0
  while (count < MOST && isContinuation(firstByte(part, part.span.end + count))) count++
  return count
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}
