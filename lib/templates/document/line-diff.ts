/** Finds the lines in which two texts differ. */
import { diffArrays } from 'diff'
import { elementAt } from '#lib/util/element-at.ts'

/** A line of either text. */
export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  /** Line number from 1; undefined if the text does not have the line. `right` is the same for the right text. */
  readonly left: number | undefined
  readonly right: number | undefined
}

/** A part of a changed line: its counterpart has it too, or lacks it. */
interface LinePart {
  readonly text: string
  readonly isChanged: boolean
}

/** A line of a diff. `parts` is undefined if the whole line differs, and if it is the same on both sides. */
export interface MarkedLine extends DiffLine {
  readonly parts: readonly LinePart[] | undefined
}

/** Most edits of a diff of two texts, in lines. */
const MOST_LINES = 1_000
/** Most edits of a diff of two lines, in words. */
const MOST_WORDS = 300

/** Returns the shortest edit from one text to the other. Texts with little in common become one removal and one addition. */
export function lineDiff(left: string, right: string): readonly DiffLine[] {
  const a = left.split('\n')
  const b = right.split('\n')
  return sequenceDiff(a, b, MOST_LINES).map(({ kind, left: x, right: y }): DiffLine => {
    const text = (x === undefined ? b[y as number] : a[x]) as string
    return { kind, text, left: x === undefined ? undefined : x + 1, right: y === undefined ? undefined : y + 1 }
  })
}

/**
 * Returns the lines with their changed words. In a run of differing lines, each removed line is compared with the next added line that has
 * most of its words.
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

/** Most added lines with which a removed line is compared. */
const MOST_CANDIDATES = 20

/** Returns words, and every other character by itself, because templates often differ in spaces. */
const wordsOf = (line: string): readonly string[] => line.match(/[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu) ?? []

/** Whether two lines share at least half of the letters of the shorter one. The marks of less similar lines would be a patchwork. */
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
      else parts.push({ text: elementAt(words, index), isChanged })
    }
    return parts
  }
  return [side(a, 'left'), side(b, 'right')]
}

interface SequenceEdit {
  readonly kind: DiffLine['kind']
  /** Index from 0; undefined if the sequence does not have the entry. `right` is the same for the right sequence. */
  readonly left: number | undefined
  readonly right: number | undefined
}

/**
 * Returns the shortest edit script with each entry once. Sequences that need more than `most` edits differ completely between their common
 * start and end.
 */
function sequenceDiff(a: readonly string[], b: readonly string[], most: number): readonly SequenceEdit[] {
  const changes = diffArrays([...a], [...b], { maxEditLength: most }) ?? wholeChange(a, b)
  let left = 0
  let right = 0
  return changes.flatMap(({ count, added, removed }) =>
    Array.from({ length: count }, (): SequenceEdit => {
      if (added) return { kind: 'added', left: undefined, right: right++ }
      return removed
        ? { kind: 'removed', left: left++, right: undefined }
        : { kind: 'same', left: left++, right: right++ }
    }),
  )
}

type Change = Pick<ReturnType<typeof diffArrays>[number], 'count' | 'added' | 'removed'>

function wholeChange(a: readonly string[], b: readonly string[]): readonly Change[] {
  const shortest = Math.min(a.length, b.length)
  let head = 0
  while (head < shortest && a[head] === b[head]) head++
  let tail = 0
  while (tail < shortest - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  return [
    { count: head, added: false, removed: false },
    { count: a.length - head - tail, added: false, removed: true },
    { count: b.length - head - tail, added: true, removed: false },
    { count: tail, added: false, removed: false },
  ]
}

/** Replaces runs of equal lines that are farther than the margin from any change by gaps with their length. */
export function withGaps<Line extends DiffLine>(
  lines: readonly Line[],
  margin: number,
): readonly (Line | { readonly kind: 'gap'; readonly count: number })[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - margin), i + margin + 1).some(({ kind }) => kind !== 'same'),
  )
  const diffLines: (Line | { readonly kind: 'gap'; readonly count: number })[] = []
  for (let i = 0; i < lines.length; ) {
    if (isNear[i]) {
      diffLines.push(elementAt(lines, i++))
      continue
    }
    const start = i
    while (i < lines.length && !isNear[i]) i++
    diffLines.push({ kind: 'gap', count: i - start })
  }
  return diffLines
}
