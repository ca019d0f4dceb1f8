import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, tokenCount, toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { runs } from '#testing/property-runs.ts'
import { call, drawMask, empty, endedOutcome, runScripted, type Script, user } from '#testing/scripted-rollout.ts'
import { requireContinuable } from './call-ending.ts'
import type { RunLimits } from './limits.ts'

const one = call('calculator', { expression: '1' })
const run = (scripts: readonly Script[], limits: RunLimits, on?: Trajectory) =>
  runScripted({ scripts, settings: { limits }, messages: [user('q')], ...(on && { on }) })

/** Builds replies from their numbers of calls; the last reply has none. */
const replies = (counts: readonly number[]): string[] => [...counts.map((n) => one.repeat(n)), 'done']

/**
 * Models the loop limiter of strands-sglang 0.6.2, hook by hook. Returns how many replies are read before which limit ends
 * the run.
 */
function limiter(counts: readonly number[], limits: RunLimits): { readonly calls: number; readonly reason: string } {
  const reached = (count: number, limit: number | undefined) => limit !== undefined && count >= limit
  let [messages, iterations, made] = [1, 0, 0]
  if (reached(messages, limits.maxMessages)) return { calls: 0, reason: 'max_messages' }
  for (const [index, count] of counts.entries()) {
    iterations++
    made += count
    messages += 2
    if (reached(iterations, limits.maxToolIterations)) return { calls: index + 1, reason: 'max_tool_iterations' }
    if (reached(made, limits.maxToolCalls)) return { calls: index + 1, reason: 'max_tool_calls' }
    if (reached(messages, limits.maxMessages)) return { calls: index + 1, reason: 'max_messages' }
  }
  return { calls: counts.length + 1, reason: 'end_turn' }
}

const limit = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined })

test('limits of iterations, calls and messages end a run where strands-sglang ends it, also in a second run on the same tokens', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
      fc.record({ maxToolIterations: limit, maxToolCalls: limit, maxMessages: limit }),
      async (counts, drawn) => {
        const limits = Object.fromEntries(
          Object.entries(drawn).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        )
        const expected = limiter(counts, limits)
        const first = await run(replies(counts), limits)
        expect({ calls: first.requests.length, reason: reasonOf(first.trajectory) }).toEqual(expected)
        const second = await run(replies(counts), limits, first.trajectory)
        expect({ calls: second.requests.length, reason: reasonOf(second.trajectory) }).toEqual(expected)
      },
    ),
    { numRuns: runs(60) },
  )
})

const reasonOf = ({ outcome }: Trajectory) => (outcome.kind === 'ended' ? outcome.reason : outcome.kind)

describe('a limit at its boundary', () => {
  test.each<[RunLimits, readonly number[], number, string]>([
    [{ maxToolIterations: 2 }, [1], 2, 'end_turn'],
    [{ maxToolIterations: 2 }, [1, 1], 2, 'max_tool_iterations'],
    [{ maxToolIterations: 0 }, [1], 1, 'max_tool_iterations'],
    [{ maxToolIterations: 0 }, [], 1, 'end_turn'],
    [{ maxToolCalls: 3 }, [2], 2, 'end_turn'],
    [{ maxToolCalls: 3 }, [2, 1], 2, 'max_tool_calls'],
    // Calls of one response are not cut at the limit: all of them run before the limit is checked.
    [{ maxToolCalls: 3 }, [2, 2], 2, 'max_tool_calls'],
    [{ maxToolCalls: 0 }, [1], 1, 'max_tool_calls'],
    [{ maxMessages: 4 }, [1], 2, 'end_turn'],
    [{ maxMessages: 3 }, [1], 1, 'max_messages'],
    [{ maxMessages: 2 }, [], 1, 'end_turn'],
    [{ maxMessages: 1 }, [], 0, 'max_messages'],
    // The checks have the order of strands-sglang.
    [{ maxToolIterations: 1, maxToolCalls: 1, maxMessages: 3 }, [1], 1, 'max_tool_iterations'],
    [{ maxToolCalls: 1, maxMessages: 3 }, [1], 1, 'max_tool_calls'],
  ])('%j ends a run after replies with %j calls', async (limits, counts, calls, reason) => {
    const { trajectory, requests } = await run(replies(counts), limits)
    expect([requests.length, reasonOf(trajectory)]).toEqual([calls, reason])
    for (const made of toolCallsOf(trajectory)) expect(made.result?.text).toBe('1')
  })

  test('counts a malformed call as one', async () => {
    const { trajectory, requests } = await run(['<tool_call>{</tool_call>', 'done'], { maxToolCalls: 1 })
    expect([requests.length, reasonOf(trajectory)]).toEqual([1, 'max_tool_calls'])
  })

  test('gives back a question that may not be sent', async () => {
    const { trajectory } = await run([], { maxMessages: 1 })
    expect(trajectory.outcome).toEqual({ ...endedOutcome('max_messages'), unsent: [user('q')] })
  })

  test('tool results that a limit left unread are read by the next run, without counting there', async () => {
    const { trajectory } = await run(replies([1]), { maxToolIterations: 1 })
    const next = await run(replies([1]), { maxToolIterations: 2 }, trajectory)
    expect([next.requests.length, reasonOf(next.trajectory)]).toEqual([2, 'end_turn'])
    expect(drawMask(next.trajectory)).toContain('(tool 1 user q)')
  })
})

