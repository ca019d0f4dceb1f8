import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { decodeValue, recordOf } from '#lib/trajectory/format/codec.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, lossMask, segmentStarts, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { bytes, call, drawMask, END, runScripted, type Script, user } from '#testing/scripted-rollout.ts'
import { type Branch, branchAtMessage, branchAtToken, type ForcedIds, type ResponseContinuation } from './branch.ts'

const reader = { tokenizer: byteTokenizer, parser: hermes }
const same: Omit<ResponseContinuation, 'forced'> = { sampling: {}, isChanged: false, isCut: false }

/** A greedy model that writes these replies: what it writes next depends only on the ids that it reads. */
function greedy(replies: readonly string[], k = 0): Script {
  return async function* ({ inputIds, sampling }: GenerateRequest) {
    const opening = bytes('<|im_start|>assistant\n')
    const starts = inputIds.flatMap((_, at) =>
      opening.every((id, offset) => inputIds[at + offset] === id) ? [at] : [],
    )
    const written = inputIds.slice((starts.at(-1) ?? 0) + opening.length)
    const reply = [...bytes(replies[starts.length - 1] ?? 'done'), END]
    const isOnPath = written.every((id, index) => reply[index] === id)
    const rest = isOnPath ? reply.slice(written.length) : [...bytes('!'), END]
    const news = rest.slice(0, sampling.max_new_tokens)
    const finish = news.length < rest.length ? ({ kind: 'length' } as const) : ({ kind: 'stop', matched: END } as const)
    yield {
      tokens: {
        ids: news,
        logprobs: news.map(() => -0.5),
        ...(k > 0 && {
          topLogprobs: { k, ids: news.flatMap((id) => [id, 65]), logprobs: news.flatMap(() => [-0.5, -3]) },
        }),
      },
      problems: [],
      end: { finish, usage: {} },
    }
  }
}

const many = (script: Script): Script[] => Array<Script>(20).fill(script)
const play = async (replies: readonly string[], settings = {}, k = 0) =>
  (await runScripted({ scripts: many(greedy(replies, k)), settings })).trajectory

function branchOf(result: ReturnType<typeof branchAtToken>): Branch {
  if (!result.ok) throw new Error(result.why.detail)
  return result.branch
}

async function continued({ trajectory, messages }: Branch, replies: readonly string[], settings = {}) {
  return runScripted({
    scripts: many(greedy(replies)),
    on: trajectory,
    messages,
    settings,
    ...(messages.length === 0 && trajectory.segments.length > 0 && isOpen(trajectory) && { resumes: true }),
  })
}

/** A branch at a tool result has nothing to resume: its run sends the results. */
const isOpen = ({ segments }: Trajectory) => {
  const last = segments.at(-1)
  return last?.kind === 'prompt' || (last?.kind === 'response' && !last.toolCalls.some(({ result }) => result?.edited))
}

const sampledPositions = (trajectory: Trajectory): number[] => {
  const starts = segmentStarts(trajectory)
  return trajectory.segments.flatMap(({ kind, ids }, index) =>
    kind === 'response' ? ids.map((_, offset) => (starts[index] ?? 0) + offset) : [],
  )
}

/** All that a greedy branch must have in common with its origin. */
const essence = (trajectory: Trajectory) => ({
  segments: trajectory.segments.map((segment) => ({
    kind: segment.kind,
    ids: segment.ids,
    ...(segment.kind === 'response' && {
      thinks: segment.thinks,
      calls: segment.toolCalls.map(({ id, raw, span, result }) => ({ id, raw, span, result: result?.text })),
      finish: segment.finish,
    }),
  })),
  outcome: trajectory.outcome,
})

const text = fc.string({ unit: fc.constantFrom('a', 'é', '🦊', ' ', '"', '{'), maxLength: 5 })
const sum = fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => call('calculator', { expression: `${a} + ${b}` }))
const piece = fc.oneof(
  text,
  sum,
  text.map((inside) => `<think>${inside}</think>`),
  fc.constant('<tool_call>{broken</tool_call>'),
)
/** Replies of a run with tools: all but the last contain a call. */
const replies = fc
  .tuple(
    fc.array(
      fc
        .tuple(fc.array(piece, { maxLength: 2 }), sum, fc.array(sum, { maxLength: 1 }))
        .map(([a, b, c]) => [...a, b, ...c].join('')),
      { maxLength: 2 },
    ),
    text,
  )
  .map(([calls, last]) => [...calls, `${last}.`])

