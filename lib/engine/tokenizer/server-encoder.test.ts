import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { computeSettled, endOfTurnId, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { withKnownTokens } from '#lib/sglang/reply/known-tokens.ts'
import { chatTemplate, type RenderInput, TemplateError } from '#lib/templates/chat-template.ts'
import { DEFAULT_BUDGET } from '#lib/templates/jinja/budget.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { scriptedTokenizer } from '#testing/sglang/scripted-tokenizer.ts'
import { type SimulatedTurn, simulateRollout } from '#testing/simulated-rollout.ts'
import { chatml, counting, headersOnly, looksBack } from '#testing/small-templates.ts'
import { EngineError } from '../http/errors.ts'
import type { Chunk } from '../reply.ts'
import { openServerPromptEncoder } from './server-encoder.ts'

const never = new AbortController().signal
const END = byteId('<|im_end|>')
const templates = { chatml, looksBack, headersOnly, counting }
const own = (template: string): PromptEncoder => ({ tokenizer: byteTokenizer, template: chatTemplate(template, {}) })
const open = (template: string) => openServerPromptEncoder(scriptedTokenizer(own(template)), { name: 'theirs' }, never)

describe.each(Object.keys(templates) as (keyof typeof templates)[])('server encoder with %s', (name) => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', '7', 'é', '日', '🙂', '<think>', '</think>', '{"') })
  const turns = fc.array(fc.tuple(text, text, fc.boolean(), fc.constantFrom<Message['role']>('user', 'tool')), {
    minLength: 1,
    maxLength: 4,
  })

  test('gives the ids of the tokenizer and template themselves for every conversation', async () => {
    const promptEncoder = await open(templates[name])
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), async (said, hasTools) => {
        const script = said.map(
          ([question, answer, isClosed, role], index): SimulatedTurn => ({
            messages: [{ role: index === 0 ? 'user' : role, content: `Q${question}` } as Message],
            reply: [...byteTokenizer.encode(answer), ...(isClosed ? [END] : [])],
            finish: isClosed ? { kind: 'stop', matched: END } : { kind: 'length' },
          }),
        )
        const tools: ToolSpec[] = hasTools ? [{ name: 'f', inputSchema: { type: 'object' } }] : []
        const expected = simulateRollout(own(templates[name]), script, { tools })
        const found = await computeSettled(
          promptEncoder,
          () => simulateRollout(promptEncoder, script, { tools }),
          never,
        )
        expect(found.requests).toEqual(expected.requests)
        expect(found.trajectory.segments).toEqual(expected.trajectory.segments)
        expect(found.trajectory.vocab).toEqual(expected.trajectory.vocab)
      }),
      { numRuns: runs(60) },
    )
  })
})

