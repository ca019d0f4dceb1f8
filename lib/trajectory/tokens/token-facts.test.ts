import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonPathAt, pathText } from '#lib/json/json-path.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { ResponseSegment, Trajectory, Vocab } from '../format/trajectory.ts'
import { spanPath } from '../messages/span-path.ts'
import { pack } from './packed.ts'
import { idsIn, rangeSums } from './range-sums.ts'
import { ids, logprobs, lossMask, type Token, tokenAt } from './tokens.ts'

const pathAt = (trajectory: Trajectory, index: number) => spanPath(trajectory, tokenAt(trajectory, index) as Token)

describe('spanPath', () => {
  test('numbers the calls of the trajectory', () => {
    expect(pathAt(sample, 6)).toEqual(['call 1', 'arguments.a', 'call 2 (malformed)'])
    expect(pathAt(sample, 3)).toEqual(['think', 'special token'])
  })

  test('names an unclosed think block, and a call without a number by its id', () => {
    const token = tokenAt(sample, 6) as Token
    const span = { start: 0, end: 9 }
    expect(spanPath(sample, { ...token, spans: [{ kind: 'think', span, closed: false }] })).toEqual([
      'think (not closed)',
    ])
    expect(spanPath({ ...sample, segments: [] }, token)[0]).toBe('call call_0000')
    expect(() => spanPath(sample, { ...token, spans: [{ kind: 'odd' } as never] })).toThrow('unreachable')
  })

  test('continues inside of an argument that is an object or a list', () => {
    const text = '{"a": {"b": [1, "two"]}}'
    const pieces = ['{"a', '": {', '"b": [', '1, "', 'two"]', '}}']
    const vocab = Object.fromEntries(pieces.map((piece, index) => [20 + index, piece]))
    const start = text.indexOf('{"b')
    const span = { start: 1, end: 6 }
    const response: ResponseSegment = {
      kind: 'response',
      ids: pieces.map((_, index) => 20 + index),
      thinks: [],
      toolCalls: [
        {
          kind: 'parsed',
          id: 'c',
          name: 'f',
          raw: text,
          input: { a: { b: [1, 'two'] } },
          arguments: [{ name: 'a', span, text: { start, end: text.length - 1 } }],
          span: { start: 0, end: 6 },
          text: { start: 0, end: text.length },
        },
      ],
    }
    const trajectory = { ...sample, vocab, segments: [response] }
    const paths = pieces.map((_, index) => pathAt(trajectory, index).at(-1))
    expect(paths).toEqual([
      'call 1',
      'arguments.a',
      'arguments.a',
      'arguments.a.b[0]',
      'arguments.a.b[1]',
      'arguments.a.b',
    ])
    // Damaged: the span names an argument without a position in the call.
    const [call] = response.toolCalls
    const bare = { ...response, toolCalls: [{ ...call, arguments: [] } as never] }
    const token = tokenAt(trajectory, 3) as Token
    expect(
      spanPath(trajectory, {
        ...token,
        spans: [{ kind: 'argument', span, name: 'a', call: bare.toolCalls[0] as never }],
      }),
    ).toEqual(['arguments.a'])
  })
})

describe('jsonPathAt', () => {
  test('returns the keys and indices that lead to a position, in any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.boolean(), (value, spaced) => {
        const text = JSON.stringify(value, null, spaced ? 2 : 0)
        for (const [offset, path] of leaves(value, text)) expect(jsonPathAt(text, offset)).toEqual(path)
      }),
    )
  })

  test('accepts text that is broken', () => {
    expect(jsonPathAt('{"a": ["x", tru', 13)).toEqual(['a', 1])
    expect(jsonPathAt('{"a": "never closed', 12)).toEqual(['a'])
    expect(jsonPathAt('}],{"a"', 5)).toEqual([])
    expect(jsonPathAt('{"a \\" b": 1}', 11)).toEqual(['a \\" b'])
    expect(jsonPathAt('{"a', 9)).toEqual([])
    expect(pathText(['a', 1, 'b'])).toBe('.a[1].b')
  })
})

