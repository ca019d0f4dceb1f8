/** Calls and replies for the tests of protocols. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { ReplyChoice, ReplyDelta, ReplyPart, SessionCall, SessionReply } from '../call.ts'
import { joinReplyParts, replyDeltas, sliceTokens } from './reply-parts.ts'

/** Returns a call of a protocol with these changes. */
export const callOf = (protocol: SessionCall['protocol'], changes: Partial<SessionCall> = {}): SessionCall => ({
  protocol,
  model: 'tiny',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: true,
  sampling: {},
  structured: undefined,
  n: 1,
  logprobs: undefined,
  stream: true,
  includeUsage: true,
  templateArguments: {},
  metadata: {},
  body: {},
  ...changes,
})

/** Returns the bytes of an id: it is a letter. */
export const letterBytes = (id: number): Uint8Array => Uint8Array.of(97 + (id % 26))

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
const call = fc.record({
  kind: fc.constant('call' as const),
  id: fc.uuid(),
  name: fc.constantFrom('add', 'read_file'),
  arguments: fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }).map((input) => {
    // This key would be a prototype for the readers that the clients have.
    const { __proto__: _, ...own } = input
    return JSON.stringify(own)
  }),
})
const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.record({ kind: fc.constantFrom('reasoning' as const, 'text' as const), text }),
  call,
)

/** Adjacent texts of one kind are one part. */
const parts: fc.Arbitrary<readonly ReplyPart[]> = fc
  .array(part, { maxLength: 6 })
  .map((all) => all.filter((one, index) => one.kind === 'call' || one.kind !== all[index - 1]?.kind))

const choice: fc.Arbitrary<ReplyChoice> = fc.record({
  parts,
  finish: fc.constantFrom(
    { kind: 'stop' } as const,
    { kind: 'stop', matched: 'END' } as const,
    {
      kind: 'length',
    } as const,
  ),
  tokens: fc
    .array(fc.record({ id: fc.nat(25), logprob: fc.constantFrom(-0.5, null), other: fc.integer({ min: -1, max: 25 }) }))
    .map((rows) => ({
      ids: rows.map(({ id }) => id),
      logprobs: rows.map(({ logprob }) => logprob),
      topLogprobs: {
        k: 1,
        ids: rows.map(({ other }) => other),
        logprobs: rows.map(({ other }) => (other < 0 ? null : -1)),
      },
    })),
})

const count = fc.nat(1000)

/** Returns replies with this number of choices. */
export const replies = (n: number): fc.Arbitrary<SessionReply> =>
  fc
    .record({
      choices: fc.array(choice, { minLength: n, maxLength: n }),
      cached: count,
      uncached: count,
      completion: count,
    })
    .map(({ choices, cached, uncached, completion }) => ({
      id: 'a1b2c3',
      createdAt: 1_790_000_000_500,
      model: 'tiny',
      promptTokens: cached + uncached,
      cachedTokens: cached,
      choices,
      usage: {
        promptTokens: cached + uncached,
        cachedTokens: cached,
        completionTokens: completion,
        reasoningTokens: Math.floor(completion / 2),
      },
    }))

/** Returns the reply with a span of tokens for each text: the texts share the tokens in order. */
export const withTextSpans = (reply: SessionReply): SessionReply => ({
  ...reply,
  choices: reply.choices.map((choice) => {
    const { length } = choice.parts
    const at = (index: number) => Math.floor((index * choice.tokens.ids.length) / length)
    const parts = choice.parts.map((part, index) =>
      part.kind === 'text' ? { ...part, tokens: { start: at(index), end: at(index + 1) } } : part,
    )
    return { ...choice, parts }
  }),
})

/** Returns the deltas of a reply with texts and tokens in pieces; `cut` returns the length of the next piece. */
export function cutDeltas(reply: SessionReply, cut: () => number): readonly ReplyDelta[] {
  return replyDeltas(reply).flatMap((delta): readonly ReplyDelta[] => {
    if (delta.kind === 'tokens') {
      const { tokens } = delta
      return pieces(tokens.ids.length, cut).map((span) => ({ ...delta, tokens: sliceTokens(tokens, span) }))
    }
    if (!('text' in delta)) return [delta]
    return pieces(delta.text.length, cut).map(({ start, end }) => ({
      ...delta,
      text: delta.text.slice(start, end),
      // The first piece of a text has its tokens.
      ...('tokens' in delta &&
        delta.tokens && { tokens: start === 0 ? delta.tokens : { start: delta.tokens.end, end: delta.tokens.end } }),
    }))
  })
}

function pieces(length: number, cut: () => number): readonly { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = []
  for (let start = 0; start < length; ) {
    const end = Math.min(length, start + Math.max(1, cut()))
    found.push({ start, end })
    start = end
  }
  return found
}

/** Returns the parts that the deltas of one choice add up to. */
export function partsOfDeltas(deltas: readonly ReplyDelta[]): readonly ReplyPart[] {
  const fragments: ReplyPart[] = []
  for (const delta of deltas) {
    const last = fragments.at(-1)
    switch (delta.kind) {
      case 'reasoning':
      case 'text': {
        const { kind, text, tokens } = delta
        if (last?.kind === kind) expect(tokens?.start).toBe(last.tokens?.end)
        fragments.push({ kind, text, ...(tokens && { tokens }) })
        break
      }
      case 'call':
        fragments.push({ kind: 'call', id: delta.id, name: delta.name, arguments: '' })
        break
      case 'arguments':
        if (last?.kind !== 'call') expect.fail('arguments follow the start of their call')
        fragments[fragments.length - 1] = { ...last, arguments: last.arguments + delta.text }
    }
  }
  return joinReplyParts(fragments)
}
