/** Text that looks the same to a reader but has different bytes. */
import { bytesIn, type DriftPart, type DriftPosition, type DriftVerdict, isEmpty } from './place.ts'

type Parts = Pick<DriftPosition, 'left' | 'right'>

const FORMS = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const

/** Recognises text in a different Unicode form. */
export function normalisation(place: Parts): DriftVerdict | undefined {
  if (isEmpty(place.left) || isEmpty(place.right)) return undefined
  const [ours, theirs] = wholeCharacters(place).map(({ text }) => text) as [string, string]
  // ASCII is the same in every form, and so are characters that could not be decoded.
  if (!NOT_ASCII.test(ours + theirs) || (ours + theirs).includes('\ufffd')) return undefined
  const rightIs = FORMS.find((form) => ours.normalize(form) === theirs)
  const leftIs = FORMS.find((form) => theirs.normalize(form) === ours)
  const form = rightIs ?? leftIs ?? FORMS.find((each) => ours.normalize(each) === theirs.normalize(each))
  if (form === undefined) return undefined
  const where = rightIs ? 'The right is the left in' : leftIs ? 'The left is the right in' : 'The two are equal under'
  return {
    kind: 'normalisation',
    detail: form,
    cause: `${where} ${form}: a normaliser (of the tokenizer or of a library in between) rewrote the characters.`,
  }
}

const NOT_ASCII = /[\u0080-\uffff]/

const REPLACED = /\ufffd+/g

/** Recognises characters that were decoded from incomplete bytes. */
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
        ? 'Invalid UTF-8 bytes were decoded to U+FFFD, with different counts on the two sides.'
        : `The ${ours ? 'right' : 'left'} contains invalid UTF-8 bytes (a character that a limit cut, or that was sampled in part); decoding turned them into U+FFFD.`,
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

interface Characters {
  readonly text: string
  readonly isValid: () => boolean
}

/** A character that begins or ends in the equal tokens around the parts belongs to both parts. */
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

/** Most bytes missing of a character, which has at most four. */
const MOST = 3

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const firstByte = ({ side }: DriftPart, token: number): number | undefined =>
  token < side.ids.length ? side.bytesAt(token)?.[0] : undefined

/** Returns the number of tokens before the part that its first character extends over. */
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
