/**
 * Compares two sides of 200,000 tokens, with everything that the page shows of them, and jsdiff on the same pair; then pairs
 * that are made to be slow.
 *
 * jsdiff gets the ids or the text, and finds no kinds, bytes or token boundaries. Its runs alternate with ours in this
 * process, so that only the machine's noise differs. jsdiff's own `timeout` ends a run that takes too long, which is
 * reported. Ratios are medians.
 */
import { diffArrays, diffChars, diffLines, diffWordsWithSpace } from 'diff'
import { alignTokens, driftOf } from '#lib/trajectory/drift/align.ts'
import { compareTrajectories } from '#lib/trajectory/drift/compare.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { type EditedPair, editedPair } from '../support/edited-trajectory.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const TOKENS = 200_000
const ROUNDS = 7
const LIMIT_MS = 300
/** The largest share of jsdiff's time, on edits of every size. */
const SHARE = 1 / 4
const HOSTILE_LIMIT_MS = 1500
const TIME_LIMIT_MS = 20_000

for (const edits of ['mixed', 'small'] as const) beside(edits, editedPair(edits, { tokens: TOKENS, seed: 1 }))
hostile()

function beside(edits: string, { left, right, changed }: EditedPair): void {
  const compare = () => compareTrajectories(left, right)
  const cold = timeMs(compare)
  const { alignedRuns } = compare()
  const drift = driftOf(alignedRuns)
  const [ours, theirs] = [ids(left), ids(right)]
  const [text, other] = [textOf(ours, left.vocab), textOf(theirs, right.vocab)]
  const options = { timeout: TIME_LIMIT_MS }
  const ways: Readonly<Record<string, () => unknown>> = {
    'diffLines (whole lines)': () => diffLines(text, other, options),
    'diffArrays (ids)': () => diffArrays(ours, theirs, options),
    diffWordsWithSpace: () => diffWordsWithSpace(text, other, options),
    diffChars: () => diffChars(text, other, options),
  }
  reportFigure(`${edits} edits, 500: drifts found`, drift.length, '')
  reportFigure(
    `${edits} edits: tokens in them, of ${changed.toLocaleString('en')} that were edited`,
    sum(drift.map(({ left, right }) => left.end - left.start + right.end - right.start)),
    '',
  )
  reportFigure(`${edits} edits: compared, the first time`, cold, 'ms', LIMIT_MS)
  const times: number[] = []
  const others = Object.entries(ways).map(([name, run]) => {
    const taken: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      times.push(timeMs(compare))
      const start = performance.now()
      if (run() === undefined) return { name, ms: undefined }
      taken.push(performance.now() - start)
    }
    return { name, ms: percentile(taken, 0.5) }
  })
  const own = percentile(times, 0.5)
  reportFigure(`${edits} edits: compared`, own, 'ms', LIMIT_MS)
  for (const { name, ms } of others) {
    if (ms === undefined) console.log(`${edits} edits: jsdiff, ${name}: given up after ${TIME_LIMIT_MS / 1000} s`)
    else {
      reportFigure(`${edits} edits: jsdiff, ${name}`, ms, 'ms')
      reportFigure(
        `${edits} edits: our share of the time of ${name}`,
        own / ms,
        '×',
        edits === 'mixed' ? SHARE : undefined,
      )
    }
  }
}

/** Compares pairs that are hard to align: they have no common parts, or far too many. */
function hostile(): void {
  const random = randomNumbers(2)
  const encoder = new TextEncoder()
  const below = (most: number) => Math.floor(random() * most)
  const any = (kinds: number, count = TOKENS) => Array.from({ length: count }, () => below(kinds))
  const letters = ['a', 'b', '\n', ' a', '<|x|>'].map((text) => encoder.encode(text))
  const words = Array.from({ length: 50_000 }, () =>
    encoder.encode(` ${Array.from({ length: 1 + below(7) }, () => String.fromCharCode(97 + below(26))).join('')}`),
  )
  const newline = words.push(encoder.encode('\n')) - 1
  const line = (start: number) => [...Array.from({ length: 12 }, (_, index) => (start + index) % words.length), newline]
  const lines = (starts: number) => Array.from({ length: TOKENS / 13 }, () => line(100 * below(starts))).flat()
  const blocks = Array.from({ length: 200 }, () => any(50_000, TOKENS / 200))
  const alternating = Array.from({ length: TOKENS }, (_, index) => index % 2)
  const pairs: readonly (readonly [
    string,
    readonly number[],
    readonly number[],
    readonly (Uint8Array | undefined)[],
  ])[] = [
    ['one token again and again, other lengths', any(1), any(1, TOKENS / 2), letters],
    [
      'one token again and again, others strewn in',
      any(500).map((id) => Number(id === 0)),
      any(500).map((id) => Number(id === 0)),
      letters,
    ],
    ['two tokens by turns, and twice by turns', alternating, alternating.map((_, index) => (index >> 1) % 2), letters],
    ['the same of unknown texts', alternating, alternating.map((_, index) => (index >> 1) % 2), []],
    ['random, of five tokens', any(5), any(5), letters],
    ['random ids of a hundred, of unknown texts', any(100), any(100), []],
    ['wholly different words', any(50_000), any(50_000), words],
    ['ten lines again and again, in random order', lines(10), lines(10), words],
    ['200 blocks in random order', blocks.flat(), [...blocks].sort(() => random() - 0.5).flat(), words],
  ]
  for (const [name, left, right, table] of pairs)
    reportFigure(
      `hostile: ${name}`,
      percentile(
        Array.from({ length: ROUNDS }, () => timeMs(() => alignTokens(left, right, (id) => table[id]))),
        0.5,
      ),
      'ms',
      HOSTILE_LIMIT_MS,
    )
}

function timeMs(run: () => unknown): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0)
}