describe('A greedy branch whose forced token is the sampled one', () => {
  test('gives the original ids, calls, results and outcome, at any token of any run with tools', async () => {
    await fc.assert(
      fc.asyncProperty(replies, fc.nat(), fc.integer({ min: 1, max: 8 }), async (said, position, length) => {
        const original = await play(said)
        const positions = sampledPositions(original)
        const at = positions[position % positions.length] ?? 0
        // Ids of the same response only: what follows it is a prompt.
        const last =
          positions.findLast(
            (each) => each < at + length && each - at === positions.indexOf(each) - positions.indexOf(at),
          ) ?? at
        const forced: ForcedIds = { ids: ids(original).slice(at, last + 1), as: 'ids' }
        const branch = branchOf(branchAtToken(original, at, { ...same, forced }, reader))
        const { trajectory, requests } = await continued(branch, said)
        expect(essence(trajectory)).toEqual(essence(original))
        // Only the forced tokens are not trained, and they have no logprobs.
        const isForced = (index: number) => index >= at && index <= last
        expect(lossMask(trajectory)).toEqual(lossMask(original).map((bit, index) => (isForced(index) ? 0 : bit)))
        expect([tokenAt(trajectory, at)?.logprob, tokenAt(trajectory, last)?.logprob]).toEqual([null, null])
        // The prefix is byte-exact in every request.
        for (const { inputIds } of requests) expect(inputIds.slice(0, at)).toEqual(ids(original).slice(0, at))
        expect(decodeValue(JSON.parse(JSON.stringify(recordOf(trajectory))))).toMatchObject({ ok: true })
      }),
      { numRuns: runs(200) },
    )
  })

  test('gives the original ids if the response had ended by its length', async () => {
    const original = await play(['abcdef'], { sampling: { max_new_tokens: 4 } })
    const [first = 0] = sampledPositions(original)
    const one: ForcedIds = { ids: bytes('b'), as: 'ids' }
    const branch = branchOf(branchAtToken(original, first + 1, { ...same, forced: one }, reader))
    const { trajectory } = await continued(branch, ['abcdef'], {
      sampling: { max_new_tokens: 4 },
      resumedMaxNewTokens: 2,
    })
    expect(essence(trajectory)).toEqual(essence(original))
  })
})

test('A branch without inserted ids samples again from any token, and equals a greedy original', async () => {
  const said = [`<think>so</think>${call('calculator', { expression: '1 + 2' })}`, '3']
  const original = await play(said)
  for (const at of sampledPositions(original)) {
    const { trajectory } = await continued(branchOf(branchAtToken(original, at, same, reader)), said)
    expect(essence(trajectory)).toEqual(essence(original))
    expect(trajectory.segments.every((segment) => segment.mask === undefined)).toBe(true)
  }
})

