/** The lines in which two texts differ. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  /** Line numbers from 1, in the texts that have it. */
  readonly left: number | undefined
  readonly right: number | undefined
}

/** A part of a changed line: what its counterpart has too, or what it lacks. */
interface LinePart {
  readonly text: string
  readonly isChanged: boolean
}

/** A line of a difference. `parts` is undefined where the whole line differs, and where it is the same. */
export interface MarkedLine extends DiffLine {
  readonly parts: readonly LinePart[] | undefined
}

/** Edits of the longest difference of two texts, in lines. */
const MOST_LINES = 1_000
/** Edits of the longest difference of two lines, in words. */
const MOST_WORDS = 300

/** The shortest edit from one text to the other. Texts with little in common become one removal and one addition. */
export function lineDiff(left: string, right: string): readonly DiffLine[] {
  const a = left.split('\n')
  const b = right.split('\n')
  return sequenceDiff(a, b, MOST_LINES).map(({ kind, left: x, right: y }): DiffLine => {
    const text = (x === undefined ? b[y as number] : a[x]) as string
    return { kind, text, left: x === undefined ? undefined : x + 1, right: y === undefined ? undefined : y + 1 }
  })
}

/**
 * The same lines with their changed words. In a run of differing lines, each removed line is compared with the first added
 * line after its predecessor's that has most of its words.
 */
export function withChangedWords(lines: readonly DiffLine[]): readonly MarkedLine[] {
  const parts = new Map<DiffLine, readonly LinePart[]>()
  for (let start = 0; start < lines.length; ) {
    let end = start
    while (end < lines.length && lines[end]?.kind !== 'same') end++
    const run = lines.slice(start, end)
    const added = run.filter(({ kind }) => kind === 'added')
    let next = 0
    for (const line of run.filter(({ kind }) => kind === 'removed')) {
      const words = wordsOf(line.text)
      const found = added.findIndex(
        ({ text }, index) => index >= next && index < next + MOST_CANDIDATES && areAlike(words, wordsOf(text)),
      )
      const counterpart = added[found]
      if (!counterpart) continue
      next = found + 1
      const [removed, inserted] = changedWords(words, wordsOf(counterpart.text))
      parts.set(line, removed)
      parts.set(counterpart, inserted)
    }
    start = end + 1
  }
  return lines.map((line) => ({ ...line, parts: parts.get(line) }))
}

/** Added lines that a removed line is compared with. */
const MOST_CANDIDATES = 20

/** Words, and every other character by itself: blanks are what templates differ in. */
const wordsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu) ?? []

/** Whether two lines share at least half of the letters of the shorter one: otherwise their marks would be a patchwork. */
function areAlike(a: readonly string[], b: readonly string[]): boolean {
  const letters = (words: readonly string[]) => words.reduce((sum, word) => sum + word.trim().length, 0)
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count === 0) continue
    left.set(word, count - 1)
    shared += word.trim().length
  }
  return shared * 2 >= Math.max(1, Math.min(letters(a), letters(b)))
}

function changedWords(a: readonly string[], b: readonly string[]): readonly [readonly LinePart[], readonly LinePart[]] {
  const edits = sequenceDiff(a, b, MOST_WORDS)
  const side = (words: readonly string[], key: 'left' | 'right') => {
    const parts: { text: string; isChanged: boolean }[] = []
    for (const edit of edits) {
      const index = edit[key]
      if (index === undefined) continue
      const isChanged = edit.kind !== 'same'
      const last = parts.at(-1)
      if (last?.isChanged === isChanged) last.text += words[index]
      else parts.push({ text: words[index] as string, isChanged })
    }
    return parts
  }
  return [side(a, 'left'), side(b, 'right')]
}

interface SequenceEdit {
  readonly kind: DiffLine['kind']
  /** Indices from 0, in the sequences that have the entry. */
  readonly left: number | undefined
  readonly right: number | undefined
}

/**
 * The shortest edit script (Myers 1986, greedy), each entry once. Time grows with the length times the number of
 * differences; beyond `most` differences, what lies between the common start and the common end is replaced as a whole.
 */
function sequenceDiff(a: readonly string[], b: readonly string[], most: number): readonly SequenceEdit[] {
  const trail = shortestEdit(a, b, most)
  if (!trail) return wholeEdit(a, b)
  const edits: SequenceEdit[] = []
  let x = a.length
  let y = b.length
  for (let d = trail.length - 1; d >= 0; d--) {
    const reach = trail[d] as ReadonlyMap<number, number>
    const k = x - y
    const from = isDown(reach, k, d) ? k + 1 : k - 1
    const startX = at(reach, from)
    const startY = startX - from
    while (x > startX && y > startY) {
      x--
      y--
      edits.push({ kind: 'same', left: x, right: y })
    }
    if (d === 0) break
    if (x === startX) edits.push({ kind: 'added', left: undefined, right: --y })
    else edits.push({ kind: 'removed', left: --x, right: undefined })
  }
  return edits.reverse()
}

function wholeEdit(a: readonly string[], b: readonly string[]): readonly SequenceEdit[] {
  const shortest = Math.min(a.length, b.length)
  let head = 0
  while (head < shortest && a[head] === b[head]) head++
  let tail = 0
  while (tail < shortest - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (start: number, end: number): SequenceEdit[] =>
    a
      .slice(start, end)
      .map((_, i) => ({ kind: 'same', left: start + i, right: start + i + (start < head ? 0 : b.length - a.length) }))
  return [
    ...same(0, head),
    ...a
      .slice(head, a.length - tail)
      .map((_, i): SequenceEdit => ({ kind: 'removed', left: head + i, right: undefined })),
    ...b
      .slice(head, b.length - tail)
      .map((_, i): SequenceEdit => ({ kind: 'added', left: undefined, right: head + i })),
    ...same(a.length - tail, a.length),
  ]
}

/** Runs of equal lines longer than twice the margin become gaps, told by their length. */
export function withGaps<Line extends DiffLine>(
  lines: readonly Line[],
  margin: number,
): readonly (Line | { readonly kind: 'gap'; readonly count: number })[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - margin), i + margin + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (Line | { readonly kind: 'gap'; readonly count: number })[] = []
  for (let i = 0; i < lines.length; ) {
    if (isNear[i]) {
      shown.push(lines[i++] as Line)
      continue
    }
    const start = i
    while (i < lines.length && !isNear[i]) i++
    shown.push({ kind: 'gap', count: i - start })
  }
  return shown
}

/** For each number of differences, how far each diagonal had come before it; undefined beyond the limit. */
function shortestEdit(
  a: readonly string[],
  b: readonly string[],
  most: number,
): readonly ReadonlyMap<number, number>[] | undefined {
  const trail: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let d = 0; d <= Math.min(a.length + b.length, most); d++) {
    trail.push(reach)
    const next = new Map(reach)
    for (let k = -d; k <= d; k += 2) {
      let x = isDown(reach, k, d) ? at(reach, k + 1) : at(reach, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return trail
    }
    reach = next
  }
  return undefined
}

const at = (reach: ReadonlyMap<number, number>, k: number): number => reach.get(k) ?? -1

/** Whether the furthest way to a diagonal comes from the one above it: by an added entry. */
const isDown = (reach: ReadonlyMap<number, number>, k: number, d: number): boolean =>
  k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1))
