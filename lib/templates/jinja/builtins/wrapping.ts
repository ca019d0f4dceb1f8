/** Implements textwrap.wrap for one line, as the filter wordwrap calls it: tabs and spaces remain unchanged. */
import { hasSurrogates, isAllSpace } from '../python/text/code-points.ts'
import { PyError, type Runtime } from '../python/values.ts'

/** Options of textwrap.wrap; the width is in code points. */
export interface Wrapping {
  readonly width: number
  readonly breakLongWords: boolean
  readonly breakOnHyphens: boolean
}

/** ASCII space: textwrap treats nothing else as space. */
const SPACE = '[\\t\\n\\x0b\\x0c\\r ]'
const NO_SPACE = '[^\\t\\n\\x0b\\x0c\\r ]'
const WORD = '[\\p{L}\\p{N}_]'
const PUNCTUATED = '[\\p{L}\\p{N}_!"\'&.,?]'
const LETTER = '(?:(?!\\p{Nd})[\\p{L}\\p{N}_])'
/** Parts of words, cut after a hyphen or before a dash. */
const WORD_PARTS = new RegExp(
  `(${SPACE}+|(?<=${PUNCTUATED})-{2,}(?=${WORD})|${NO_SPACE}+?(?:-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=${SPACE}|$)|(?<=${PUNCTUATED})(?=-{2,}${WORD})))`,
  'u',
)
const SPACED_PARTS = new RegExp(`(${SPACE}+)`)

/** Returns the lines of a wrapped text. Throws PyError (ValueError) if the width is not positive. */
export function wrapText(
  text: string,
  { width, breakLongWords, breakOnHyphens }: Wrapping,
  runtime: Runtime,
): string[] {
  if (width <= 0) throw new PyError('ValueError', `invalid width ${width} (must be > 0)`)
  runtime.step(1 + text.length / 8)
  if (breakOnHyphens) runtime.step(dashes(text) ** 2 / 512)
  const astral = hasSurrogates(text)
  const chunks = text
    .split(breakOnHyphens ? WORD_PARTS : SPACED_PARTS)
    .filter((chunk) => chunk)
    .map((chunk): Chunk => (astral ? [...chunk] : chunk))
  chunks.reverse()
  const lines: string[] = []
  while (chunks.length > 0) {
    runtime.step()
    const line: string[] = []
    let taken = 0
    if (lines.length > 0 && isAllSpace(textOf(chunks.at(-1)))) chunks.pop()
    for (let chunk = chunks.at(-1); chunk !== undefined; chunk = chunks.at(-1)) {
      if (taken + chunk.length > width) break
      line.push(textOf(chunk))
      chunks.pop()
      taken += chunk.length
    }
    const long = chunks.at(-1)
    if (long !== undefined && long.length > width) {
      if (breakLongWords) {
        const end = breakAt(long, width - taken, breakOnHyphens)
        line.push(textOf(long.slice(0, end)))
        chunks[chunks.length - 1] = long.slice(end)
      } else if (line.length === 0) {
        line.push(textOf(long))
        chunks.pop()
      }
    }
    if (isAllSpace(line.at(-1) ?? '')) line.pop()
    if (line.length > 0) lines.push(line.join(''))
  }
  return lines
}

/** Part of a text by code points; a string if each of them is one UTF-16 unit. */
type Chunk = string | readonly string[]

const textOf = (chunk: Chunk | undefined): string => (typeof chunk === 'string' ? chunk : (chunk?.join('') ?? ''))

/** Returns the length of the longest run of 64 or more hyphens, else 0: the pattern reads from each hyphen to the end of the run. */
const dashes = (text: string): number => Math.max(0, ...Array.from(text.matchAll(/-{64,}/g), ([run]) => run.length))

/** Returns how many characters of a word that is too long for any line are put on this line. */
function breakAt(word: Chunk, space: number, onHyphens: boolean): number {
  if (!onHyphens || word.length <= space) return space
  const part = word.slice(0, space)
  const hyphen = part.lastIndexOf('-')
  return hyphen > 0 && /[^-]/.test(textOf(part.slice(0, hyphen))) ? hyphen + 1 : space
}
