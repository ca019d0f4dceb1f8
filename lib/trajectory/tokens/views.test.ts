import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { unreachable } from '#lib/util/unreachable.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { applyEvent, type LiveTrajectory, mergeTokens, type RolloutEvent } from '../events/events.ts'
import { createFold } from '../events/fold.ts'
import { inputHash } from '../format/input-hash.ts'
import type { Message, ResponseSegment, Trajectory } from '../format/trajectory.ts'
import { conversation, messageText, responseText } from '../messages/conversation.ts'
import { titleOrQuestion } from '../messages/first-question.ts'
import { columnNames } from './column-roles.ts'
import { bytesOf, textOf, textOfFirst, textWithStarts, tokensAt, vocabEntry } from './pieces.ts'
import { statistics } from './statistics.ts'
import {
  ids,
  logprobs,
  lossMask,
  segmentIndexAt,
  segmentStarts,
  spansBefore,
  spansOf,
  surprise,
  tokenAt,
  tokenCount,
} from './tokens.ts'

describe('the token views', () => {
  test('flatten the segments', () => {
    expect(ids(sample)).toEqual([1, 3, 2, 9, 5, 6, 10, 2, 8, 7, 3, 4])
    expect(lossMask(sample)).toEqual([0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 1, 0])
    expect(logprobs(sample)).toEqual([null, -2, -3, -0.5, -0.25, null, -1, 0, null, null, null, null])
    expect([segmentStarts(sample), tokenCount(sample)]).toEqual([[0, 3, 8, 10, 12], 12])
  })

  test('include the open segment', () => {
    const open = { kind: 'response', ids: [3, 4], thinks: [], toolCalls: [] } as const
    const live = { ...sample, live: { open, runningCalls: {} } }
    expect([segmentStarts(live), tokenCount(live)]).toEqual([[0, 3, 8, 10, 12, 14], 14])
    expect([tokenAt(live, 13)?.id, tokenAt(live, 14)]).toEqual([4, undefined])
    expect(tokenAt({ ...live, segments: [] }, 0)?.segmentIndex).toBe(0)
  })

  test('find a token in its segment, next to empty segments', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3)), fc.integer({ min: -2, max: 40 }), (lengths, index) => {
        const starts = [0]
        for (const length of lengths) starts.push((starts.at(-1) as number) + length)
        const expected = starts.findIndex((start, i) => start <= index && index < (starts[i + 1] ?? start))
        expect(segmentIndexAt(starts, index)).toBe(expected)
      }),
    )
  })

  test('return everything known about one token', () => {
    expect(tokenAt(sample, 6)).toMatchObject({
      id: 10,
      segmentIndex: 1,
      indexInSegment: 3,
      trained: true,
      logprob: -1,
      alternatives: [
        { id: 10, logprob: -1 },
        { id: 3, logprob: -2 },
      ],
    })
    expect(tokenAt(sample, 3)?.spans.map(({ kind }) => kind)).toEqual(['think', 'special'])
    expect(tokenAt(sample, 11)).toMatchObject({ trained: false, logprob: null, alternatives: [], spans: [] })
    expect(tokenAt(sample, 4)?.alternatives).toEqual([{ id: 5, logprob: -0.25 }])
    expect([tokenAt(sample, -1), tokenAt(sample, 12)]).toEqual([undefined, undefined])
  })

  test('order spans outer before inner', () => {
    expect(spansOf(sample.segments[1] as ResponseSegment).map(({ kind }) => kind)).toEqual([
      'think',
      'tool-call',
      'argument',
      'tool-call',
    ])
    expect(spansOf(sample.segments[0] as never)).toEqual([])
  })

  test('have no special tokens without a tokenizer', () => {
    const { tokenizer: _, ...model } = sample.model
    expect(tokenAt({ ...sample, model }, 0)?.spans).toEqual([])
  })

  test('keep an unknown logprob unknown', () => {
    expect([surprise(null), surprise(-2), surprise(0.1)]).toEqual([null, 2, 0])
  })
})

