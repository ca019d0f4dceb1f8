import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  applyLabAction,
  changedPart,
  displayedRevision,
  historyOf,
  inputOf,
  type LabAction,
  type LabDocument,
  type LabHistory,
} from './document.ts'

const begun: LabDocument = {
  revisions: [{ number: 1, name: 'ChatML', kind: 'kept', parent: undefined, template: 'a' }],
  shown: 1,
  messages: '[]',
  tools: '',
  options: '{}',
  tokenizer: 'built-in',
  source: { kind: 'sample', name: 'chatml' },
  trajectory: undefined,
}
const played = (actions: readonly LabAction[], from = historyOf(begun)): LabHistory =>
  actions.reduce(applyLabAction, from)
const typed = (text: string, at = 0, field: 'template' | 'messages' = 'template'): LabAction => ({
  type: 'typed',
  field,
  text,
  at,
})

/** Returns one line with all revisions; the shown one has a star. */
const drawn = ({ now: { revisions, shown } }: LabHistory): string =>
  revisions
    .map(
      ({ number, name, parent, template }) =>
        `${number === shown ? '*' : ''}${number} ${name} ${parent ?? '-'} ${template}`,
    )
    .join(' | ')

describe('the revisions of a lab document', () => {
  test('keep what was loaded when a draft is typed', () => {
    expect(drawn(played([typed('ab'), typed('abc', 1e6)]))).toBe('1 ChatML - a | *2 edited 1 abc')
  })

  test('have a fix with its reason as a revision of its own, made from the shown one', () => {
    expect(drawn(played([typed('b'), { type: 'fixed', template: 'c', why: 'fix: newline' }, typed('cd')]))).toBe(
      '1 ChatML - a | 2 edited 1 b | 3 fix: newline 2 c | *4 edited 3 cd',
    )
  })

  test('keep a draft that is saved when typing continues', () => {
    expect(drawn(played([typed('b'), { type: 'kept', name: 'mine' }, typed('bc')]))).toBe(
      '1 ChatML - a | 2 mine 1 b | *3 edited 2 bc',
    )
  })

  test('show the same template from the same source again instead of adding it', () => {
    const load: LabAction = {
      type: 'loaded',
      loaded: { source: { kind: 'file', name: 'x' }, name: 'x', template: 'x' },
    }
    expect(drawn(played([load, { type: 'shown', number: 1 }, load]))).toBe('1 ChatML - a | *2 x - x')
  })

  test('show the parent of a deleted one, and the last one cannot be deleted', () => {
    expect(drawn(played([typed('b'), { type: 'deleted', number: 2 }]))).toBe('*1 ChatML - a')
    expect(drawn(played([{ type: 'deleted', number: 1 }]))).toBe('*1 ChatML - a')
  })

  test('keep the template of a document whose conversation is loaded, and forget the earlier trajectory', () => {
    const { now } = played([
      { type: 'loaded', loaded: { source: undefined, name: 't', messages: '[1]', trajectory: 'k' } },
      { type: 'loaded', loaded: { source: { kind: 'sample', name: 'b' }, name: 'b', template: 'b' } },
    ])
    expect([now.trajectory, now.messages, displayedRevision(now).template]).toEqual(['k', '[1]', 'b'])
    const other = played(
      [{ type: 'loaded', loaded: { source: undefined, name: 'u', messages: '[2]' } }],
      historyOf(now),
    )
    expect(other.now.trajectory).toBeUndefined()
  })
})

describe('undo in a lab document', () => {
  test('takes a burst of keys as one step; a pause, another field or an undo begins a new one', () => {
    const history = played([typed('b'), typed('bc', 100), typed('bcd', 5_000), typed('[1]', 5_100, 'messages')])
    expect(history.past).toHaveLength(3)
    const back = played([{ type: 'undone' }, { type: 'undone' }], history)
    expect(inputOf(back.now)).toMatchObject({ template: 'bc', messages: '[]' })
    expect(played([typed('bce', 5_150)], back).past).toHaveLength(2)
  })

  test('reports which part a step has changed', () => {
    const history = played([typed('[1]', 0, 'messages'), { type: 'tokenizer', name: 'other' }])
    expect(changedPart(history.now, played([{ type: 'undone' }], history).now)).toBe('tokenizer')
    expect(changedPart(begun, played([typed('b')]).now)).toBe('template')
    expect(changedPart(begun, begun)).toBeUndefined()
  })

  const short = fc.string({ maxLength: 3 })
  const number = fc.integer({ min: 1, max: 6 })
  const action: fc.Arbitrary<LabAction> = fc.oneof(
    fc.record({
      type: fc.constant('typed' as const),
      field: fc.constantFrom('template' as const, 'messages' as const, 'tools' as const, 'options' as const),
      text: short,
      at: fc.integer({ min: 0, max: 5_000 }),
    }),
    fc.record({ type: fc.constant('fixed' as const), template: short, why: short }),
    fc.record({ type: fc.constant('shown' as const), number }),
    fc.record({ type: fc.constant('deleted' as const), number }),
    fc.record({ type: fc.constant('renamed' as const), number, name: short }),
    fc.record({ type: fc.constant('kept' as const), name: short }),
    fc.record({ type: fc.constant('tokenizer' as const), name: short }),
    fc.record({ type: fc.constant('changed' as const), field: fc.constant('messages' as const), text: short }),
    fc.record({
      type: fc.constant('loaded' as const),
      loaded: fc.record({
        source: fc.constant({ kind: 'file' as const, name: 'f' }),
        name: short,
        template: fc.option(short, { nil: undefined }),
        messages: short,
      }),
    }),
  )

  test('returns to the beginning, and redo returns to the end', () => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
        const end = played(actions)
        const undone = played(
          Array.from(end.past, () => ({ type: 'undone' })),
          end,
        )
        expect(undone.now).toBe(begun)
        const redone = played(
          Array.from(undone.future, () => ({ type: 'redone' })),
          undone,
        )
        expect(redone.now).toBe(end.now)
        expect(redone.past).toEqual(end.past)
      }),
    )
  })

  test('and every other action keep a revision to show, with unique numbers', () => {
    const any = fc.oneof(action, fc.constantFrom<LabAction>({ type: 'undone' }, { type: 'redone' }))
    fc.assert(
      fc.property(fc.array(any, { maxLength: 60 }), (actions) => {
        const { now } = played(actions)
        const numbers = now.revisions.map(({ number }) => number)
        expect(numbers).toContain(now.shown)
        expect(new Set(numbers).size).toBe(numbers.length)
      }),
    )
  })
})