describe('Inserted ids', () => {
  const said = [`<think>so</think>${call('calculator', { expression: '1 + 2' })}`, '3']

  test('continue a think block and a tool call: the whole response is parsed, and a changed call is executed again', async () => {
    const original = await play(said)
    const position = ids(original).indexOf(bytes('+')[0] ?? 0, sampledPositions(original)[0]) + 2
    const forced: ForcedIds = { ids: bytes('5"}}</tool_call>'), as: 'text' }
    const { trajectory } = await continued(
      branchOf(branchAtToken(original, position, { ...same, forced }, reader)),
      said,
    )
    expect(drawMask(trajectory)).toMatch(
      /^\(user q\) \[<think>so<\/think><tool_call>\{"name":"calculator","arguments":\{"expression":"1 \+ 5"\}\}<\/tool_call>!\] \(tool 6\) \[3\]$/,
    )
    const response = trajectory.segments[1] as ResponseSegment
    expect(response).toMatchObject({
      thinks: [{ closed: true }],
      toolCalls: [{ kind: 'parsed', input: { expression: '1 + 5' }, result: { text: '6' } }],
      forced: [{ as: 'text', instead: bytes('2')[0], end: response.ids.length - 2 }],
    })
  })

  test('that end the turn are a whole response: no call to the model is made, and its calls run', async () => {
    const original = await play(said)
    const end = ids(original).indexOf(END, sampledPositions(original)[0])
    const { trajectory, requests } = await continued(
      branchOf(branchAtToken(original, end, { ...same, forced: { ids: [END], as: 'ids' } }, reader)),
      said,
    )
    expect(essence(trajectory)).toEqual(essence(original))
    expect(requests).toHaveLength(1)
  })

  test('leave unchanged calls their results, and those are not executed again', async () => {
    let count = 0
    const tool = {
      spec: { name: 'next', inputSchema: { type: 'object', properties: {} } },
      run: async () => String(++count),
    }
    const two = [`${call('next', {})}${call('next', { a: 1 })}`, 'ok']
    const played = async (on?: Trajectory) =>
      runScripted({
        scripts: many(greedy(two)),
        tools: [tool],
        ...(on && { on, messages: [], resumes: true as const }),
      })
    const { trajectory: original } = await played()
    expect(drawMask(original)).toContain('(tool 1 tool 2)')
    const at = ids(original).indexOf(END, sampledPositions(original)[0])
    const forced: ForcedIds = { ids: bytes(' '), as: 'text' }
    const branch = branchOf(branchAtToken(original, at, { ...same, forced }, reader))
    expect(branch.trajectory.segments.at(-1)).toMatchObject({
      toolCalls: [{ result: { text: '1' } }, { result: { text: '2' } }],
    })
    const { trajectory, events } = await played(branch.trajectory)
    expect(drawMask(trajectory)).toContain('(tool 1 tool 2)')
    expect(events.some(({ type }) => type === 'tool-started')).toBe(false)
    const early = branchOf(branchAtToken(original, at - 3, { ...same, forced: { ids: bytes('x'), as: 'ids' } }, reader))
    expect(early.trajectory.segments.at(-1)).toMatchObject({
      toolCalls: [{ result: { text: '1' } }, { kind: 'malformed' }],
    })
    expect((early.trajectory.segments.at(-1) as ResponseSegment).toolCalls[1]?.result).toBeUndefined()
  })

  test('keep the alternatives of the first position, and have none after it', async () => {
    const original = await play(['abc'], {}, 2)
    const [first = 0] = sampledPositions(original)
    const forced: ForcedIds = { ids: bytes('AB'), as: 'alternative' }
    const { trajectory, kind } = branchOf(branchAtToken(original, first + 1, { ...same, forced }, reader))
    expect(kind).toBe('alternative')
    expect(trajectory.segments[1]?.topLogprobs).toEqual({
      k: 2,
      ids: [97, 65, 98, 65, -1, -1],
      logprobs: [-0.5, -3, -0.5, -3, null, null],
    })
  })

  test('of an earlier branch stay marked before the position and are cut there', async () => {
    const original = await play(['abcdef'])
    const [first = 0] = sampledPositions(original)
    const forced: ForcedIds = { ids: bytes('XYZ'), as: 'text' }
    const once = (await continued(branchOf(branchAtToken(original, first + 1, { ...same, forced }, reader)), ['aXYZ?']))
      .trajectory
    const again = branchOf(branchAtToken(once, first + 3, { ...same, forced: { ids: bytes('!'), as: 'ids' } }, reader))
    const response = again.trajectory.segments[1] as ResponseSegment
    expect(response.forced).toEqual([
      { start: 1, end: 3, as: 'text', instead: 98 },
      { start: 3, end: 4, as: 'ids', instead: 90 },
    ])
    expect(response.mask).toEqual([1, 0, 0, 0])
    expect(response.resumed).toBeUndefined()
  })

  test.each([
    [[9999], /the id 9999 at index 0 is no token of bytes/],
    [[65, 300], /the id 300 at index 1/],
  ])('outside of the vocabulary are refused: %s', async (given, why) => {
    const original = await play(['abc'])
    const [first = 0] = sampledPositions(original)
    const result = branchAtToken(original, first, { ...same, forced: { ids: given, as: 'ids' } }, reader)
    expect(result).toMatchObject({
      ok: false,
      why: { code: 'OUTSIDE_VOCABULARY', detail: expect.stringMatching(why), field: 'force' },
    })
  })
})

