/** Tests reconstructed sides of real trajectories with the tokenizer of the built-in model. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { decode, encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, lossMask, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { buildSide } from './retokenized.ts'
import type { LoadedSide, ShownSide } from './shown-side.ts'
import type { Reconstruction } from './side.ts'

const tokenizer = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')

const examples = readdirSync('public/examples').map((file) => file.replace('.json', ''))

function made(trajectory: LoadedSide['trajectory'], as: Reconstruction): ShownSide {
  const side = buildSide({ as, trajectory, tokenizer, template: undefined })
  if (!side.ok) throw new Error(side.why)
  return side.value
}

describe.each(examples)('a side made from %s', (name) => {
  const trajectory = exampleTrajectory(name)

  test.each(['text', 'structured', 'raw'] as const)('is a trajectory of its own as %s, without a caveat', (kind) => {
    const { trajectory: again, caveats } = made(trajectory, { kind })
    expect(caveats).toEqual([])
    expect(again.provenance).toEqual({ kind: 'retokenized', mode: kind, parent: trajectory.id })
    const decoded = decode(encode(again as Trajectory))
    expect(decoded).toEqual({ ok: true, trajectory: again })
  })

  test('has the same segments, messages, spans and text when made as text', () => {
    const { trajectory: again, perSegment } = made(trajectory, { kind: 'text' })
    expect(textOf(ids(again), again.vocab)).toBe(textOf(ids(trajectory), trajectory.vocab))
    const pictures = (of: LoadedSide['trajectory']) =>
      of.segments.map((segment) => ({
        kind: segment.kind,
        text: textOf(segment.ids, of.vocab),
        ...(segment.kind === 'prompt'
          ? { messages: segment.messages }
          : {
              thinks: segment.thinks.map(({ start, end }) =>
                textOf(Array.from(segment.ids).slice(start, end), of.vocab),
              ),
              calls: segment.toolCalls.map(({ span: _, text, raw, id }) => ({ id, text, raw })),
            }),
      }))
    expect(pictures(again)).toEqual(pictures(trajectory))
    expect(perSegment?.map(({ tokens }) => tokens)).toEqual(trajectory.segments.map((segment) => segment.ids.length))
  })

  test.each(['structured', 'raw'] as const)(
    'has a response for each reply when made as %s, and only responses are trained',
    (kind) => {
      const { trajectory: again } = made(trajectory, { kind })
      const replies = (of: LoadedSide['trajectory']) => of.segments.filter((segment) => segment.kind === 'response')
      expect(replies(again).map(({ toolCalls }) => toolCalls.map(({ id, result }) => ({ id, result })))).toEqual(
        replies(trajectory).map(({ toolCalls }) => toolCalls.map(({ id, result }) => ({ id, result }))),
      )
      const mask = lossMask(again)
      expect(mask).toHaveLength(tokenCount(again))
      expect(mask.reduce((a, b) => a + b)).toBe(replies(again).reduce((sum, { ids: own }) => sum + own.length, 0))
      for (const reply of replies(again))
        expect(again.vocab[reply.ids[reply.ids.length - 1] as number]).toBe('<|im_end|>')
    },
  )
})

test('a side as recorded is the trajectory itself', () => {
  const trajectory = exampleTrajectory('two-steps')
  expect(made(trajectory, { kind: 'recorded' })).toEqual({ trajectory, caveats: [] })
})