describe('the limit of parallel calls', () => {
  test.each([
    [1, 3, 1],
    [2, 3, 2],
    [3, 3, 3],
    [4, 3, 3],
  ])('at most %d of %d: %d are executed, in the order of the text', async (maxParallelToolCalls, made, executed) => {
    const { trajectory, events } = await run([one.repeat(made), 'done'], { maxParallelToolCalls })
    const calls = toolCallsOf(trajectory)
    expect(calls.map(({ result }) => result?.status)).toEqual(
      calls.map((_, index) => (index < executed ? 'success' : 'error')),
    )
    expect(events.filter(({ type }) => type === 'tool-started')).toHaveLength(executed)
    expect(reasonOf(trajectory)).toBe('end_turn')
  })

  test('applies to every response and every run separately', async () => {
    const limits = { maxParallelToolCalls: 1 }
    const { trajectory } = await run([one, one.repeat(2), 'done'], limits)
    const again = await run([one.repeat(2), 'done'], limits, trajectory)
    expect(toolCallsOf(again.trajectory).map(({ result }) => result?.status)).toEqual([
      'success',
      'success',
      'error',
      'success',
      'error',
    ])
  })
})

describe('the limit of tokens', () => {
  const long: Script = async function* ({ sampling }) {
    const n = sampling.max_new_tokens ?? 0
    yield {
      tokens: { ids: Array.from({ length: n }, () => 65) },
      problems: [],
      end: { finish: { kind: 'length' }, usage: {} },
    }
  }

  test('counts the whole trajectory: a second run has what the first one left', async () => {
    const { trajectory } = await run(['hello'], {})
    const used = tokenCount(trajectory)
    const question = tokenCount((await run(['hello'], {}, trajectory)).trajectory) - used - ('hello'.length + 1)
    const room = (rest: number) => run([long], { maxTokens: used + question + rest }, trajectory)
    const some = await room(7)
    expect([reasonOf(some.trajectory), ids(some.trajectory).length - used - question]).toEqual(['max_tokens', 7])
    const last = await room(1)
    expect([reasonOf(last.trajectory), last.requests.length]).toEqual(['max_tokens', 1])
    const none = await room(0)
    expect([reasonOf(none.trajectory), none.requests.length, tokenCount(none.trajectory)]).toEqual([
      'max_tokens',
      0,
      used,
    ])
    expect(none.trajectory.outcome).toMatchObject({ context: { needed: used + question + 1000 } })
    expect(none.trajectory.outcome).toHaveProperty('unsent', [user('q')])
  })
})