describe('A branch', () => {
  test('says how it differs from its origin', async () => {
    const original = await play(['abc'])
    const [first = 0] = sampledPositions(original)
    const kindOf = (change: Partial<ResponseContinuation>) =>
      branchOf(branchAtToken(original, first + 1, { ...same, ...change }, reader)).kind
    expect([
      kindOf({}),
      kindOf({ isChanged: true }),
      kindOf({ isCut: true }),
      kindOf({ forced: { ids: [65], as: 'text' }, isCut: true }),
    ]).toEqual(['sampled_again', 'settings', 'cut', 'forced'])
  })

  test('leaves out what belongs to the whole trajectory: labels, columns, results after it', async () => {
    const original = await play(['abc'])
    const [prompt, response] = original.segments as [Trajectory['segments'][0], ResponseSegment]
    const parent: Trajectory = {
      ...original,
      title: 'main',
      reward: 1,
      group: { id: 'g', index: 0 },
      columnMeanings: { logprobs: { quantity: 'logprob' }, adv: { quantity: 'advantage' } },
      problems: [
        { kind: 'model', message: 'm', raw: 'm2' },
        { kind: 'file', message: 'f' },
      ],
      segments: [
        { ...prompt, columns: { adv: prompt.ids.map(() => 0) } },
        {
          ...response,
          columns: { adv: response.ids.map(() => 1) },
          usage: { completionTokens: 4 },
          weightVersions: [
            { version: '1', start: 0, end: 1 },
            { version: '2', start: 1, end: 4 },
          ],
          problems: [
            { kind: 'number', message: 'n', index: 1 },
            { kind: 'number', message: 'n', index: 3 },
            { kind: 'text', message: 't' },
          ],
          resumed: [
            { at: 1, request: { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: true } },
            { at: 3, request: { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: true } },
          ],
        },
      ],
    }
    const at = (prompt?.ids.length ?? 0) + 2
    const { trajectory } = branchOf(branchAtToken(parent, at, same, reader))
    expect(trajectory).not.toHaveProperty('title')
    expect(trajectory).not.toHaveProperty('reward')
    expect(trajectory).not.toHaveProperty('group')
    expect(trajectory.columnMeanings).toEqual({ logprobs: { quantity: 'logprob' } })
    expect(trajectory.problems).toEqual([{ kind: 'model', message: 'm', raw: 'm2' }])
    expect(trajectory.segments.every(({ columns }) => columns === undefined)).toBe(true)
    const cut = trajectory.segments[1] as ResponseSegment
    expect(cut).not.toHaveProperty('usage')
    expect(cut).toMatchObject({
      weightVersions: [
        { version: '1', start: 0, end: 1 },
        { version: '2', start: 1, end: 2 },
      ],
      problems: [{ kind: 'number', index: 1 }],
      resumed: [{ at: 1 }],
      finish: { kind: 'cancelled' },
    })
    expect(inputHash(ids(trajectory))).toBe(inputHash(ids(parent).slice(0, at)))
  })

  test('continues an interrupted response and an unanswered prompt after the last token', async () => {
    const said = ['abcdef']
    const original = await play(said, { sampling: { max_new_tokens: 3 } })
    const end = branchOf(branchAtToken(original, tokenCount(original), same, reader))
    expect([end.kind, end.trajectory.segments]).toEqual(['continued', original.segments])
    const { trajectory } = await continued(end, said)
    expect(drawMask(trajectory)).toBe('(user q) [abcdef]')
    const asked: Trajectory = { ...original, segments: original.segments.slice(0, 1) }
    const answer = branchOf(branchAtToken(asked, tokenCount(asked), same, reader))
    expect(drawMask((await continued(answer, said)).trajectory)).toBe('(user q) [abcdef]')
    const forced: ForcedIds = { ids: bytes('ab'), as: 'text' }
    const begun = branchOf(branchAtToken(asked, tokenCount(asked), { ...same, forced }, reader))
    expect(drawMask((await continued(begun, said)).trajectory)).toBe('(user q) [abcdef]')
  })

  test('with forced ids at the first token of a response records no request for them', async () => {
    const original = await play(['abc'])
    const [first = 0] = sampledPositions(original)
    const forced: ForcedIds = { ids: bytes('ab'), as: 'text' }
    const branch = branchOf(branchAtToken(original, first, { ...same, forced }, reader))
    expect(branch.trajectory.segments[1]).not.toHaveProperty('request')
    const { trajectory } = await continued(branch, ['abc'])
    expect(trajectory.segments[1]).toMatchObject({ resumed: [{ at: 2 }], mask: [0, 0, 1, 1] })
  })

  test('does not end at an inserted end of turn if the model ignores it', async () => {
    const original = await play(['abc'])
    const [first = 0] = sampledPositions(original)
    const finishOf = (sampling: Record<string, unknown>, id: number) =>
      (
        branchOf(branchAtToken(original, first, { ...same, sampling, forced: { ids: [id], as: 'ids' } }, reader))
          .trajectory.segments[1] as ResponseSegment
      ).finish
    expect([
      finishOf({}, END),
      finishOf({ ignore_eos: true }, END),
      finishOf({ stop_token_ids: [65] }, 65),
      finishOf({}, 65),
    ]).toEqual([
      { kind: 'stop', matched: END },
      { kind: 'cancelled' },
      { kind: 'stop', matched: 65 },
      { kind: 'cancelled' },
    ])
  })
})

