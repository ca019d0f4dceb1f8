import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { runs } from '#testing/property-runs.ts'
import {
  ALL_RULES,
  callIdsOf,
  EQUALITY_RULES,
  type EqualityRule,
  type EqualityRules,
  grownHistory,
  hasReasoning,
  type NormalHistory,
  normalHistory,
  reasoningOf,
  rulesNeeded,
  withCallIds,
} from './equality.ts'

type Reply = Extract<Message, { role: 'assistant' }>

const call = (id: string, input: unknown): NonNullable<Reply['toolCalls']>[number] => ({ id, name: 'f', input })
const calling = (id: string, input: unknown = { a: 1 }): Reply => ({
  role: 'assistant',
  content: '',
  toolCalls: [call(id, input)],
})
const result = (callId: string): Message => ({ role: 'tool', callId, content: 'r' })

/** Returns whether a client may have sent `sent` in place of `stored`. */
function areEqual(stored: readonly Message[], sent: readonly Message[], rules: EqualityRules): boolean {
  const [one, other] = [normalHistory(stored, rules), normalHistory(sent, rules)]
  return (
    stored.length === sent.length &&
    stored.every((message, index) => {
      const again = sent[index] as Message
      return (
        one.form(index) === other.form(index) && hasReasoning(reasoningOf(message, rules), reasoningOf(again, rules))
      )
    })
  )
}

/** What LiteLLM 1.108.7 writes in place of an empty text for Anthropic. */
const LITELLM = '[System: Empty message content sanitised to satisfy protocol]'
const MARK = { cache_control: { type: 'ephemeral' } }

/** What each rule treats as equal: the recorded messages, and the ones that the client sends. */
const CHANGES: Readonly<Record<EqualityRule, readonly (readonly [readonly Message[], readonly unknown[]])[]>> = {
  'call-arguments': [
    [[calling('x', { a: 1, b: [{ c: null, d: 2 }] })], [calling('x', '{"b": [{"d": 2.0, "c": null}], "a": 1}')]],
    [[calling('x', '{"a":  1}')], [calling('x', '{"a":1}')]],
  ],
  'empty-content': [
    [[{ role: 'assistant', content: '' }], [{ role: 'assistant', content: null }]],
    [[{ role: 'assistant', content: '' }], [{ role: 'assistant' }]],
    [[{ role: 'assistant', content: '' }], [{ role: 'assistant', content: LITELLM }]],
    [[{ role: 'assistant', content: 'a' }], [{ role: 'assistant', content: 'a', toolCalls: [] }]],
  ],
  'dropped-reasoning': [
    [[{ role: 'assistant', content: 'a', reasoning: 'r' }], [{ role: 'assistant', content: 'a' }]],
    [[{ role: 'assistant', content: 'a', reasoning: 'I r.' }], [{ role: 'assistant', content: 'a', reasoning: ' r.' }]],
  ],
  'call-ids': [
    [
      [calling('x'), result('x'), calling('y'), result('y')],
      [calling('0'), result('0'), calling('1'), result('1')],
    ],
    [
      [calling('x'), result('x'), calling('y'), result('y')],
      [calling('y'), result('y'), calling('x'), result('x')],
    ],
  ],
  'text-parts': [[[{ role: 'user', content: 'a' }], [{ role: 'user', content: [{ type: 'text', text: 'a' }] }]]],
  'cache-marks': [
    [[{ role: 'user', content: 'a' }], [{ role: 'user', content: 'a', cache_control: { type: 'ephemeral' } }]],
    [
      [{ role: 'user', content: [{ type: 'image', image: 'data:' }] }],
      [{ role: 'user', content: [{ type: 'image', image: 'data:', cache_control: { type: 'ephemeral' } }] }],
    ],
  ],
}

describe.each(EQUALITY_RULES)('The equality rule %s', (rule) => {
  test('is the only one that its changes need, and they are not equal without it', () => {
    const others = new Set(EQUALITY_RULES.filter((each) => each !== rule))
    for (const [stored, sent] of CHANGES[rule] as readonly (readonly [readonly Message[], readonly Message[]])[]) {
      expect(areEqual(stored, sent, new Set([rule]))).toBe(true)
      expect(areEqual(stored, sent, ALL_RULES)).toBe(true)
      expect(areEqual(stored, sent, others)).toBe(false)
      const message = 1 + stored.findIndex((each, index) => JSON.stringify(each) !== JSON.stringify(sent[index]))
      expect(rulesNeeded(stored, sent, ALL_RULES)).toEqual([{ rule, message }])
      expect(rulesNeeded(stored, sent, new Set([rule]))).toEqual([{ rule, message }])
    }
  })
})