describe('server encoder bytes:', () => {
  const bytesOf = async (tokenizer: Tokenizer, all: readonly number[]) => {
    const promptEncoder = await openServerPromptEncoder(
      scriptedTokenizer({ tokenizer, template: chatTemplate(chatml, {}) }),
      { name: 'theirs' },
      never,
    )
    return computeSettled(promptEncoder, () => all.map((id) => [...promptEncoder.tokenizer.bytes(id)]), never)
  }

  test('parts of characters are exact, although a text cannot hold them', async () => {
    const all = Array.from({ length: byteTokenizer.vocabularySize }, (_, id) => id)
    // C0, C1 and F5 to FF occur in no UTF-8 text, so no character can be completed with them.
    const isImpossible = (id: number) => id < 256 && (id === 0xc0 || id === 0xc1 || id > 0xf4)
    const possible = all.filter((id) => !isImpossible(id))
    expect(await bytesOf(byteTokenizer, possible)).toEqual(possible.map((id) => [...byteTokenizer.bytes(id)]))
  })

  test('every token gives its bytes, whichever part of a text it is', async () => {
    const encoder = new TextEncoder()
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom('a', ' ', 'é', '߿', '日', '\uD7FF', 'ࠀ', '🙂', '\u{10FFFD}', '\uFFFD') }),
        fc.array(fc.nat(20), { maxLength: 6 }),
        async (text, cuts) => {
          const whole = encoder.encode(text)
          const ends = [...new Set([...cuts.filter((cut) => cut > 0 && cut < whole.length), whole.length])].sort(
            (a, b) => a - b,
          )
          const pieces = ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end))
          const first = byteTokenizer.vocabularySize
          const withPieces: Tokenizer = {
            ...byteTokenizer,
            bytes: (id) => pieces[id - first] ?? byteTokenizer.bytes(id),
          }
          const found = await bytesOf(
            withPieces,
            pieces.map((_, i) => first + i),
          )
          for (const [i, piece] of pieces.entries()) expect(found[i]).toEqual([...piece])
        },
      ),
      { numRuns: runs(150) },
    )
  })

  test('a space that decoding drops from the first word is kept', async () => {
    const spaced: Tokenizer = {
      ...byteTokenizer,
      bytes: (id) => (id === 0 ? new TextEncoder().encode(' the') : byteTokenizer.bytes(id)),
    }
    const server = scriptedTokenizer({ tokenizer: spaced, template: chatTemplate(chatml, {}) }, (pieces) =>
      new TextDecoder().decode(Buffer.concat(pieces)).replace(/^ /, ''),
    )
    const promptEncoder = await openServerPromptEncoder(server, { name: 'theirs' }, never)
    expect(
      await computeSettled(promptEncoder, () => new TextDecoder().decode(promptEncoder.tokenizer.bytes(0)), never),
    ).toBe(' the')
  })

  test('without tokens of single bytes a part of a character is U+FFFD', async () => {
    const server = scriptedTokenizer(own(chatml), (pieces) =>
      pieces.map((piece) => new TextDecoder().decode(piece)).join(''),
    )
    const promptEncoder = await openServerPromptEncoder(server, { name: 'theirs' }, never)
    expect(
      await computeSettled(promptEncoder, () => new TextDecoder().decode(promptEncoder.tokenizer.bytes(0xe2)), never),
    ).toBe('\uFFFD')
  })
})

