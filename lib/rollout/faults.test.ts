/**
 * Tests every server fault through the whole agent, plain and streamed, in the first call and in the third. Each fault ends
 * in its named outcome, leaves earlier records unchanged, is not retried after the first token, and records no token that the
 * server did not send. docs/upstream-faults.md has the same table.
 */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { outcomeText } from '#components/token-view/overview/outcome-text.ts'
import { EngineError, type EngineErrorCode } from '#lib/engine/http/errors.ts'
import { DEFAULT_LIMITS } from '#lib/engine/http/transport.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { logprobs, lossMask, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import {
  casesOf,
  FAULT_ROWS,
  type FaultCase,
  type FaultRun,
  faultOutcome,
  longestMs,
  REPLIES,
  responsesOf,
  runFault,
} from '#testing/faults.ts'
import { user } from '#testing/scripted-rollout.ts'
import { CHUNKED, chunk, type FaultExchange, type SentToken } from '#testing/sglang/fault-server.ts'

/** Tokens of each response, as the server would log them. */
const recorded = (trajectory: Trajectory): SentToken[][] =>
  responsesOf(trajectory).map(({ ids, logprobs: known }) =>
    ids.map((id, index) => ({ id, logprob: known?.[index] ?? Number.NaN })),
  )

const healthy = new Map<boolean, FaultRun>()
beforeAll(async () => {
  for (const isStream of [false, true]) healthy.set(isStream, await runFault(undefined, isStream, 0))
})

const modes = [
  { name: 'plain', isStream: false },
  { name: 'streamed', isStream: true },
] as const

/**
 * Returns whether a case only waits for a limit. Such cases run concurrently, because one after another they take half a
 * minute.
 */
const isWait = ({ limits = {} }: FaultCase): boolean => Object.keys(limits).some((limit) => limit.endsWith('Ms'))

describe.each(modes)('a server fault in $name', ({ isStream }) => {
  test('leaves a healthy run complete', () => {
    const played = healthy.get(isStream) as FaultRun
    expect(faultOutcome(played.trajectory)).toBe('end_turn')
    expect(recorded(played.trajectory)).toEqual(REPLIES)
    expect(played.trajectory.segments.flatMap(({ problems = [] }) => problems)).toEqual([])
  })

  describe.each([1, 3])('in call %d', (at) => {
    const cases = casesOf(isStream).filter((found) => !isWait(found))
    test.each(cases)('$number, $what: $outcome', (found) => endsAsNamed(found, isStream, at))
  })
})

test.concurrent.each(
  modes.flatMap(({ name, isStream }) =>
    [1, 3].flatMap((at) =>
      casesOf(isStream).flatMap((found) => (isWait(found) ? [{ ...found, found, name, isStream, at }] : [])),
    ),
  ),
)('$name in call $at: $number, $what: $outcome', ({ found, isStream, at }) => endsAsNamed(found, isStream, at))

async function endsAsNamed(found: FaultCase, isStream: boolean, at: number): Promise<void> {
  const { trajectory, log, waitsMs } = await runFault(found, isStream, at)
  const tries = found.mayBeTriedAgain ? waitsMs.length + 1 : (found.tries ?? 1)
  const isPartial = (found.kept === 'what-came' && isStream) || found.kept === 'cut'
  const isWhole = found.kept === 'all'
  // A call that stops at its length runs no tools; a call that ends normally continues to the end.
  const responses = isWhole && found.outcome === 'end_turn' ? 3 : at - 1 + (isWhole || isPartial ? 1 : 0)

  expect(faultOutcome(trajectory)).toBe(found.outcome)
  expect(waitsMs).toHaveLength(tries - 1)
  expect(tries).toBeLessThanOrEqual(4)
  expect(waitsMs.every((ms) => ms > 0 && ms <= 30_000)).toBe(true)
  const logged = log.filter((entry) => entry.call === at)
  if (!found.elsewhere && !found.mayBeTriedAgain) expect(logged).toHaveLength(tries + (found.isSentAnew ? 1 : 0))

  const before = healthy.get(isStream)?.trajectory.segments.slice(0, 2 * (at - 1)) ?? []
  expect(trajectory.segments.slice(0, before.length).map(withoutClocks)).toEqual(before.map(withoutClocks))
  expect(responsesOf(trajectory)).toHaveLength(responses)
  const kept = recorded(trajectory)
  for (const [index, tokens] of kept.entries()) {
    const sent = log.findLast((entry) => entry.call === index + 1)?.sent ?? []
    expect(tokens).toEqual(sent.slice(0, tokens.length))
    if (index < at - 1 || isWhole || found.kept === 'cut') expect(tokens).toEqual(sent)
  }
  const last = responsesOf(trajectory).at(-1)
  if (isPartial) {
    expect(last?.ids.length).toBeGreaterThan(0)
    expect(last?.finish).toMatchObject({ kind: 'cut', code: found.outcome })
  }
  expect(lossMask(trajectory)).toEqual(
    trajectory.segments.flatMap(({ kind, ids }) => ids.map(() => (kind === 'response' ? 1 : 0))),
  )
  expect(logprobs(trajectory)).toHaveLength(tokenCount(trajectory))
  if (trajectory.outcome.kind === 'failed') expect(trajectory.outcome.hint).toBe(advice(found.outcome))
  if (trajectory.outcome.kind !== 'running' && at === 1)
    expect(trajectory.outcome.unsent).toEqual(isWhole || isPartial ? undefined : [user('How much?')])
  expect(decodeValue(JSON.parse(JSON.stringify(trajectory))).ok).toBe(true)
}