describe('the statistics', () => {
  test('cover trained tokens with a known logprob', () => {
    const all = statistics(sample)
    expect(all).toMatchObject({
      tokens: 12,
      trained: 6,
      scored: 4,
      logprobSum: -1.75,
      toolCalls: { succeeded: 1, failed: 0, malformed: 1, pending: 0 },
      cachedTokens: 1,
      promptTokensRead: 3,
      generationMs: 10,
      temperatures: [0.7],
      topPs: [0.9],
    })
    expect(all.meanLogprob).toBeCloseTo(-0.4375)
    expect(all.perplexity).toBeCloseTo(Math.exp(0.4375))
  })

  test('are null where nothing is known', () => {
    const bare = { ...sample, segments: [{ kind: 'response', ids: [3], thinks: [], toolCalls: [] } as const] }
    expect(statistics(bare)).toMatchObject({
      logprobSum: null,
      meanLogprob: null,
      perplexity: null,
      cachedTokens: null,
      promptTokensRead: null,
      generationMs: null,
    })
  })

  test('count the calls of the messages of a file, until a parser reads the tokens, and are null if a reply has no message', () => {
    const { tokenizer: _, parser: __, ...model } = sample.model
    const message = { content: '', tool_calls: [{ function: { name: 'add' } }, { function: { name: 'add' } }] }
    const reply = { kind: 'response', ids: [3], thinks: [], toolCalls: [] } as const
    const callsOf = (segments: Trajectory['segments'], own: Trajectory['model'] = model) =>
      statistics({ ...sample, model: own, segments }).toolCalls
    const none = { succeeded: 0, failed: 0, malformed: 0, pending: 0 }
    expect(callsOf([{ ...reply, message }])).toEqual({ ...none, pending: 2 })
    expect(callsOf([{ ...reply, ids: [], message }], sample.model)).toEqual({ ...none, pending: 2 })
    expect(callsOf([{ ...reply, message }], sample.model)).toEqual(none)
    expect(callsOf([{ ...reply, message: { content: 'hi' } }])).toEqual(none)
    expect(callsOf([{ ...reply, message }, reply])).toBeNull()
    expect(callsOf([{ kind: 'prompt', ids: [3], messages: [] }])).toEqual(none)
  })

  test('count the cached tokens of the call that read the prompt', () => {
    const response = sample.segments[1] as ResponseSegment
    const scored = (cachedTokens?: number) => {
      const scoring = { rid: 's', elapsedMs: 1, ...(cachedTokens !== undefined && { cachedTokens }) }
      const request = { ...(response.request as NonNullable<ResponseSegment['request']>), scoring }
      return statistics({ ...sample, segments: [{ ...response, request }] }).cachedTokens
    }
    expect([scored(0), scored(2), scored()]).toEqual([0, 2, null])
  })

  test('omit a running call of which only the scored prompt is known', () => {
    const response = sample.segments[1] as ResponseSegment
    const scoring = { rid: 's', elapsedMs: 1, cachedTokens: 200 }
    const request = { ...(response.request as NonNullable<ResponseSegment['request']>), scoring }
    const { usage: _, ...open } = { ...response, request }
    expect(statistics({ ...sample, segments: [response, open] })).toMatchObject({
      cachedTokens: 1,
      promptTokensRead: 3,
    })
  })

  test('count failed and pending calls separately', () => {
    const response = sample.segments[1] as ResponseSegment
    const [parsed] = response.toolCalls
    if (parsed?.kind !== 'parsed') throw new Error('no parsed call')
    const { result: _, ...pending } = parsed
    const failed = { ...parsed, id: 'b', result: { status: 'error', text: 'no' } as const }
    expect(statistics({ ...sample, segments: [{ ...response, toolCalls: [pending, failed] }] }).toolCalls).toEqual({
      succeeded: 0,
      failed: 1,
      malformed: 0,
      pending: 1,
    })
  })
})