describe('openServerPromptEncoder', () => {
  test('finds the delimiters, which of them are special, and the end-of-turn token', async () => {
    const promptEncoder = await open(chatml)
    const expected = byteTokenizer.addedTokens.filter(({ content }) => content !== '<|observation|>')
    expect(promptEncoder.tokenizer.addedTokens).toEqual(expect.arrayContaining(expected))
    expect(await computeSettled(promptEncoder, () => endOfTurnId(promptEncoder, {}), never)).toBe(END)
    const unheard: Tokenizer = {
      ...byteTokenizer,
      addedTokens: [{ id: 300, content: '<END!>', special: true }],
      encode: (text) =>
        text.split(/(<END!>)/).flatMap((part) => (part === '<END!>' ? [300] : byteTokenizer.encode(part))),
      bytes: (id) => (id === 300 ? new TextEncoder().encode('<END!>') : byteTokenizer.bytes(id)),
    }
    const template = chatTemplate('{% for m in messages %}{{ m.content }}<END!>{% endfor %}', {})
    const other = await openServerPromptEncoder(
      scriptedTokenizer({ tokenizer: unheard, template }),
      { name: 'x' },
      never,
    )
    expect(await computeSettled(other, () => endOfTurnId(other, {}), never)).toBe(300)
  })

  test('takes its fingerprint from the tokenizer and from the end of a turn in the template', async () => {
    const [first, again, otherTemplate] = [await open(chatml), await open(chatml), await open(headersOnly)]
    expect(again.tokenizer.fingerprint).toBe(first.tokenizer.fingerprint)
    expect(again.templateFingerprint).toBe(first.templateFingerprint)
    expect(otherTemplate.tokenizer.fingerprint).toBe(first.tokenizer.fingerprint)
    expect(otherTemplate.templateFingerprint).not.toBe(first.templateFingerprint)
    const shifted: Tokenizer = { ...byteTokenizer, encode: (text) => byteTokenizer.encode(text).map((id) => id + 1) }
    const other = await openServerPromptEncoder(
      scriptedTokenizer({
        tokenizer: { ...shifted, bytes: (id) => byteTokenizer.bytes(id - 1) },
        template: chatTemplate(chatml, {}),
      }),
      { name: 'x' },
      never,
    )
    expect(other.tokenizer.fingerprint).not.toBe(first.tokenizer.fingerprint)
  })

  test('needs a template for a server that renders nothing, and then works', async () => {
    const mute = {
      ...scriptedTokenizer(own(chatml)),
      tokenizeMessages: async () => {
        throw new EngineError('UPSTREAM_REJECTED', 'prompt: Field required', { status: 400 })
      },
    }
    await expect(openServerPromptEncoder(mute, { name: 'x' }, never)).rejects.toBeInstanceOf(TemplateError)
    const promptEncoder = await openServerPromptEncoder(mute, { name: 'x', templateText: chatml }, never)
    const turns: SimulatedTurn[] = [
      { messages: [{ role: 'user', content: 'hi' }], reply: [END], finish: { kind: 'length' } },
    ]
    const { requests } = await computeSettled(promptEncoder, () => simulateRollout(promptEncoder, turns), never)
    expect(requests).toEqual(simulateRollout(chatml, turns).requests)
    expect(promptEncoder.template.text).toBe(chatml)
    expect(promptEncoder.templateFingerprint).toBeUndefined()
  })

  test('renders a given template that exceeds its budget elsewhere, with the same result', async () => {
    const asked: unknown[] = []
    const slow = {
      budget: () => ({ ...DEFAULT_BUDGET, steps: 1, size: 1 }),
      render: async (text: string, input: RenderInput) => {
        asked.push(input)
        return chatTemplate(text, {}).render(input)
      },
    }
    const turns: SimulatedTurn[] = [
      { messages: [{ role: 'user', content: 'hi' }], reply: [END], finish: { kind: 'length' } },
      { messages: [{ role: 'user', content: 'and' }], reply: [END], finish: { kind: 'length' } },
    ]
    const server = scriptedTokenizer(own(chatml))
    const promptEncoder = await openServerPromptEncoder(server, { name: 'x', templateText: chatml, slow }, never)
    const { requests } = await computeSettled(promptEncoder, () => simulateRollout(promptEncoder, turns), never)
    expect(requests).toEqual(simulateRollout(chatml, turns).requests)
    expect(asked.length).toBeGreaterThan(1)
    const refusing = { name: 'x', templateText: '{{ nothing.at_all }}', slow }
    await expect(openServerPromptEncoder(server, refusing, never)).rejects.toMatchObject({
      className: 'UndefinedError',
    })
  })

  test('fails with the server’s error code', async () => {
    const gone = {
      ...scriptedTokenizer(own(chatml)),
      detokenize: async () => {
        throw new EngineError('CONNECTION_RESET', 'gone')
      },
    }
    await expect(openServerPromptEncoder(gone, { name: 'x' }, never)).rejects.toMatchObject({
      code: 'CONNECTION_RESET',
    })
  })
})

