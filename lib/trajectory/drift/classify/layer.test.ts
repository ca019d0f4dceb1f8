/** Tests of the layer of a drift: structural if a special token or a role differs, otherwise content. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { ids, isSpecial } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { compareTrajectories } from '../compare.ts'
import { side } from './test-sides.ts'

const PROMPT = 'P <s>|user|¶|hi|<e>|¶|<s>|assistant|¶'

function layers(left: string, right: string): readonly string[] {
  const { report } = compareTrajectories(side(left), side(right))
  return report.spans.map(({ kind, layer }) => `${kind} ${layer}`)
}
const replies = (left: string, right: string) => layers(`${PROMPT} R ${left}`, `${PROMPT} R ${right}`)

describe('a drift is structural for', () => {
  test('an end of a turn, another special token or the delimiter of a think block', () => {
    expect(replies('a|<e> P ¶|b', 'a P ¶|b')).toEqual(['end-of-turn structural'])
    expect(replies('a|<x>|b', 'a|<|x|>|b')).toEqual(['special-tokens structural'])
    expect(replies('<think>|hm|</think>|a', 'a')).toEqual(['think-stripped structural'])
  })

  test('a role, whether its turn opens in the drift or before it', () => {
    expect(layers('P <s>|user|¶|hi R a', 'P <s>|human|¶|hi R a')).toEqual(['special-tokens structural'])
    expect(layers('P <s>|us|er|¶|hi R a', 'P <s>|user|¶|hi R a')).toEqual(['split structural'])
    expect(layers('P <s>|¶|assistant R <s>', 'P <s>|b R <s>')).toEqual(['special-tokens structural'])
    expect(layers('P <s>|user¶|hi R a', 'P <s>|tool¶|hi R a')).toEqual([expect.stringMatching(/ structural$/)])
  })
})

describe('a drift is content for', () => {
  test('text that is split differently or differs, also if it is the name of a role', () => {
    expect(replies('a|b', 'ab')).toEqual(['split content'])
    expect(replies('one|two', 'one|three')).toEqual(['content content'])
    expect(layers('P <s>|user|¶|user|<e> R a', 'P <s>|user|¶|model|<e> R a')).toEqual(['content content'])
    expect(replies('<think>|user|</think>|a', '<think>|model|</think>|a')).toEqual(['content content'])
  })

  test('a line end between turns', () => {
    expect(replies('a|<e> P ¶|¶|b', 'a|<e> P ¶|b')).toEqual(['separator content'])
  })
})

const TOKENS = [
  '<s>',
  '<e>',
  '<think>',
  '</think>',
  '<c>',
  '</c>',
  'user',
  'assistant',
  'as',
  'sistant',
  '¶',
  '_',
  'a',
  'b',
  'ab',
]
const tokens = fc.array(fc.constantFrom(...TOKENS), { minLength: 1, maxLength: 12 }).map((all) => all.join('|'))
const sides = fc.tuple(tokens, tokens).map(([prompt, reply]) => side(`P ${prompt} R ${reply}`))

const holdsSpecial = (of: TrajectoryView, { start, end }: Span): boolean =>
  ids(of)
    .slice(start, end)
    .some((id) => isSpecial(of, id))

test('every drift has one layer: structural if a special token differs, and the same for swapped sides', () => {
  fc.assert(
    fc.property(sides, sides, (left, right) => {
      const { report } = compareTrajectories(left, right)
      for (const span of report.spans) {
        if (holdsSpecial(left, span.left) || holdsSpecial(right, span.right)) expect(span.layer).toBe('structural')
        if (span.kind === 'special-tokens' || span.kind === 'end-of-turn') expect(span.layer).toBe('structural')
      }
      const of = (layer: string) => report.spans.filter((span) => span.layer === layer).length
      expect(report.byLayer).toEqual({ structural: of('structural'), content: of('content') })
      expect(report.byLayer.structural + report.byLayer.content).toBe(report.spans.length)
      const swapped = compareTrajectories(right, left).report.spans
      expect(swapped.map(({ left: ours, right: theirs, layer }) => ({ left: theirs, right: ours, layer }))).toEqual(
        report.spans.map(({ left: ours, right: theirs, layer }) => ({ left: ours, right: theirs, layer })),
      )
    }),
  )
})