describe('the conversation', () => {
  test('has the beginning of its first question as its title, or the text or ids that a run began with', () => {
    const ended = { outcome: { kind: 'ended', reason: 'end_turn' }, vocab: { 1: 'On', 2: 'ce' } } as const
    const asking = (...messages: readonly Message[]) =>
      titleOrQuestion({
        ...ended,
        segments: [
          { kind: 'response', ids: [], thinks: [], toolCalls: [] },
          { kind: 'prompt', ids: [], messages },
        ],
      })
    expect(asking({ role: 'system', content: 'be' }, { role: 'user', content: 'hi' })).toBe('hi')
    expect(asking({ role: 'user', content: 'x'.repeat(61) })).toBe(`${'x'.repeat(60)} …`)
    expect(asking({ role: 'user', content: [{ type: 'text', text: 'hi' }] })).toBe('hi')
    expect(asking()).toBeUndefined()
    const given = { kind: 'prompt', ids: [1, 2], messages: [], derivation: { kind: 'given', what: 'ids' } } as const
    expect(titleOrQuestion({ ...ended, segments: [given] })).toBe('Once')
    expect(titleOrQuestion({ ...ended, segments: [given], title: 'named' })).toBe('named')
  })

  test('comes from the segments, and results come from their calls', () => {
    expect(conversation(sample)).toEqual([
      { role: 'system', content: 'be' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '<think>日a1' },
      { role: 'tool', callId: 'call_0000', content: '4' },
      { role: 'tool', content: 'loose' },
      { role: 'assistant', content: 'hi there' },
    ])
  })

  test('gives a tool message of an unknown call no text', () => {
    const messages = [{ role: 'tool' as const }, { role: 'tool' as const, callId: 'nobody' }]
    const segments: Trajectory['segments'] = [{ kind: 'prompt', ids: [], messages }]
    expect(conversation({ ...sample, segments }).map(({ content }) => content)).toEqual(['', ''])
  })

  // Looking for each call among all calls would take minutes.
  test('finds the results of many calls in linear time', () => {
    const segments = Array.from({ length: 40_000 }, (_, index): Trajectory['segments'] => [
      {
        kind: 'response',
        ids: [3],
        thinks: [],
        toolCalls: [
          {
            kind: 'malformed',
            id: `c${index}`,
            raw: '',
            why: '',
            at: 0,
            span: { start: 0, end: 1 },
            text: { start: 0, end: 0 },
            result: { status: 'error', text: String(index) },
          },
        ],
      },
      { kind: 'prompt', ids: [], messages: [{ role: 'tool', callId: `c${index}` }] },
    ]).flat()
    expect(conversation({ ...sample, segments }).at(-1)?.content).toBe('39999')
  })

  test('has the texts of parts together as the text of a message', () => {
    const parts = [{ type: 'text', text: 'see ' }, { type: 'image' }, { type: 'text', text: 'this' }]
    expect(messageText({ content: parts })).toBe('see this')
    expect(messageText({ content: 'this' })).toBe('this')
    expect(messageText({})).toBe('')
  })

  test('has an empty text for an unknown result', () => {
    expect(
      conversation({
        ...sample,
        segments: [{ kind: 'prompt', ids: [], messages: [{ role: 'tool', callId: 'gone' }] }],
      }),
    ).toEqual([{ role: 'tool', callId: 'gone', content: '' }])
  })

  test('excludes the stop token, both the template’s and the one that the server names', () => {
    const response = (finish: ResponseSegment['finish'], last: number): ResponseSegment => ({
      kind: 'response',
      ids: [3, last],
      thinks: [],
      toolCalls: [],
      ...(finish && { finish }),
    })
    expect(responseText(response(undefined, 2), sample)).toBe('hi')
    expect(responseText(response({ kind: 'stop', matched: 9 }, 9), sample)).toBe('hi')
    expect(responseText(response({ kind: 'stop', matched: ' there' }, 4), sample)).toBe('hi there')
    expect(responseText({ kind: 'response', ids: [], thinks: [], toolCalls: [] }, sample)).toBe('')
  })

  test('caches texts without changing them', () => {
    const ids = [3, 4]
    const open: ResponseSegment = { kind: 'response', ids, thinks: [], toolCalls: [] }
    const vocab: Record<string, string> = { 3: 'a' }
    const trajectory = { ...sample, vocab }
    expect(responseText(open, trajectory)).toBe('a⟨4⟩')
    vocab[4] = 'b'
    expect([responseText(open, trajectory), responseText(open, trajectory)]).toEqual(['ab', 'ab'])
    expect(responseText({ ...open, finish: { kind: 'stop', matched: 4 } }, trajectory)).toBe('a')
    expect(responseText(open, { ...trajectory, vocab: { 3: 'c', 4: 'd' } })).toBe('cd')
  })
})

test('the columns of a live trajectory are those of its closed segments, then those of the open one', () => {
  const segment = (...names: readonly string[]): ResponseSegment => ({
    kind: 'response',
    ids: [1],
    thinks: [],
    toolCalls: [],
    ...(names.length > 0 && { columns: Object.fromEntries(names.map((name) => [name, [0]])) }),
  })
  const segments = [segment('b', 'a'), segment(), segment('a', 'c')]
  const namesWith = (open?: ResponseSegment) =>
    columnNames({ segments, live: { runningCalls: {}, ...(open && { open }) } })
  expect(columnNames({ segments })).toEqual(['b', 'a', 'c'])
  expect(namesWith()).toEqual(['b', 'a', 'c'])
  expect(namesWith(segment())).toEqual(['b', 'a', 'c'])
  expect(namesWith(segment('c', 'd'))).toEqual(['b', 'a', 'c', 'd'])
})