/** Changes that no rule treats as equal. */
const EDITS: readonly (readonly [string, readonly unknown[], readonly unknown[]])[] = [
  ['another text', [{ role: 'user', content: 'a' }], [{ role: 'user', content: 'b' }]],
  ['trailing white space', [{ role: 'assistant', content: 'a' }], [{ role: 'assistant', content: 'a\n' }]],
  ['a text in place of an empty question', [{ role: 'user', content: '' }], [{ role: 'user', content: LITELLM }]],
  ['another role', [{ role: 'system', content: 'a' }], [{ role: 'developer', content: 'a' }]],
  ['other arguments', [calling('x', { a: 1 })], [calling('x', { a: 2 })]],
  ['arguments in another order of a list', [calling('x', { a: [1, 2] })], [calling('x', { a: [2, 1] })]],
  ['an argument more', [calling('x', { a: 1 })], [calling('x', { a: 1, b: null })]],
  ['broken JSON that is written differently', [calling('x', '{"a":')], [calling('x', '{"a" :')]],
  ['another tool', [calling('x')], [{ ...calling('x'), toolCalls: [{ id: 'x', name: 'g', input: { a: 1 } }] }]],
  ['one call less', [{ ...calling('x'), toolCalls: [call('x', {}), call('y', {})] }], [calling('x', {})]],
  ['other reasoning', [{ ...calling('x'), reasoning: 'a' }], [{ ...calling('x'), reasoning: 'b' }]],
  ['reasoning that was not there', [calling('x')], [{ ...calling('x'), reasoning: 'b' }]],
  ['two results swapped', [calling('x'), calling('y'), result('x')], [calling('x'), calling('y'), result('y')]],
  ['ids that become one', [calling('x'), calling('y')], [calling('x'), calling('x')]],
  ['one id that becomes two', [calling('x'), calling('x')], [calling('x'), calling('y')]],
  [
    'two parts in place of a text',
    [{ role: 'user', content: 'ab' }],
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ],
  ],
  [
    'a part with a further member',
    [{ role: 'user', content: 'a' }],
    [{ role: 'user', content: [{ type: 'text', text: 'a', citations: [] }] }],
  ],
  [
    'a part that is no text',
    [{ role: 'user', content: 'a' }],
    [{ role: 'user', content: [{ type: 'input', text: 'a' }] }],
  ],
  ['a part without a text', [{ role: 'user', content: '' }], [{ role: 'user', content: [{ type: 'text' }] }]],
  ['no parts', [{ role: 'user', content: '' }], [{ role: 'user', content: [] }]],
  ['a further member', [{ role: 'user', content: 'a' }], [{ role: 'user', content: 'a', name: 'b' }]],
]

test.each(EDITS)('Messages with %s are never equal', (_, stored, sent) => {
  expect(areEqual(stored as Message[], sent as Message[], ALL_RULES)).toBe(false)
})

test('A member that is null counts as missing, because templates do not see it', () => {
  const stored: readonly Message[] = [{ role: 'assistant', content: 'a' }]
  const members = { refusal: null, audio: undefined }
  const sent: readonly Message[] = [{ role: 'assistant', content: 'a', ...members }]
  expect(areEqual(stored, sent, new Set())).toBe(true)
  expect(rulesNeeded(stored, sent, ALL_RULES)).toEqual([])
})

test('Several rules are needed together, each with the first message that needs it', () => {
  const stored: readonly Message[] = [
    { role: 'user', content: 'a' },
    { ...calling('x'), reasoning: 'r' },
    result('x'),
    { ...calling('y'), reasoning: 'r' },
  ]
  const sent: readonly Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'a', ...MARK }] },
    calling('0', '{"a": 1}'),
    { role: 'tool', callId: '0', content: [{ type: 'text', text: 'r' }] },
    calling('1', '{"a": 1}'),
  ]
  expect(rulesNeeded(stored, sent, ALL_RULES)).toEqual([
    { rule: 'call-arguments', message: 2 },
    { rule: 'dropped-reasoning', message: 2 },
    { rule: 'call-ids', message: 2 },
    { rule: 'text-parts', message: 1 },
    { rule: 'cache-marks', message: 1 },
  ])
})

