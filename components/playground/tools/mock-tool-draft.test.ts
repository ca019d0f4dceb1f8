import { describe, expect, test } from 'vitest'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import { FIRST_DRAFT, type MockToolDraft, mockToolDraftOf, toolOf } from './mock-tool-draft.ts'

const errors = (changes: Partial<MockToolDraft>, others: readonly string[] = []) => {
  const meant = toolOf({ ...FIRST_DRAFT, ...changes }, others)
  return meant.ok ? {} : meant.errors
}

test('the first draft of a mock tool can be saved unchanged', () => {
  expect(toolOf(FIRST_DRAFT, [])).toMatchObject({
    ok: true,
    tool: { name: 'get_weather', mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } } },
  })
})

const inputSchema = { type: 'object', properties: {} }
test.each<[MockTool]>([
  [{ name: 'a', inputSchema, mock: { reply: { kind: 'canned', text: '{{x}}' } } }],
  [{ name: 'a', description: 'b', inputSchema, mock: { reply: { kind: 'templated', template: '' }, delayMs: 5 } }],
  [{ name: 'a', inputSchema, mock: { reply: { kind: 'canned', text: '' }, failure: { kind: 'always', error: 'e' } } }],
  [
    {
      name: 'a',
      inputSchema,
      mock: { reply: { kind: 'canned', text: '' }, failure: { kind: 'calls', calls: [1, 12], error: 'e' } },
    },
  ],
  [
    {
      name: 'a',
      inputSchema,
      mock: { reply: { kind: 'canned', text: '' }, failure: { kind: 'every', nth: 3, error: 'e' } },
    },
  ],
])('a mock tool that is opened and saved is unchanged, case %#', (tool) => {
  expect(toolOf(mockToolDraftOf(tool), [])).toEqual({ ok: true, tool })
})

describe('toolOf reports an invalid draft at its field', () => {
  test.each<[Partial<MockToolDraft>, keyof MockToolDraft, string]>([
    [{ name: 'get weather' }, 'name', 'must be a name of 1 to 64 letters, digits, "_" or "-"'],
    [{ name: '' }, 'name', 'must be a name of 1 to 64 letters, digits, "_" or "-"'],
    [{ name: 'other' }, 'name', 'there are two tools named "other"'],
    [{ schema: '{\n"type" "object"}' }, 'schema', 'line 2: """ where ":" is expected'],
    [
      { schema: '{\n"type": "object",\n"properties": {\n"a": {"type": "strin"}}}' },
      'schema',
      'line 4: properties.a.type: expected one of string, number, integer, boolean, object, array, null, found "strin"',
    ],
    [{ schema: '[]' }, 'schema', 'line 1: expected an object, found an array of 0'],
    [{ delayMs: 'long' }, 'delayMs', 'must be a number'],
    [{ delayMs: '-1' }, 'delayMs', 'must be at least 0'],
    [{ delayMs: '600001' }, 'delayMs', 'must be at most 600000'],
    [{ failureKind: 'calls', failing: '1, x' }, 'failing', 'must be numbers of calls from 1, for example 1, 3'],
    [{ failureKind: 'calls', failing: '' }, 'failing', 'must be numbers of calls from 1, for example 1, 3'],
    [{ failureKind: 'every', failing: '1' }, 'failing', 'must be a whole number from 2'],
    [{ failureKind: 'always', error: '' }, 'error', 'must be a text of at least 1 characters'],
    [{ reply: 'x'.repeat(100_001) }, 'reply', 'must be a text of at most 100000 characters'],
  ])('case %#', (changes, field, message) => {
    expect(errors(changes, ['other'])).toEqual({ [field]: message })
  })
})
