/** Tests runs on a mixture of experts: which routed experts are requested, and how the slices of a server are recorded. */
import { describe, expect, test } from 'vitest'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { int32Base64, joinedExperts, unpackExperts } from '#lib/trajectory/experts/routed-experts.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { bytes, call, runScripted, type Script, says, stop, user } from '#testing/scripted-rollout.ts'

const PER_TOKEN = 4

/** The entries of a token: four experts that depend on its position. */
const entriesAt = (token: number): readonly number[] => [token % 8, (token + 3) % 8, token % 7, (token + 1) % 7]

/** Answers with a text, and with the experts of the tokens from the requested one on. */
const routed = (text: string, rowsOf = (rows: number) => rows, isCut = false): Script =>
  async function* ({ routedExpertsStart: start = 0, inputIds }: GenerateRequest) {
    const written = bytes(text).length + (isCut ? 0 : 1)
    const rows = rowsOf(inputIds.length + written - 1 - start)
    const entries = Array.from({ length: rows }, (_, row) => entriesAt(start + row)).flat()
    const end = isCut ? { finish: { kind: 'length' as const }, usage: { completionTokens: written } } : stop(written)
    yield* says(text, { ...end, routedExperts: int32Base64(Int32Array.from(entries)) })
  }

const ON = { settings: { routedExperts: true } } as const
const responses = ({ segments }: Trajectory) =>
  segments.flatMap((segment): ResponseSegment[] => (segment.kind === 'response' ? [segment] : []))

describe('A run on a mixture of experts', () => {
  const tool = call('calculator', { expression: '1 + 1' })

  test('requests the experts of each token once, and records them for all tokens but the last', async () => {
    const { trajectory, requests } = await runScripted({ scripts: [routed(tool), routed('2')], ...ON })
    const [first, second] = responses(trajectory)
    const before = tokenCount({ segments: trajectory.segments.slice(0, 2) })
    expect(requests.map(({ routedExpertsStart }) => routedExpertsStart)).toEqual([0, before - 1])
    expect(second?.request).toMatchObject({ routedExpertsStart: before - 1 })
    expect(first?.routedExperts).toMatchObject({ start: 0, perToken: PER_TOKEN, bytes: 1 })
    const rows = joinedExperts(trajectory)
    const tokens = tokenCount(trajectory)
    expect(Array.from(rows?.entries ?? [])).toEqual(Array.from({ length: tokens - 1 }, (_, at) => entriesAt(at)).flat())
  })

  test('requests none unless they are wanted', async () => {
    const { trajectory, requests } = await runScripted({ scripts: ['done'] })
    expect(requests[0]).not.toHaveProperty('routedExpertsStart')
    expect(responses(trajectory)[0]).not.toHaveProperty('routedExperts')
  })

  test.each([
    ['too few', (rows: number) => rows - 1],
    ['from the first token, although a later one was requested', (rows: number) => rows + 20],
  ])('keeps none of a later turn with %s, and says how many came', async (_, rowsOf) => {
    const { trajectory } = await runScripted({ scripts: [routed(tool), routed('2', rowsOf)], ...ON })
    const [first, second] = responses(trajectory)
    expect(first?.problems ?? []).toEqual([])
    expect(second?.routedExperts).toBeUndefined()
    expect(second?.problems).toMatchObject([
      {
        kind: 'count',
        message: expect.stringMatching(/^The server returned \d+ routed experts \(4 for each token before\)/),
      },
    ])
  })

  test('says that a server which ignores the request returned none, but not of an aborted reply', async () => {
    const { trajectory } = await runScripted({ scripts: ['done'], ...ON })
    expect(responses(trajectory)[0]?.problems).toMatchObject([
      { kind: 'missing', message: 'The server returned no routed experts.' },
    ])
    const aborted: Script = () => says('cut', { finish: { kind: 'abort' }, usage: {} })
    expect(responses((await runScripted({ scripts: [aborted], ...ON })).trajectory)[0]?.problems).toBeUndefined()
  })

  test('joins the experts of a response that is resumed', async () => {
    const first = await runScripted({ scripts: [routed('abc', undefined, true)], ...ON })
    const [stopped] = responses(first.trajectory)
    expect(stopped?.routedExperts?.start).toBe(0)
    const resumed = await runScripted({
      scripts: [routed('de')],
      on: first.trajectory,
      resumes: true,
      ...ON,
    })
    const [whole] = responses(resumed.trajectory)
    const rows = whole?.routedExperts && unpackExperts(whole.routedExperts)
    expect(rows?.start).toBe(0)
    expect(rows?.entries.length).toBe((tokenCount(resumed.trajectory) - 1) * PER_TOKEN)
  })

  test('requests the tokens of an earlier turn without experts with the next one', async () => {
    const first = await runScripted({ scripts: ['done'] })
    const { trajectory, requests } = await runScripted({
      scripts: [routed('more')],
      on: first.trajectory,
      messages: [user('and?')],
      ...ON,
    })
    expect(requests[0]?.routedExpertsStart).toBe(0)
    expect(joinedExperts(trajectory)?.entries.length).toBe((tokenCount(trajectory) - 1) * PER_TOKEN)
  })
})
