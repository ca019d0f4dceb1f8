import { expect, test } from 'vitest'
import type { ValuePoint } from '#lib/api/forest/value.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { answersText, cliffText } from './value-text.ts'

/** Reverses the order of the text after it. */
const OVERRIDE = '\u202e'

test('A drop names its token with every hidden character, and shortens a long token', () => {
  const trajectory: Trajectory = {
    ...sampleTrajectory,
    vocab: { 3: `a${OVERRIDE}b`, 4: 'x'.repeat(30) },
    segments: [{ kind: 'response', ids: [3, 4], thinks: [], toolCalls: [] }],
  }
  const drop = { before: 1, after: 0.5, drop: 0.5, p: 0.01, test: 'fisher' } as const
  expect(cliffText(trajectory, { ...drop, from: 0, to: 1 })).toBe('−0.5 at token 0 "a⟨U+202E⟩b"')
  expect(cliffText(trajectory, { ...drop, from: 1, to: 2 })).toBe(`−0.5 at token 1 "${'x'.repeat(24)}…"`)
})

test('Answers are listed with every hidden character, on one line, and the others are counted', () => {
  const answers = [`1${OVERRIDE}2`, 'a\nb', null, ''].map((text) => ({ text, count: 2, reward: 0 }))
  const spread = { answers, distinctAnswers: 4 } as unknown as ValuePoint['spread']
  expect(answersText({ spread } as ValuePoint)).toBe('“1⟨U+202E⟩2” × 2, “a b” × 2, no answer × 2, 1 more')
})
