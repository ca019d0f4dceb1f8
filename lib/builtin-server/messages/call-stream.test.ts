/** Tests calls in growing texts, cut at random, against SGLang 0.5.23's reading of each piece (peers/recordings/stream_calls.py). */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { callStream } from './call-stream.ts'
import { QWEN3, reasoningStream, splitReasoning } from './reasoning.ts'

type Brought = readonly [text: string, calls: readonly (readonly [index: number, name: string | null, json: string])[]]
type Case = readonly [
  pieces: readonly string[],
  brought: readonly Brought[],
  rest: readonly [index: number, json: string] | null,
]

const cases: readonly Case[] = JSON.parse(readFileSync('lib/builtin-server/messages/golden/call-stream.json', 'utf8'))

test('The call stream returns the same for each piece of a text as SGLang', () => {
  expect(cases.length).toBeGreaterThanOrEqual(80)
  for (const [pieces, brought, rest] of cases) {
    const stream = callStream(['calculator', 'clock'])
    const ours = pieces.map((piece): Brought => {
      const { content, calls } = stream.read(piece)
      return [content, calls.map((call) => [call.index, call.name ?? null, call.arguments])]
    })
    const last = stream.end()
    expect([pieces, ours, last ? [last.index, last.arguments] : null]).toEqual([pieces, brought, rest])
  }
})

/** Delimiters, and texts that resemble them. */
const text = fc
  .array(fc.constantFrom('<think>', '</think>', '<tool_call>', 'X', '\n', '<', '</', 'think>', ' Y'), { maxLength: 12 })
  .map((parts) => parts.join(''))

describe('The reasoning stream', () => {
  test('loses nothing but delimiters of a text that is cut anywhere', () => {
    fc.assert(
      fc.property(text, fc.boolean(), fc.boolean(), fc.array(fc.nat(40)), (whole, isOpen, whenClosed, cuts) => {
        const stream = reasoningStream(QWEN3, isOpen, whenClosed)
        const places = [...new Set(cuts)].sort((a, b) => a - b)
        const pieces = [0, ...places].map((from, index) => whole.slice(from, places[index] ?? whole.length))
        const read = [...pieces.map((piece) => stream.read(piece)), stream.end()]
        const joined = read.map(({ reasoning, rest }) => reasoning + rest).join('')
        const between = (value: string) => value.replaceAll(/[^XY\s]/g, '')
        expect(between(joined)).toBe(between(whole))
      }),
    )
  })

  test('separates a text in one piece like the whole text', () => {
    const plain = text.filter(
      (whole) => (whole.match(/<think>/g) ?? []).length === (whole.startsWith('<think>') ? 1 : 0),
    )
    fc.assert(
      fc.property(plain, fc.boolean(), (whole, isOpen) => {
        const stream = reasoningStream(QWEN3, isOpen, false)
        const read = [stream.read(whole), stream.end()]
        const joined = {
          reasoning: read.map(({ reasoning }) => reasoning).join(''),
          rest: read.map(({ rest }) => rest).join(''),
        }
        expect(joined).toEqual(splitReasoning(whole, QWEN3, isOpen))
      }),
    )
  })
})
