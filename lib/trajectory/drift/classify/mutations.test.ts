/** Applies every known cause of drift to real conversations and expects its kind. */
import { describe, expect, test } from 'vitest'
import { pythonic } from '#lib/parsers/python/pythonic.ts'
import { compareTrajectories } from '../compare.ts'
import type { DriftReport } from '../report.ts'
import { agentConversations, type Base, example, withSegments } from './test-conversations.ts'
import { chance, MUTATIONS, type Mutation, PYTHONIC_MUTATIONS } from './test-mutations.ts'

const recorded = ['parallel-calls', 'tool-error', 'two-steps'].map(example)
const BASES: readonly Base[] = [
  ...recorded,
  ...['qwen3', 'llama3_2', 'deepseek_v3'].flatMap((model) => agentConversations(model)),
]

const PYTHONIC = ['qwen3', 'llama3_2'].flatMap((model) => agentConversations(model, pythonic))

const TRIALS = 24

const summaryOf = ({ spans }: DriftReport): string =>
  spans
    .map(
      ({ kind, detail, left, right }) =>
        `${kind}${detail ? ` ${detail}` : ''} ${left.start}-${left.end}|${right.start}-${right.end}`,
    )
    .join(' + ') || 'no drift'

/** Checks that every span has the kind and that one of them has the detail. */
const isNamed = ({ kind, detail, beside }: Mutation, { spans }: DriftReport): boolean =>
  spans.every((span) => span.kind === kind || span.kind === beside) &&
  spans.some((span) => span.kind === kind && (detail === undefined || span.detail === detail))

test.each([
  ...MUTATIONS.map((mutation) => ({ ...mutation, mutation, bases: BASES })),
  ...PYTHONIC_MUTATIONS.map((mutation) => ({ ...mutation, mutation, bases: PYTHONIC })),
])('compareTrajectories reports $kind $detail: $how', ({ mutation, bases }) => {
  const random = chance([...MUTATIONS, ...PYTHONIC_MUTATIONS].indexOf(mutation) + 1)
  const missed: string[] = []
  let count = 0
  for (let attempt = 0; count < TRIALS && attempt < 1000; attempt++) {
    const base = bases[random(bases.length)] as Base
    const pair = mutation.apply(base, random)
    if (!pair) continue
    count++
    const { report } = compareTrajectories(pair.left, pair.right)
    if (!isNamed(mutation, report)) missed.push(`${base.name}: ${summaryOf(report)}`)
  }
  expect(count).toBe(TRIALS)
  expect(missed, missed.join('\n')).toHaveLength(Math.min(missed.length, Math.floor(TRIALS * 0.05)))
})

describe('compareTrajectories of equal sides', () => {
  test.each([...BASES, ...PYTHONIC, example('retokenization-drift')])(
    'finds no drift for $name against its own replay',
    (base) => {
      const { report, alignedRuns } = compareTrajectories(base.trajectory, withSegments(base, base.trajectory.segments))
      expect(report).toMatchObject({ spans: [], byKind: {}, trained: { touched: 0 }, rows: { count: 1, extra: 0 } })
      expect(report.severity).toBeUndefined()
      expect(alignedRuns).toHaveLength(1)
    },
  )
})
