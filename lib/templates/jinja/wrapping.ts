/** textwrap.wrap of one line, as the filter wordwrap calls it: tabs and spaces stay as they are. */
import { codePointLength, codePointSlice, isAllSpace } from './code-points.ts'
import { PyError, type Runtime } from './values.ts'

export interface Wrapping {
  readonly width: number
  readonly breakLongWords: boolean
  readonly breakOnHyphens: boolean
}

/** textwrap's own idea of space: ASCII. */
const SPACE = '[\\t\\n\\x0b\\x0c\\r ]'
const NO_SPACE = '[^\\t\\n\\x0b\\x0c\\r ]'
const WORD = '[\\p{L}\\p{N}_]'
const PUNCTUATED = '[\\p{L}\\p{N}_!"\'&.,?]'
const LETTER = '(?:(?!\\p{Nd})[\\p{L}\\p{N}_])'
/** Words, possibly cut behind a hyphen or before a dash. */
const WORD_PARTS = new RegExp(
  `(${SPACE}+|(?<=${PUNCTUATED})-{2,}(?=${WORD})|${NO_SPACE}+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${PUNCTUATED})(?=-{2,}${WORD})))`,
  'u',
)
const SPACED_PARTS = new RegExp(`(${SPACE}+)`)

export function wrapped(text: string, { width, breakLongWords, breakOnHyphens }: Wrapping, runtime: Runtime): string[] {
  if (width <= 0) throw new PyError('ValueError', `invalid width ${width} (must be > 0)`)
  runtime.step(1 + text.length / 8)
  const chunks = text.split(breakOnHyphens ? WORD_PARTS : SPACED_PARTS).filter((chunk) => chunk)
  chunks.reverse()
  const lines: string[] = []
  while (chunks.length > 0) {
    runtime.step()
    const line: string[] = []
    let taken = 0
    if (lines.length > 0 && isAllSpace(chunks.at(-1) ?? '')) chunks.pop()
    for (let chunk = chunks.at(-1); chunk !== undefined; chunk = chunks.at(-1)) {
      const size = codePointLength(chunk)
      if (taken + size > width) break
      line.push(chunk)
      chunks.pop()
      taken += size
    }
    const long = chunks.at(-1)
    if (long !== undefined && codePointLength(long) > width) {
      if (breakLongWords) {
        const end = breakAt(long, width - taken, breakOnHyphens)
        line.push(codePointSlice(long, 0, end))
        chunks[chunks.length - 1] = codePointSlice(long, end, codePointLength(long))
      } else if (line.length === 0) {
        line.push(long)
        chunks.pop()
      }
    }
    if (isAllSpace(line.at(-1) ?? '')) line.pop()
    if (line.length > 0) lines.push(line.join(''))
  }
  return lines
}

/** How many characters of a word that is too long for any line go on this one. */
function breakAt(word: string, space: number, onHyphens: boolean): number {
  if (!onHyphens || codePointLength(word) <= space) return space
  const part = [...word].slice(0, space)
  const hyphen = part.lastIndexOf('-')
  return hyphen > 0 && part.slice(0, hyphen).some((character) => character !== '-') ? hyphen + 1 : space
}
