import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { runs } from '#testing/property-runs.ts'
import { compareTrajectories } from '../compare.ts'
import { drifts, side } from './test-sides.ts'

const THOUGHT = '<think>|so|</think>|¶'
const CALL = '(call|{"name":|_"f"}|call)'
const RESPACED = '(call|{"name":|"f"}|call)'

describe('cut separates a drift of several causes', () => {
  test('after a think block', () => {
    expect(
      drifts(
        side(`R a|<e> P x R <think>|so|</think>|${CALL}|<e>`),
        side(`R a|<e> P x R _(call|{"name":|"f"}|call)|<e>`),
      ),
    ).toEqual(['think-stripped: <think>so</think> → ', 'separator: (call →  (call', 'call-json spacing:  "f"} → "f"}'])
  })

  test('before and after a call that became text', () => {
    expect(drifts(side(`R ${THOUGHT}|<c>|{broken|</c>|<e>|¶`), side('R sorry|<e>|¶'))).toEqual([
      'think-stripped: <think>so</think>¶ → ',
      'call-rewritten changed: <c>{broken</c> → sorry',
    ])
    expect(
      drifts(side('R sorry|<e>|¶'), side(`R ${THOUGHT}|<c>|{broken|</c>|<e>|¶`)).map((each) => each.split(':')[0]),
    ).toEqual(['think-inserted', 'content'])
  })

  test('where one side has several parts and the other has none', () => {
    expect(
      drifts(side(`R a|${THOUGHT}|<c>|{"name":"f"}|</c>|¶|b|<e>`), side('R a|b|<e>')).map((each) => each.split(':')[0]),
    ).toEqual(['think-stripped', 'call-rewritten dropped'])
    expect(
      drifts(side('R a|b|<e>'), side(`R a|${THOUGHT}|<c>|{"name":"f"}|</c>|¶|b|<e>`)).map((each) => each.split(':')[0]),
    ).toEqual(['think-inserted', 'call-rewritten dropped'])
  })

  test('where a reply was truncated and the template ended the turn', () => {
    const right = 'R a|<e>'
    expect(drifts(side(`${right} P x R <think>|so|lo`), side(`${right} P x R <e>`))).toEqual([
      'think-stripped: <think>solo → ',
      'end-of-turn missing:  → <e>',
    ])
    expect(drifts(side(`${right} P x R <e>`), side(`${right} P x R <think>|so|lo`))).toEqual([
      'think-inserted:  → <think>solo',
      'end-of-turn missing: <e> → ',
    ])
    expect(
      drifts(side(`${right} P x R <think>|so|lo`), side(`${right} P x R <think>|so|lo|¶|</think>|¶¶|<e>|¶`)),
    ).toEqual(['end-of-turn missing:  → ¶</think>¶¶<e>¶'])
  })

  test('but not inside of characters that are split or composed across an edge', () => {
    expect(drifts(side('R a|%e697|(call|{"name":"f"}|call)|b'), side('R a|\ufffd(call|{"name":"f"}|call)|b'))).toEqual([
      'partial-utf8: \ufffd(call → \ufffd(call',
    ])
    expect(drifts(side('R é|(call|{"name":"f"}|call)|b'), side('R e\u0301(call|{"name":"f"}|call)|b'))).toEqual([
      'normalisation NFD: é(call → e\u0301(call',
    ])
  })

  test('but not inside of a turn that only one side has', () => {
    expect(drifts(side(`R a|<e> P x|<e> R ${THOUGHT}|b|<e> P y|z`), side('R a|<e> P y|z'))).toEqual([
      'content: <e>x<e><think>so</think>¶b → ',
    ])
  })

  test('but not after the end of the other side', () => {
    expect(drifts(side(`R a|<e> P x R ${THOUGHT}|b`), side('R a|<e>'))).toEqual(['truncation: x<think>so</think>¶b → '])
  })

  test('but not between two long unrelated texts', () => {
    const many = (name: string) =>
      Array.from({ length: 70 }, (_, index) => `${index % 2 === 0 ? 'P' : 'R'} ${name}`).join(' ')
    expect(compareTrajectories(side(many('q')), side(many('w'))).report.byKind).toEqual({ content: 1 })
    const few = (name: string) =>
      Array.from({ length: 10 }, (_, index) => `${index % 2 === 0 ? 'P' : 'R'} ${name}`).join(' ')
    expect(compareTrajectories(side(few('q')), side(few('w'))).report.byKind).toEqual({ content: 10 })
  })

  test('also where only the call precedes it', () => {
    const other = CALL.replace('f', 'g')
    expect(drifts(side(`R ${CALL}|¶|${other}|<e>`), side(`R ${other}|<e>`))).toEqual([
      'call-rewritten dropped: (call{"name": "f"}call)¶ → ',
    ])
    expect(drifts(side(`R a|${CALL}|¶|${other}|<e>`), side(`R b|${other}|<e>`))).toEqual([
      'content: a → b',
      'call-rewritten dropped: (call{"name": "f"}call)¶ → ',
    ])
  })

  test('at the edges of segments', () => {
    expect(drifts(side('P a P b R c'), side('P x P y R c'))).toEqual(['content: a → x', 'content: b → y'])
  })

  test('into the most valuable pairs: other text replaces a reply rather than its call', () => {
    expect(drifts(side(`R a|${CALL}|so|lo|<e>`), side('R a P x|y R <e>'))).toEqual([
      'call-rewritten dropped: (call{"name": "f"}call) → ',
      'content: solo → xy',
    ])
  })

  test('so that a drift begins with the call that it contains', () => {
    const other = CALL.replace('f', 'g')
    expect(drifts(side(`R a|¶|${CALL}|¶|${other}|<e>`), side(`R a|¶|${other}|<e>`))).toEqual([
      'call-rewritten dropped: (call{"name": "f"}call)¶ → ',
    ])
    expect(drifts(side(`R a|¶|${other}|<e>`), side(`R a|¶|${CALL}|¶|${other}|<e>`))).toEqual([
      'call-rewritten dropped:  → (call{"name": "f"}call)¶',
    ])
    expect(drifts(side(`R a|${RESPACED}|b`), side(`R a|${RESPACED}|b`))).toEqual([])
  })
})