describe('the context limit', () => {
  /** Returns the `max_new_tokens` that `stream()` of strands-sglang 0.6.2 sends; undefined if it raises before it sends. */
  const sentMaxNewTokens = (asked: number, idCount: number, limit: number | undefined): number | undefined => {
    if (limit === undefined) return asked
    const room = limit - idCount
    return room <= 0 ? undefined : Math.min(asked, room)
  }

  test('lowers max_new_tokens to the room in the context window, and a full one is not sent, as by strands-sglang', async () => {
    const idCount = tokenCount({
      ...empty,
      segments: (await run(['x'], {})).trajectory.segments.slice(0, 1),
    })
    const around = fc.option(fc.integer({ min: 1, max: 2 * idCount }), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(
        around,
        around,
        fc.integer({ min: 1, max: 2 * idCount }),
        async (contextWindow, contextLength, asked) => {
          const { requests, trajectory } = await runScripted({
            scripts: ['x'],
            on: { ...empty, model: { ...empty.model, ...(contextLength !== undefined && { contextLength }) } },
            messages: [user('q')],
            settings: {
              sampling: { max_new_tokens: asked },
              limits: contextWindow === undefined ? {} : { contextWindow },
            },
          })
          const holds = contextWindow ?? contextLength
          const expected = sentMaxNewTokens(asked, idCount, holds)
          expect(requests.map(({ sampling }) => sampling.max_new_tokens)).toEqual(
            expected === undefined ? [] : [expected],
          )
          if (expected === undefined)
            expect(trajectory.outcome).toEqual({
              ...endedOutcome('context_full'),
              unsent: [user('q')],
              context: { needed: idCount + asked, holds },
            })
        },
      ),
      { numRuns: runs(60) },
    )
  })

  test('ends a response as context_full if its prompt was read as more tokens than were sent, as images are, and fills the context', async () => {
    const cut: Script = async function* () {
      const usage = { promptTokens: 4094, completionTokens: 2 }
      yield { tokens: { ids: [65, 65] }, problems: [], end: { finish: { kind: 'length' }, usage } }
    }
    const { trajectory } = await run([cut], {}, { ...empty, model: { ...empty.model, contextLength: 4096 } })
    expect(trajectory.outcome).toEqual({ ...endedOutcome('context_full'), context: { holds: 4096 } })
  })

  test('ends a resumed response as context_full if its last call has filled the context', () => {
    const request = { server: 's', samplingParams: {}, inputLength: 2, inputHash: '', streamed: false }
    const ended = (at: number, ...usages: readonly NonNullable<ResponseSegment['usage']>[]) => {
      const [usage, ...others] = usages
      const resumed = others.map((usage) => ({ at, request, usage }))
      const response: ResponseSegment = {
        ...{ kind: 'response', ids: [65, 65], thinks: [], toolCalls: [], finish: { kind: 'length' } },
        ...(usage && { usage }),
        resumed,
      }
      return () => requireContinuable(response, { tokens: 9, reason: 'length', holds: 4096 })
    }
    const [few, full] = [
      { promptTokens: 9, completionTokens: 1 },
      { promptTokens: 4095, completionTokens: 1 },
    ]
    expect(ended(1, few, full)).toThrow(
      expect.objectContaining({ outcome: expect.objectContaining({ reason: 'context_full' }) }),
    )
    expect(ended(1, few, few)).toThrow(
      expect.objectContaining({ outcome: expect.objectContaining({ reason: 'length' }) }),
    )
  })

  test('ends a response that fills the context window as context_full, with that window', async () => {
    const long: Script = async function* ({ sampling }) {
      const n = sampling.max_new_tokens ?? 0
      yield {
        tokens: { ids: Array.from({ length: n }, () => 65) },
        problems: [],
        end: { finish: { kind: 'length' }, usage: {} },
      }
    }
    const { trajectory } = await run(
      [long],
      { contextWindow: 80 },
      { ...empty, model: { ...empty.model, contextLength: 4096 } },
    )
    expect([trajectory.outcome, tokenCount(trajectory)]).toEqual([
      { ...endedOutcome('context_full'), context: { holds: 80 } },
      80,
    ])
  })
})

test('a minimum of tokens is never above the available room', async () => {
  const { requests } = await runScripted({
    scripts: ['done'],
    settings: { sampling: { max_new_tokens: 500, min_new_tokens: 400 }, limits: { maxTokens: 200 } },
    messages: [user('q')],
  })
  const { min_new_tokens: least = 0, max_new_tokens: most } = requests[0]?.sampling ?? {}
  expect(most).toBeLessThan(200)
  expect(least).toBe(most)
})