describe('pieces', () => {
  const encoder = new TextEncoder()
  const cuts = fc.tuple(
    fc.string({ unit: fc.constantFrom('a', 'é', '日', '🙂', ' ', '\n', '\0', '\uFEFF') }),
    fc.array(fc.nat(40)),
  )

  test('have the same text for the first of many tokens as for them alone', () => {
    const vocab: Trajectory['vocab'] = {
      0: 'a',
      1: '日',
      2: '',
      3: { hex: 'f09f' },
      4: { hex: '9982' },
      5: { hex: 'ff' },
      6: '\uFEFF',
    }
    fc.assert(
      fc.property(fc.array(fc.nat(7), { maxLength: 20 }), (ids) => {
        const textOfThe = textOfFirst(ids, vocab)
        for (let count = 0; count <= ids.length; count++)
          expect([ids, count, textOfThe(count)]).toEqual([ids, count, textOf(ids.slice(0, count), vocab)])
      }),
    )
  })

  test('store bytes as text or as digits, so that nothing is lost', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(Array.from(bytesOf(vocabEntry(bytes)))).toEqual(Array.from(bytes))
      }),
    )
    expect([vocabEntry(encoder.encode('日')), vocabEntry(Uint8Array.of(0xe6, 0x97))]).toEqual(['日', { hex: 'e697' }])
  })

  test('join to the text again, and each token knows its start', () => {
    fc.assert(
      fc.property(cuts, ([text, at]) => {
        const bytes = encoder.encode(text)
        const borders = [...new Set([0, ...at.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b)
        const parts = borders.slice(1).map((end, i) => bytes.slice(borders[i], end))
        const vocab = Object.fromEntries(parts.map((part, id) => [id, vocabEntry(part)]))
        const places = textWithStarts(
          parts.map((_, id) => id),
          vocab,
        )
        const { text: joined, starts } = places
        expect(joined).toBe(text)
        expect(starts).toHaveLength(parts.length + 1)
        expect([starts[0], starts.at(-1), [...starts].sort((a, b) => a - b)]).toEqual([0, text.length, starts])
        // The tokens of each character are those with one of its bytes.
        let start = 0
        let byte = 0
        for (const character of text) {
          const [end, lastByte] = [start + character.length, byte + encoder.encode(character).length]
          const own = parts.flatMap((_, id) =>
            (borders[id] ?? 0) < lastByte && (borders[id + 1] ?? 0) > byte ? [id] : [],
          )
          expect(tokensAt(places, start, end)).toEqual({ start: own[0], end: (own.at(-1) ?? 0) + 1 })
          ;[start, byte] = [end, lastByte]
        }
      }),
    )
  })

  test('of an empty range have no tokens', () => {
    expect(tokensAt({ starts: [0, 2, 4] }, 2, 2)).toEqual({ start: 1, end: 1 })
    expect(tokensAt({ starts: [0] }, 0, 0)).toEqual({ start: 0, end: 0 })
  })

  test('with a space and the first bytes of a character belong to both', () => {
    const vocab = { 0: 'a', 1: { hex: '20f09f' }, 2: { hex: '' }, 3: { hex: '9880' }, 4: 'b' }
    const places = textWithStarts([0, 1, 2, 3, 4], vocab)
    expect(places.text).toBe('a 😀b')
    expect(tokensAt(places, 1, 2)).toEqual({ start: 1, end: 2 })
    expect(tokensAt(places, 2, 4)).toEqual({ start: 1, end: 4 })
    expect(tokensAt(places, 4, 5)).toEqual({ start: 4, end: 5 })
    const cut = textWithStarts([0, 1], vocab)
    expect([cut.text, tokensAt(cut, 2, 3)]).toEqual(['a \ufffd', { start: 1, end: 2 }])
  })

  test('of invalid UTF-8 bytes are U+FFFD', () => {
    expect(textOf([5, 3], sample.vocab)).toBe('\uFFFDhi')
    expect(textOf([5], sample.vocab)).toBe('\uFFFD')
    expect(textOf([5, 6], sample.vocab)).toBe('日')
  })

  test('of an id without bytes change nothing, even within a character', () => {
    const vocab = { ...sample.vocab, '20': { hex: '' } }
    expect([textOf([5, 20, 6], vocab), textOf([20, 3], vocab)]).toEqual(['日', 'hi'])
  })

  test('of an unknown id show the id and never join a character', () => {
    expect(textOf([3, 99, 4], sample.vocab)).toBe('hi⟨99⟩ there')
    expect(textOf([5, 99], sample.vocab)).toBe('\uFFFD⟨99⟩')
  })
})