const token = fc.constantFrom(
  'a',
  'b',
  'ab',
  '_',
  '¶',
  '<e>',
  '<s>',
  THOUGHT,
  '<think>|</think>',
  CALL,
  RESPACED,
  '<c>|{"name":|1}|</c>',
  '%e697',
  '\ufffd',
)
const segment = fc
  .tuple(fc.constantFrom('P', 'R'), fc.array(token, { maxLength: 8 }))
  .map(([kind, tokens]) => `${kind} ${tokens.join('|')}`)
const anySide = fc.array(segment, { maxLength: 5 }).map((segments) => side(segments.join(' ')))
const otherTokenizer = (view: TrajectoryView): TrajectoryView => ({
  ...view,
  model: {
    ...view.model,
    tokenizer: { ...(view.model.tokenizer as NonNullable<TrajectoryView['model']['tokenizer']>), fingerprint: 'two' },
  },
})

describe('every comparison', () => {
  const pair = fc.tuple(anySide, fc.oneof(anySide, anySide.map(otherTokenizer)))

  test('has runs that cover both sides and one span for each drift', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const { alignedRuns, report } = compareTrajectories(left, right)
        let [l, r] = [0, 0]
        for (const [index, alignedRun] of alignedRuns.entries()) {
          expect([alignedRun.left.start, alignedRun.right.start]).toEqual([l, r])
          ;[l, r] = [alignedRun.left.end, alignedRun.right.end]
          const before = alignedRuns[index - 1]
          if (alignedRun.kind === 'equal') expect(before?.kind).not.toBe('equal')
          if (alignedRun.kind === 'equal' && report.sameVocabulary)
            expect(ids(left).slice(alignedRun.left.start, l)).toEqual(ids(right).slice(alignedRun.right.start, r))
        }
        expect([l, r]).toEqual([ids(left).length, ids(right).length])
        const drift = alignedRuns.filter(({ kind }) => kind === 'drift')
        expect(report.spans.map(({ left: ours, right: theirs }) => [ours, theirs])).toEqual(
          drift.map((each) => [each.left, each.right]),
        )
      }),
      { numRuns: runs(300) },
    )
  })

  test('has totals that match its spans', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const { report } = compareTrajectories(left, right)
        const mask = lossMask(left)
        const touched = report.spans
          .flatMap(({ left: { start, end } }) => mask.slice(start, end))
          .filter((trained) => trained === 1)
        expect(report.trained).toEqual({ touched: touched.length, of: mask.filter((trained) => trained === 1).length })
        expect(Object.values(report.byKind).reduce((sum, count) => sum + count, 0)).toBe(report.spans.length)
        expect(report.severity === undefined).toBe(report.spans.length === 0)
        for (const span of report.spans) {
          const isBefore = mask.slice(span.left.end).includes(1)
          if (span.trained.left > 0) expect(span.severity).toBe('trained')
          if (span.severity === 'tail') expect(isBefore).toBe(false)
          if (span.severity === 'context') expect(isBefore).toBe(true)
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test('of a side with itself has no drift', () => {
    fc.assert(
      fc.property(anySide, (view) => {
        expect(compareTrajectories(view, view).report.spans).toEqual([])
      }),
    )
  })

  test('of swapped sides has the swapped runs', () => {
    fc.assert(
      fc.property(pair, ([left, right]) => {
        const swapped = compareTrajectories(right, left).alignedRuns.map((each) => ({
          ...each,
          left: each.right,
          right: each.left,
        }))
        expect(swapped).toEqual(compareTrajectories(left, right).alignedRuns)
      }),
      { numRuns: runs(300) },
    )
  })
})