describe('server encoder settle', () => {
  test('refuses a conversation that the template refuses, after one request', async () => {
    const server = scriptedTokenizer(own(looksBack))
    const promptEncoder = await openServerPromptEncoder(server, { name: 'x' }, never)
    const input = {
      messages: [{ role: 'system', content: 'S' }],
      tools: undefined,
      addGenerationPrompt: true,
      options: {},
    }
    const before = server.calls.tokenizeMessages
    for (let i = 0; i < 2; i++)
      await expect(computeSettled(promptEncoder, () => promptEncoder.template.render(input), never)).rejects.toThrow(
        'no user query found',
      )
    expect(server.calls.tokenizeMessages).toBe(before + 1)
  })

  test('throws an error of the computation itself although data was missing before', async () => {
    const promptEncoder = await open(chatml)
    await expect(
      computeSettled(
        promptEncoder,
        () => {
          promptEncoder.tokenizer.bytes(65)
          throw new Error('own')
        },
        never,
      ),
    ).rejects.toThrow('own')
  })

  test('gives up on a computation that always lacks data', async () => {
    const promptEncoder = await open(chatml)
    let count = 0
    await expect(
      computeSettled(promptEncoder, () => promptEncoder.tokenizer.encode(`${count++}`), never),
    ).rejects.toThrow('lacked data')
  })

  test('is required: outside of it the encoder guesses nothing', async () => {
    const promptEncoder = await open(chatml)
    expect(() => promptEncoder.tokenizer.bytes(65)).toThrow('outside of settle')
    expect(() => promptEncoder.tokenizer.encode('never seen')).toThrow('outside of settle')
  })

  test('needs few requests for a continuation', async () => {
    const server = scriptedTokenizer(own(looksBack))
    const promptEncoder = await openServerPromptEncoder(server, { name: 'x' }, never)
    const turn = (content: string): SimulatedTurn => ({
      messages: [{ role: 'user', content }],
      reply: [...byteTokenizer.encode('yes'), END],
      finish: { kind: 'stop', matched: END },
    })
    const total = () => server.calls.tokenize + server.calls.tokenizeMessages + server.calls.detokenize
    const counts: number[] = []
    for (const turns of [[turn('one')], [turn('one'), turn('two')], [turn('one'), turn('two'), turn('three')]]) {
      const before = total()
      await computeSettled(promptEncoder, () => simulateRollout(promptEncoder, turns), never)
      counts.push(total() - before)
    }
    expect(counts[2]).toBeLessThanOrEqual(6)
  })
})

describe('withKnownTokens', () => {
  const chunk = (...arrived: number[]): Chunk => ({
    tokens: { ids: arrived, topLogprobs: { k: 1, ids: arrived.map((id) => id + 1), logprobs: arrived.map(() => -1) } },
    problems: [],
  })
  const collect = async (source: AsyncIterable<Chunk>, onChunk: (chunk: Chunk) => void) => {
    for await (const one of source) onChunk(one)
  }
  const request = {} as never

  test('passes chunks on in order with the bytes of all their ids, with fewer requests than chunks', async () => {
    const server = scriptedTokenizer(own(chatml))
    const promptEncoder = await openServerPromptEncoder(server, { name: 'x' }, never)
    const before = server.calls.detokenize
    const generate = withKnownTokens(async function* () {
      for (let id = 100; id < 140; id++) yield chunk(id)
    }, promptEncoder)
    const seen: number[] = []
    await collect(generate(request, never), ({ tokens }) => {
      for (const id of [...tokens.ids, ...(tokens.topLogprobs?.ids ?? [])]) promptEncoder.tokenizer.bytes(id)
      seen.push(...tokens.ids)
    })
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => 100 + i))
    expect(server.calls.detokenize - before).toBeLessThan(20)
  })

  test('passes on the chunks before a failure and then the failure', async () => {
    const promptEncoder = await open(chatml)
    const generate = withKnownTokens(async function* () {
      yield chunk(65)
      throw new EngineError('UPSTREAM_TRUNCATED', 'cut')
    }, promptEncoder)
    const seen: Chunk[] = []
    await expect(collect(generate(request, never), (one) => seen.push(one))).rejects.toThrow('cut')
    expect(seen).toHaveLength(1)
  })

  test('aborts its request when the reader stops', async () => {
    const promptEncoder = await open(chatml)
    let ended = false
    const generate = withKnownTokens(async function* (_request, signal) {
      try {
        for (;;) {
          yield chunk(65)
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, 5)
            signal.addEventListener('abort', () => {
              clearTimeout(timer)
              resolve()
            })
          })
          signal.throwIfAborted()
        }
      } finally {
        ended = true
      }
    }, promptEncoder)
    for await (const _ of generate(request, never)) break
    expect(ended).toBe(true)
  })
})

test('a rollout gives the same result with the server encoder as with the local one', async () => {
  const reply = [...byteTokenizer.encode('<think>é</think>日'), END]
  const turns: SimulatedTurn[] = [
    { messages: [{ role: 'user', content: '🙂' }], reply, finish: { kind: 'stop', matched: END } },
  ]
  const promptEncoder = await open(chatml)
  const trajectory: Trajectory = (
    await computeSettled(promptEncoder, () => simulateRollout(promptEncoder, turns), never)
  ).trajectory
  expect(ids(trajectory).slice(-reply.length)).toEqual(reply)
})