test('Arguments are equal whether or not their text was kept for its digits', () => {
  const sent: Message = { role: 'assistant', content: '', toolCalls: [{ ...call('x', { a: 1 }), json: '{"a": 1.0}' }] }
  expect(areEqual([calling('x', { a: 1 })], [sent], new Set())).toBe(true)
})

test('Only the recorded part of a longer history is compared', () => {
  const stored: readonly Message[] = [{ role: 'user', content: 'a' }]
  expect(rulesNeeded(stored, [{ role: 'user', content: 'a' }, result('x')], ALL_RULES)).toEqual([])
  expect(rulesNeeded([...stored, result('x')], stored, ALL_RULES)).toEqual([])
})

test('A normal history names the ids of calls in the order of their first occurrence', () => {
  const messages = [calling('x'), result('x'), { ...calling('y'), toolCalls: [call('y', {}), call('x', {})] }]
  for (const rules of [ALL_RULES, new Set<EqualityRule>()]) {
    const history = normalHistory(messages, rules, ['before'])
    expect([0, 1, 3].map(history.callIds)).toEqual([['before'], ['before', 'x'], ['before', 'x', 'y']])
    expect(() => history.form(3)).toThrow('message 3 of 3')
  }
})

test('Ids of calls are read and renamed in calls and results, and a call or result may have none', () => {
  const unnamed: readonly Message[] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'a' },
    { role: 'assistant', content: 'a', toolCalls: [{ name: 'f', input: {} }] },
    { role: 'tool', content: 'a' },
  ]
  expect(unnamed.flatMap(callIdsOf)).toEqual([])
  for (const message of unnamed) expect(withCallIds(message, () => 'z')).toBe(message)
  expect(areEqual(unnamed, unnamed, ALL_RULES)).toBe(true)
  const mixed: Reply = { role: 'assistant', content: '', toolCalls: [call('x', {}), { name: 'f', input: {} }] }
  expect([mixed, result('x')].map((message) => withCallIds(message, (id) => `${id}2`))).toEqual([
    { ...mixed, toolCalls: [call('x2', {}), { name: 'f', input: {} }] },
    result('x2'),
  ])
})

test('A history of 2,000 messages is read in time that grows with its length', () => {
  const messages = (count: number): readonly Message[] =>
    Array.from({ length: count }, (_, index) => [
      calling(`c${index}`, { text: 'x'.repeat(500) }),
      result(`c${index}`),
    ]).flat()
  const time = (count: number) => {
    const all = messages(count / 2)
    const before = process.threadCpuUsage()
    for (let round = 0; round < 8000 / count; round++) normalHistory(all, ALL_RULES).form(count - 1)
    return process.threadCpuUsage(before).user
  }
  time(2000)
  expect(time(4000)).toBeLessThan(8 * time(500) + 50_000)
})

/** Few messages, so that histories often begin alike. */
const message = fc.constantFrom<Message>(
  { role: 'user', content: 'a' },
  { role: 'assistant', content: '', toolCalls: [{ id: 'x', name: 'f', input: { a: 1 } }] },
  { role: 'assistant', content: '', toolCalls: [{ id: 'y', name: 'f', input: '{"a":1}' }] },
  { role: 'tool', callId: 'x', content: '1' },
  { role: 'tool', callId: 'y', content: '1' },
)

test.each([ALL_RULES, new Set<EqualityRule>()])(
  'A history that begins like the one before has the forms and the ids of one that is read anew (%o)',
  (rules) => {
    fc.assert(
      fc.property(fc.array(fc.array(message, { maxLength: 6 }), { minLength: 1, maxLength: 6 }), (histories) => {
        let grown: NormalHistory | undefined
        for (const messages of histories) {
          const before = grown
          grown = grownHistory(structuredClone(messages), rules, before)
          const anew = normalHistory(messages, rules)
          expect(grown.messages).toEqual(messages)
          for (const [index] of messages.entries()) {
            expect(grown.form(index)).toBe(anew.form(index))
            expect(grown.callIds(index)).toEqual(anew.callIds(index))
          }
          expect(grown.callIds(messages.length)).toEqual(anew.callIds(messages.length))
          if (before && messages[0] && isDeepStrictEqual(before.messages[0], messages[0]))
            expect(grown.messages[0]).toBe(before.messages[0])
        }
      }),
      { numRuns: runs(200) },
    )
  },
)
