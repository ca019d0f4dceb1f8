/** The lines in which two texts differ. */

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
  /** Line numbers from 1, in the texts that have it. */
  readonly left: number | undefined
  readonly right: number | undefined
}

/**
 * The shortest way from one to the other (Myers 1986, greedy), each line once. Time grows with the length times the
 * number of differing lines: texts that have little in common are told as one removed and one added.
 */
export function lineDiff(left: string, right: string): readonly DiffLine[] {
  const a = left.split('\n')
  const b = right.split('\n')
  const trail = shortestEdit(a, b)
  if (!trail) return [...removed(a), ...added(b)]
  const lines: DiffLine[] = []
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
      lines.push({ kind: 'same', text: a[x] as string, left: x + 1, right: y + 1 })
    }
    if (d === 0) break
    if (x === startX) lines.push({ kind: 'added', text: b[y - 1] as string, left: undefined, right: y })
    else lines.push({ kind: 'removed', text: a[x - 1] as string, left: x, right: undefined })
    x = startX
    y = startY
  }
  return lines.reverse()
}

/** Runs of equal lines longer than twice the margin become gaps, told by their length. */
export function withGaps(
  lines: readonly DiffLine[],
  margin: number,
): readonly (DiffLine | { readonly kind: 'gap'; readonly count: number })[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - margin), i + margin + 1).some(({ kind }) => kind !== 'same'),
  )
  const shown: (DiffLine | { readonly kind: 'gap'; readonly count: number })[] = []
  for (let i = 0; i < lines.length; ) {
    if (isNear[i]) {
      shown.push(lines[i++] as DiffLine)
      continue
    }
    const start = i
    while (i < lines.length && !isNear[i]) i++
    shown.push({ kind: 'gap', count: i - start })
  }
  return shown
}

const MOST_DIFFERENCES = 1_000

/** For each number of differences, how far each diagonal had come before it; undefined beyond the limit. */
function shortestEdit(a: readonly string[], b: readonly string[]): readonly ReadonlyMap<number, number>[] | undefined {
  const trail: Map<number, number>[] = []
  let reach = new Map<number, number>([[1, 0]])
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_DIFFERENCES); d++) {
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

/** Whether the furthest way to a diagonal comes from the one above it: by an added line. */
const isDown = (reach: ReadonlyMap<number, number>, k: number, d: number): boolean =>
  k === -d || (k !== d && at(reach, k - 1) < at(reach, k + 1))

const removed = (lines: readonly string[]): DiffLine[] =>
  lines.map((text, i) => ({ kind: 'removed', text, left: i + 1, right: undefined }))

const added = (lines: readonly string[]): DiffLine[] =>
  lines.map((text, i) => ({ kind: 'added', text, left: undefined, right: i + 1 }))