describe('applyEvent', () => {
  const { segments: _, ...header } = sample
  const started: RolloutEvent = {
    type: 'started',
    rolloutId: 'r',
    trajectory: { ...header, segments: [], outcome: { kind: 'running' } },
  }
  const open: RolloutEvent = {
    type: 'segment-started',
    segment: { kind: 'response', ids: [], thinks: [], toolCalls: [] },
    vocab: {},
    specialIds: [],
  }
  const tokens = (list: number[], more: object = {}): Extract<RolloutEvent, { type: 'tokens' }> => ({
    type: 'tokens',
    ids: list,
    vocab: {},
    specialIds: [],
    ...more,
  })
  const play = (...events: RolloutEvent[]) => events.reduce<LiveTrajectory | undefined>(applyEvent, undefined)
  const openOf = (trajectory: LiveTrajectory | undefined) => trajectory?.live?.open

  test('shows the open segment, which is not recorded yet', () => {
    const live = play(started, open, tokens([3]))
    expect([live?.segments, openOf(live)]).toEqual([[], { kind: 'response', ids: [3], thinks: [], toolCalls: [] }])
    expect(live && [ids(live), lossMask(live)]).toEqual([[3], [1]])
  })

  test('removes a retracted segment', () => {
    expect(play(started, open, tokens([3]), { type: 'retracted' })).toEqual(play(started))
  })

  test('opens a resumed response after its own tokens, and restores it if it is retracted', () => {
    const request = { server: 's', samplingParams: {}, inputLength: 1, inputHash: '', streamed: true }
    const finish = { kind: 'cancelled' } as const
    const closing: RolloutEvent = {
      type: 'segment',
      segment: { kind: 'response', thinks: [], toolCalls: [], finish },
      vocab: {},
      specialIds: [],
    }
    const before = [started, open, tokens([3]), closing] as const
    const resumed: RolloutEvent = { type: 'resumed', request }
    const live = play(...before, resumed, tokens([4]))
    expect([live?.segments, openOf(live)]).toMatchObject([
      [],
      { ids: [3, 4], resumed: [{ at: 1, stopped: finish, request }] },
    ])
    expect(openOf(live)).not.toHaveProperty('finish')
    expect(play(...before, resumed, { type: 'retracted' })).toEqual(play(...before))
    const ended: RolloutEvent = { type: 'ended', outcome: { kind: 'ended', reason: 'cancelled' } }
    expect(play(...before, resumed, tokens([4]), ended)).toEqual(play(...before, ended))
    const whole = play(...before, resumed, tokens([4]), closing, resumed, tokens([7]), closing)
    expect(whole?.segments).toMatchObject([{ ids: [3, 4, 7], finish, resumed: [{ at: 1 }, { at: 2 }] }])
    const { finish: _, ...unknown } = closing.segment as { finish: object; kind: 'response' } & typeof closing.segment
    const unsaid = play(started, open, { ...closing, segment: unknown } as RolloutEvent, resumed)
    expect(openOf(unsaid)).toMatchObject({ resumed: [{ at: 0, request }] })
    expect(() => play(started, resumed)).toThrow('no response to continue')
    expect(() => play(...before, open, resumed)).toThrow('no response to continue')
  })

  test('adds new texts to the vocabulary and marks special ones', () => {
    const live = play(started, open, tokens([77], { vocab: { '77': 'new' }, specialIds: [77] }))
    expect([live?.vocab['77'], live?.model.tokenizer?.specialIds]).toEqual(['new', [1, 2, 9, 77]])
    const { tokenizer: _t, ...model } = sample.model
    const without = play(
      { ...started, trajectory: { ...started.trajectory, model } } as RolloutEvent,
      open,
      tokens([77], { vocab: { '77': 'new' }, specialIds: [77] }),
    )
    expect(without?.model.tokenizer).toBeUndefined()
  })

  test('fills in unknown logprobs and missing alternatives', () => {
    const live = play(
      started,
      open,
      tokens([3]),
      tokens([4], { logprobs: [-1], topLogprobs: { k: 2, ids: [4, 3], logprobs: [-1, -2] } }),
      tokens([7], { topLogprobs: { k: 1, ids: [7], logprobs: [0] } }),
    )
    expect(openOf(live)).toMatchObject({
      ids: [3, 4, 7],
      logprobs: [null, -1, null],
      topLogprobs: { k: 2, ids: [-1, -1, 4, 3, 7, -1], logprobs: [null, null, -1, -2, 0, null] },
    })
  })

  test('gives the same result for two merged token events', () => {
    const column = fc.record({
      ids: fc.array(fc.constantFrom(3, 4, 7), { maxLength: 4 }),
      hasLogprobs: fc.boolean(),
      k: fc.nat(2),
    })
    const event = column.map(({ ids: list, hasLogprobs, k }) =>
      tokens(list, {
        ...(hasLogprobs && { logprobs: list.map(() => -1) }),
        ...(k > 0 && {
          topLogprobs: {
            k,
            ids: list.flatMap(() => Array(k).fill(3)),
            logprobs: list.flatMap(() => Array(k).fill(-2)),
          },
        }),
      }),
    )
    fc.assert(
      fc.property(event, event, (a, b) => {
        expect(play(started, open, mergeTokens([a, b]))).toEqual(play(started, open, a, b))
      }),
    )
  })

  test('gives the same result through a fold at any time', () => {
    const event = fc.array(fc.constantFrom(3, 4, 7), { maxLength: 3 }).map((list) => tokens(list))
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.boolean()), { maxLength: 8 }), (list) => {
        const fold = createFold()
        expect(fold.trajectory).toBeUndefined()
        for (const first of [started, open]) fold.add(first)
        for (const [next, isLooked] of list) {
          fold.add(next)
          if (isLooked) expect(openOf(fold.trajectory as LiveTrajectory)).toBeDefined()
        }
        expect(fold.trajectory).toEqual(play(started, open, ...list.map(([next]) => next)))
      }),
    )
  })

  test('starts and ends tools and stores the result with the call', () => {
    const running = play(
      { ...started, trajectory: sample },
      { type: 'tool-started', callId: 'call_0001', startedAt: 'now' },
    )
    expect(running?.live?.runningCalls).toEqual({ call_0001: 'now' })
    const done =
      running &&
      applyEvent(running, { type: 'tool-ended', callId: 'call_0001', result: { status: 'error', text: 'no' } })
    expect(done?.live?.runningCalls).toEqual({})
    expect(done?.segments[1]).toMatchObject({ toolCalls: [{}, { result: { status: 'error', text: 'no' } }] })
    expect(done?.segments[3]).toBe(sample.segments[3])
  })

  test('applies a tool event to a finished trajectory', () => {
    expect(applyEvent(sample, { type: 'tool-started', callId: 'call_0001', startedAt: 'now' }).live).toEqual({
      runningCalls: { call_0001: 'now' },
    })
  })

  test('discards the open segment when the run ends', () => {
    expect(play(started, open, { type: 'ended', outcome: { kind: 'ended', reason: 'aborted' } })).toEqual({
      ...header,
      segments: [],
      outcome: { kind: 'ended', reason: 'aborted' },
    })
  })

  test('throws for events that do not fit', () => {
    const closing: RolloutEvent = { type: 'segment', segment: { kind: 'prompt' }, vocab: {}, specialIds: [] }
    expect(() => play(tokens([3]))).toThrow('the first event of a rollout is started, not tokens')
    expect(() => play(started, tokens([3]))).toThrow('tokens arrived while no response was open')
    expect(() => play(started, closing)).toThrow('a prompt closed while nothing was open')
    expect(() => play(started, open, closing)).toThrow('a prompt closed while a response was open')
    expect(() => applyEvent(play(started), { type: 'odd' } as never)).toThrow('unreachable')
  })

  test('unreachable throws', () => {
    expect(() => unreachable('x' as never)).toThrow('unreachable: "x"')
  })
})

test('inputHash distinguishes inputs', () => {
  expect(inputHash([1, 2])).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set([inputHash([]), inputHash([1, 2]), inputHash([2, 1]), inputHash([513])]).size).toBe(4)
})

test('spansBefore cuts the span at the length, and leaves out spans that begin there or later', () => {
  const spans = [
    { start: 0, end: 2, name: 'a' },
    { start: 1, end: 5, name: 'b' },
    { start: 3, end: 4, name: 'c' },
  ]
  expect(spansBefore(spans, 3)).toEqual([
    { start: 0, end: 2, name: 'a' },
    { start: 1, end: 3, name: 'b' },
  ])
})
