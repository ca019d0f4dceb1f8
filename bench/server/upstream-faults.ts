/**
 * Runs every server fault (testing/faults.ts, docs/upstream-faults.md) through the whole agent, streamed and plain, in the
 * first call and in the third, and measures its outcome and duration. In addition to the table, it sends a body of two
 * gigabytes without a length, and events without end. Run it with `node bench/server/upstream-faults.ts`.
 *
 * It fails if an outcome differs from the table, if a run stays open, or if a call takes longer than the table allows for its
 * limits. The limits are short; waits between retries are counted but skipped.
 */

import { DEFAULT_LIMITS } from '#lib/engine/http/transport.ts'
import { casesOf, type FaultCase, faultOutcome, longestMs, responsesOf, runFault } from '#testing/faults.ts'
import { CHUNKED, chunk, type FaultExchange } from '#testing/sglang/fault-server.ts'
import { reportFigure } from '../support/figures.ts'

/** A late call is repeated, and the fastest of so many attempts counts, because other work on the machine varies. */
const TRIES = 3
/** A run that has not ended after this time counts as open. */
const OPEN_MS = 120_000
const GIGABYTE = 1 << 30
const MEGABYTE = 1 << 20
/** The largest memory for a reply of two gigabytes, in the worst of the four runs. */
const MOST_MEMORY_MB = 1_200

const writesUntil =
  (bytes: number, part: (exchange: FaultExchange) => string): NonNullable<FaultCase['fault']> =>
  async (exchange) => {
    const { begin, write, socket } = exchange
    await begin(3, CHUNKED)
    const text = chunk(part(exchange))
    for (let written = 0; written < bytes && !socket.destroyed; written += text.length) await write(text)
  }

/** Faults whose bodies are as large as the limits of the application require. */
const LARGE: readonly FaultCase[] = [
  {
    what: '2 GB that nothing announces',
    outcome: 'TOO_LARGE',
    kept: 'what-came',
    fault: writesUntil(2 * GIGABYTE, () => 'x'.repeat(MEGABYTE)),
    limits: { deadlineMs: 60_000 },
  },
  {
    what: 'events without end, without tokens',
    outcome: 'TOO_LARGE',
    kept: 'what-came',
    onlyStreamed: true,
    fault: writesUntil(2 * GIGABYTE, () => `: ${'x'.repeat(MEGABYTE)}\n\n`),
    limits: { deadlineMs: 60_000 },
  },
]

interface Row {
  readonly number: string
  readonly found: FaultCase
  readonly isStream: boolean
  readonly at: number
}

const rows: readonly Row[] = [true, false].flatMap((isStream) =>
  [1, 3].flatMap((at): Row[] => [
    ...casesOf(isStream).map(({ number, ...found }) => ({ number: String(number), found, isStream, at })),
    ...LARGE.filter(({ onlyStreamed }) => isStream || !onlyStreamed).map((found) => ({
      number: '18',
      found,
      isStream,
      at,
    })),
  ]),
)

const STAYS_OPEN = Symbol()

async function playFault({ found, isStream, at }: Row) {
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), OPEN_MS)
  const left = new Promise<typeof STAYS_OPEN>((resolve) => {
    setTimeout(() => resolve(STAYS_OPEN), OPEN_MS + 10_000).unref()
  })
  try {
    const ended = await Promise.race([runFault(found, isStream, at, { signal: stop.signal }), left])
    return stop.signal.aborted ? STAYS_OPEN : ended
  } finally {
    clearTimeout(timer)
  }
}

let wrong = 0
let late = 0
let open = 0
let slowest = 0
const before = process.memoryUsage().rss
let peak = before
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss)
}, 50)
for (const row of rows) {
  const { number, found, isStream, at } = row
  const name = `${number.padStart(2)}  ${found.what.slice(0, 50).padEnd(52)}${isStream ? 'stream' : 'plain '}  call ${at}  `
  const most = longestMs(found, { ...DEFAULT_LIMITS, ...found.limits })
  const isTimed = found.outcome !== 'end_turn'
  for (let tries = 1; ; tries++) {
    const run = await playFault(row)
    if (run === STAYS_OPEN) {
      open++
      console.log(`${name}STAYS OPEN`)
      break
    }
    const waitedMs = run.waitsMs.reduce((sum, ms) => sum + ms, 0)
    const isLate = isTimed && run.elapsedMs + waitedMs > most
    if (isLate && tries < TRIES) continue
    const outcome = faultOutcome(run.trajectory)
    const isWrong = outcome !== found.outcome || responsesOf(run.trajectory).length < at - 1
    if (isWrong) wrong++
    if (isLate) late++
    if (isTimed) slowest = Math.max(slowest, (run.elapsedMs + waitedMs) / most)
    const waits = waitedMs > 0 ? ` + ${waitedMs.toFixed(0)} ms of waits` : ''
    const verdict = `${isWrong ? `  WRONG: ${found.outcome}` : ''}${isLate ? '  LATE' : ''}`
    console.log(
      `${name}${outcome.padEnd(20)}${run.elapsedMs.toFixed(0).padStart(7)} ms${waits} of ${most.toFixed(0)}${verdict}`,
    )
    break
  }
}
clearInterval(watch)
reportFigure('runs', rows.length, '')
reportFigure('outcomes other than the table’s', wrong, '', 0)
reportFigure('runs that stay open', open, '', 0)
reportFigure('calls that took longer than the table says', late, '', 0)
reportFigure('slowest call, of what it may take', slowest, '×', 1)
reportFigure('memory at its highest, over that at the start', (peak - before) / MEGABYTE, 'MB', MOST_MEMORY_MB)
// The process exits explicitly, because a thread of a port that never answers may still be closing.
process.exit(wrong + open + late > 0 ? 1 : 0)
