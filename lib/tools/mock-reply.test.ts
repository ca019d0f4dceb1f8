import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Mock } from '#lib/tools/tool-spec.ts'
import { failureAt, replyTo } from './mock-reply.ts'

const templated = (template: string, input: unknown) => replyTo({ reply: { kind: 'templated', template } }, input)

describe('replyTo with a templated reply', () => {
  const input = { city: 'Rome', days: 3, ok: true, none: null, at: { lat: 41.9, tags: ['a', { b: 'c' }] }, '': 'empty' }
  test.each([
    ['Sunny in {{city}}.', 'Sunny in Rome.'],
    ['{{ city }}{{city}}', 'RomeRome'],
    ['{{days}} {{ok}} {{none}}', '3 true null'],
    ['{{at.lat}} {{at.tags.0}} {{at.tags.1.b}}', '41.9 a c'],
    ['{{at.tags}}', '["a",{"b":"c"}]'],
    ['{{.}}', JSON.stringify(input)],
    ['{{town}}', '[missing: town]'],
    ['{{city.x}} {{at.tags.7}} {{none.x}}', '[missing: city.x] [missing: at.tags.7] [missing: none.x]'],
    [
      '{{constructor}} {{__proto__}} {{at.tags.length}} {{city.length}}',
      '[missing: constructor] [missing: __proto__] [missing: at.tags.length] [missing: city.length]',
    ],
    ['{{}}', 'empty'],
    ['{{city', '{{city'],
    ['{city} }} {{{city}}}', '{city} }} {Rome}'],
    ['{{{{city}}}}', '{{Rome}}'],
  ])('renders %s', (template, expected) => {
    expect(templated(template, input)).toBe(expected)
  })

  test('does not render inserted text again', () => {
    expect(templated('{{a}}', { a: '{{b}}', b: 'no' })).toBe('{{b}}')
  })

  test('cuts a reply that would fill the memory, and notes the cut', () => {
    const reply = templated('{{.}}'.repeat(20_000), { a: 'x'.repeat(50_000) })
    expect(reply).toMatch(/\[cut after 200000 characters\]$/)
    expect(reply.length).toBeLessThan(200_100)
    expect(templated(`${'{{a}}'.repeat(2)}`, { a: 'x'.repeat(100_000) })).toHaveLength(200_000)
  })

  test('returns a deterministic reply for every template and input', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^(\{\{|\}\}|\.|a|\[|0| )*$/)),
        fc.jsonValue(),
        (template, value) => {
          const reply = templated(template, value)
          expect(templated(template, value)).toBe(reply)
          if (!template.includes('{{')) expect(reply).toBe(template)
        },
      ),
    )
  })
})

test('replyTo returns a canned reply unchanged', () => {
  expect(replyTo({ reply: { kind: 'canned', text: '{{city}}' } }, { city: 'Rome' })).toBe('{{city}}')
})

test('failureAt returns the error for the calls that must fail, by their number', () => {
  const reply = { kind: 'canned', text: '' } as const
  const failing = (failure: Mock['failure']) =>
    [1, 2, 3, 4, 5, 6].filter((n) => failureAt({ reply, ...(failure && { failure }) }, n) === 'down')
  expect(failing(undefined)).toEqual([])
  expect(failing({ kind: 'always', error: 'down' })).toEqual([1, 2, 3, 4, 5, 6])
  expect(failing({ kind: 'calls', calls: [1, 4], error: 'down' })).toEqual([1, 4])
  expect(failing({ kind: 'every', nth: 3, error: 'down' })).toEqual([3, 6])
  expect(() => failing({ kind: 'odd' } as never)).toThrow('unreachable')
})