describe('A branch is refused', () => {
  const why = (parent: Trajectory, at: number, change: Partial<ResponseContinuation> = {}) => {
    const result = branchAtToken(parent, at, { ...same, ...change }, reader)
    return result.ok ? 'no refusal' : `${result.why.code}: ${result.why.detail}`
  }

  test('at a position outside of the trajectory', async () => {
    const original = await play(['abc'])
    expect(why(original, tokenCount(original) + 1)).toMatch(
      /^OUTSIDE: there is no token \d+: the trajectory has \d+ tokens/,
    )
    expect(why({ ...original, segments: [] }, 0)).toMatch(/^OUTSIDE/)
    expect(why({ ...original, segments: [] }, 1)).toMatch(/^OUTSIDE/)
  })

  test('in a prompt, and after a response that the model ended', async () => {
    const original = await play(['abc'])
    expect(why(original, 0)).toBe(
      'NOT_SAMPLED: token 0 is part of a prompt, and a branch begins at a token that the model sampled',
    )
    expect(why(original, tokenCount(original))).toMatch(/^NOT_RESUMABLE: .* The model ended the last response\.$/)
  })

  test('over a chat endpoint', async () => {
    const original = await play(['abc'], { sampling: { max_new_tokens: 2 } })
    const segments = original.segments.map((segment) =>
      segment.kind === 'response' && segment.request
        ? { ...segment, request: { ...segment.request, endpoint: 'chat' as const } }
        : segment,
    )
    const count = tokenCount(original)
    expect([why({ ...original, segments }, count - 1), why({ ...original, segments }, count)]).toEqual([
      expect.stringMatching(/^OVER_CHAT/),
      expect.stringMatching(/^OVER_CHAT/),
    ])
  })

  test('inside a response that a grammar constrains, unless it is cut there', async () => {
    const original = await play(['abc'])
    const [first = 0] = sampledPositions(original)
    const sampling = { regex: 'a+' }
    expect(why(original, first + 1, { sampling })).toMatch(/^GRAMMAR: .* regex constrains the response/)
    expect(why(original, first, { sampling })).toBe('no refusal')
    expect(why(original, first + 1, { sampling, isCut: true })).toBe('no refusal')
  })
})