/** Removes request ids and times, by which two equal runs differ. */
function withoutClocks(segment: Trajectory['segments'][number]): object {
  if (segment.kind === 'prompt') return segment
  const { timing: _, request: __, toolCalls, ...known } = segment
  return { ...known, toolCalls: toolCalls.map(({ result, ...found }) => ({ ...found, text: result?.text })) }
}

test('the rows of the fault table are numbered in order', () => {
  expect(FAULT_ROWS.map(({ number }) => number)).toEqual(Array.from({ length: 28 }, (_, index) => index + 1))
})

test('changed weights are part of the record', async () => {
  const weights = FAULT_ROWS[25]?.cases.find(({ what }) => what.includes('weights'))
  const { trajectory } = await runFault(weights, true, 3)
  expect(responsesOf(trajectory).map(({ weightVersions }) => weightVersions?.[0]?.version)).toEqual(['1', '1', '2'])
})

describe('Stop ends a call at once and closes its connection', () => {
  const COMMENTS = { 'content-type': 'text/event-stream', ...CHUNKED }
  test.each<[string, (exchange: FaultExchange) => Promise<void>]>([
    ['that the server has not answered', async () => {}],
    ['whose stream has sent headers only', ({ head }) => head('200 OK', COMMENTS)],
    [
      'whose stream has sent a comment and no token',
      async ({ head, write }) => {
        await head('200 OK', COMMENTS)
        await write(chunk(': still here\n\n'))
      },
    ],
  ])('%s', async (_, begin) => {
    const stop = new AbortController()
    const closed = Promise.withResolvers<void>()
    const { trajectory } = await runFault(
      {
        what: 'no token',
        outcome: 'cancelled',
        kept: 'nothing',
        fault: async (exchange) => {
          exchange.socket.once('close', () => closed.resolve())
          await begin(exchange)
          stop.abort()
        },
      },
      true,
      1,
      { signal: stop.signal },
    )
    expect(faultOutcome(trajectory)).toBe('cancelled')
    await closed.promise
  })
})

test('an absurd Retry-After is cut to half a minute, and a past or unreadable one is ignored', async () => {
  const waits = async (what: string) => {
    const found = FAULT_ROWS[11]?.cases.find((one) => one.what.endsWith(what))
    return (await runFault(found, true, 1)).waitsMs
  }
  expect(await waits('99999999')).toEqual([30_000, 30_000, 30_000])
  expect(await waits('2020 00:00:00 GMT')).toEqual([500, 1000, 2000])
  expect(await waits('soon')).toEqual([500, 1000, 2000])
  expect(await waits('Retry-After 1')).toEqual([1125, 1125, 1125])
})

test('docs/upstream-faults.md equals the fault table', () => {
  const lines = FAULT_ROWS.flatMap(({ number, what, cases }) => {
    const outcomes = [...new Set(cases.map(({ outcome }) => outcome))]
    const which = (outcome: FaultCase['outcome']) =>
      outcomes.length === 1
        ? what
        : `${what}: ${cases.flatMap((one) => (one.outcome === outcome ? [one.what] : [])).join('; ')}`
    const within = (outcome: FaultCase['outcome']) =>
      Math.max(...cases.flatMap((one) => (one.outcome === outcome ? [longestMs(one, DEFAULT_LIMITS)] : [])))
    return outcomes.map(
      (outcome) =>
        `| ${number} | ${which(outcome)} | ${named(outcome)} | ${outcome === 'end_turn' ? '–' : duration(within(outcome))} | ${advice(outcome)} |`,
    )
  })
  const document = readFileSync('docs/upstream-faults.md', 'utf8')
  expect(document.match(/^\| \d+ \|.*$/gm)).toEqual(lines)
})

/** Formats a duration as the page does: in whole seconds, minutes or hours. */
function duration(ms: number): string {
  if (ms < 120_000) return `${Math.ceil(ms / 1000)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`
}

const named = (outcome: FaultCase['outcome']): string =>
  outcome === 'end_turn' ? 'none: the reply is used' : `\`${outcome}\``

/** Returns the advice of the page. */
function advice(outcome: FaultCase['outcome']): string {
  if (outcome === 'end_turn') return '–'
  if (outcome === outcome.toUpperCase())
    return outcome === 'UNKNOWN_FINISH'
      ? 'The reply is kept, and none of its tool calls was executed. Check the server’s log, then send again.'
      : (new EngineError(outcome as EngineErrorCode, '').hint ?? '')
  const reason = outcome as Extract<Outcome, { kind: 'ended' }>['reason']
  return outcomeText({ outcome: { kind: 'ended', reason }, segments: [] })?.hint ?? ''
}