/** Returns the offset and path of each number, word and text of a JSON value, with an independent parser. */
function leaves(value: unknown, text: string): readonly (readonly [number, readonly (string | number)[]])[] {
  const found: (readonly [number, readonly (string | number)[]])[] = []
  let at = 0
  const skip = (sign: string) => {
    at = text.indexOf(sign, at) + sign.length
  }
  const walk = (item: unknown, path: readonly (string | number)[]) => {
    if (typeof item !== 'object' || item === null) {
      const written = JSON.stringify(item)
      at = text.indexOf(written, at)
      found.push([at, path])
      at += written.length
    } else if (Array.isArray(item)) {
      skip('[')
      for (const [index, inner] of item.entries()) walk(inner, [...path, index])
      skip(']')
    } else {
      skip('{')
      for (const [key, inner] of Object.entries(item)) {
        skip(JSON.stringify(key))
        skip(':')
        walk(inner, [...path, JSON.stringify(key).slice(1, -1)])
      }
      skip('}')
    }
  }
  walk(value, [])
  return found
}

describe('rangeSums', () => {
  test('sums the tokens of the range', () => {
    const count = ids(sample).length
    fc.assert(
      fc.property(fc.nat(count), fc.nat(count + 3), fc.boolean(), (a, b, isPacked) => {
        const range = { start: Math.min(a, b), end: Math.max(a, b) }
        const trajectory = isPacked ? pack(sample).trajectory : sample
        const sums = rangeSums(trajectory, range)
        const own = ids(sample).slice(range.start, range.end)
        const mask = lossMask(sample).slice(range.start, range.end)
        const trained = mask.filter((value) => value === 1).length
        const known = logprobs(sample)
          .slice(range.start, range.end)
          .filter((value, index) => value !== null && (trained === 0 || mask[index] === 1)) as number[]
        expect(Array.from(idsIn(trajectory, range))).toEqual(own)
        expect(sums).toMatchObject({ tokens: own.length, trained, textless: 0 })
        expect(sums.logprobs).toMatchObject({ of: trained > 0 ? 'trained' : 'context', known: known.length })
        if (known.length === 0) expect([sums.logprobs.sum, sums.logprobs.perplexity]).toEqual([null, null])
        else {
          const total = known.reduce((x, y) => x + y)
          expect(sums.logprobs.sum).toBeCloseTo(total)
          expect(sums.logprobs.perplexity).toBeCloseTo(Math.exp(-total / known.length))
          expect([sums.logprobs.least?.logprob, sums.logprobs.most?.logprob]).toEqual([
            Math.min(...known),
            Math.max(...known),
          ])
          expect(logprobs(sample)[sums.logprobs.least?.index as number]).toBe(Math.min(...known))
        }
        expect(sums.bytes).toBe(
          own.reduce((bytes, id) => {
            const entry = sample.vocab[id] as Vocab[string]
            return bytes + (typeof entry === 'string' ? entry.length : entry.hex.length / 2)
          }, 0),
        )
      }),
    )
  })

  test('reports segments, columns and unknown texts of the range', () => {
    const all = rangeSums({ ...sample, vocab: { '3': 'hi' } }, { start: 0, end: 99 })
    expect(all.segments).toEqual({ start: 0, end: 4 })
    expect(rangeSums(sample, { start: 3, end: 9 }).segments).toEqual({ start: 1, end: 3 })
    expect(all.columns).toEqual([{ name: 'entropy', known: 1, mean: 0.5 }])
    expect(rangeSums(sample, { start: 11, end: 12 }).columns).toEqual([])
    expect([all.bytes, all.textless]).toEqual([4, 10])
    expect(rangeSums(sample, { start: 40, end: 50 })).toMatchObject({ tokens: 0, segments: { start: 0, end: 0 } })
  })

  test('averages a column of two segments over both', () => {
    const [, , , last] = sample.segments
    const both = { ...sample, segments: [last as never, { ...last, columns: { entropy: [null, 1.5] } } as never] }
    expect(rangeSums(both, { start: 0, end: 4 }).columns).toEqual([{ name: 'entropy', known: 2, mean: 1 }])
  })
})