describe('An edited message', () => {
  const said = [call('calculator', { expression: '1 + 2' }), '3', 'bye']
  const withTurn = async () => {
    const first = await play(said)
    return (await runScripted({ scripts: many(greedy(said)), on: first, messages: [user('more')] })).trajectory
  }
  const startOf = (trajectory: Trajectory, index: number) => segmentStarts(trajectory)[index] ?? 0

  test('of a tool replaces its result, and says so', async () => {
    const original = await withTurn()
    const branch = branchOf(branchAtMessage(original, startOf(original, 2) + 3, { text: '7' }))
    expect([branch.kind, branch.messages, branch.shared]).toEqual(['tool_result', [], startOf(original, 2)])
    const { trajectory } = await continued(branch, said)
    expect(drawMask(trajectory)).toMatch(/\(tool 7\) \[3\]$/)
    expect(trajectory.segments[1]).toMatchObject({
      toolCalls: [{ result: { status: 'success', text: '7', edited: true } }],
    })
    expect(ids(trajectory).slice(0, branch.shared)).toEqual(ids(original).slice(0, branch.shared))
  })

  test('of a user is rendered again, after the tokens before its prompt', async () => {
    const original = await withTurn()
    const branch = branchOf(branchAtMessage(original, startOf(original, 4), { text: 'less' }))
    expect([branch.kind, branch.messages]).toEqual(['message', [user('less')]])
    expect(drawMask((await continued(branch, said)).trajectory)).toMatch(/\[3\] \(user less\) \[bye\]$/)
    const first = branchOf(branchAtMessage(original, 0, { message: 0, text: 'Q' }))
    expect([first.trajectory.segments, first.messages, first.shared]).toEqual([[], [user('Q')], 0])
  })

  test('keeps its images, and a message without text gets one', async () => {
    const original = await withTurn()
    const image = { type: 'image', image: 'data:image/png;base64,AA==' }
    const edit = (content: { type: string; text?: string; image?: string }[]) => {
      const [prompt, ...rest] = original.segments
      if (prompt?.kind !== 'prompt') throw new Error('a prompt is first')
      const parent: Trajectory = {
        ...original,
        segments: [{ ...prompt, messages: [{ role: 'user', content }] }, ...rest],
      }
      return branchOf(branchAtMessage(parent, 0, { text: 'new' })).messages[0]?.content
    }
    expect(edit([image, { type: 'text', text: 'a' }, { type: 'text', text: 'b' }])).toEqual([
      image,
      { type: 'text', text: 'new' },
    ])
    expect(edit([image])).toEqual([image, { type: 'text', text: 'new' }])
  })

  test('of a tool that contains its own text changes this text', async () => {
    const original = await withTurn()
    const segments = original.segments.map((segment) =>
      segment.kind === 'prompt' && segment.messages.some(({ role }) => role === 'tool')
        ? { ...segment, messages: [{ role: 'tool' as const, callId: 'x', content: 'own' }] }
        : segment,
    )
    const { kind, messages } = branchOf(
      branchAtMessage({ ...original, segments }, startOf(original, 2), { text: 'edited' }),
    )
    expect([kind, messages]).toEqual(['tool_result', [{ role: 'tool', callId: 'x', content: 'edited' }]])
  })

  test('is refused where there is no such message', async () => {
    const original = await withTurn()
    const why = (parent: Trajectory, at: number, message?: number) => {
      const result = branchAtMessage(parent, at, { message, text: 'x' })
      return result.ok ? 'no refusal' : `${result.why.code}: ${result.why.detail} ${result.why.hint}`
    }
    const [prompt, ...rest] = original.segments
    if (prompt?.kind !== 'prompt') throw new Error('a prompt is first')
    const two: Trajectory = { ...original, segments: [{ ...prompt, messages: [user('a'), user('b')] }, ...rest] }
    expect(why(original, tokenCount(original))).toMatch(/^OUTSIDE/)
    expect(why(original, startOf(original, 1))).toMatch(/^NO_MESSAGE: token \d+ was sampled/)
    expect(why({ ...original, segments: [{ ...prompt, messages: [] }, ...rest] }, 0)).toMatch(/has no messages/)
    expect(why(two, 0)).toBe(
      'NO_MESSAGE: the prompt with token 0 has 2 messages Name one in edit.message: 0 (user), 1 (user).',
    )
    expect(why(two, 0, 2)).toMatch(/has 2 messages, and none with the index 2/)
    expect(why(two, 0, 1)).toBe('no refusal')
  })
})
