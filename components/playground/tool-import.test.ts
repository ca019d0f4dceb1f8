import { expect, test } from 'vitest'
import { sampleInput } from './sample-input.ts'
import { foreignSpec } from './tool-import.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const tool = { name: 'weather', description: 'The weather.' }

test.each<[string, object]>([
  ['OpenAI', { type: 'function', function: { ...tool, parameters: schema, strict: true } }],
  ['OpenAI (Responses)', { type: 'function', ...tool, parameters: schema }],
  ['Strands', { toolSpec: { ...tool, inputSchema: { json: schema } } }],
  ['Strands', { toolSpec: { ...tool, inputSchema: schema } }],
  ['MCP', { ...tool, title: 'Weather', inputSchema: schema }],
  ['Anthropic', { ...tool, input_schema: schema }],
])('a tool in the form of %s is read', (form, spec) => {
  expect(foreignSpec(JSON.stringify(spec))).toEqual({ form, ...tool, inputSchema: schema })
})

test('one without description or arguments too', () => {
  expect(foreignSpec('{"type": "function", "function": {"name": "ping"}}')).toEqual({
    form: 'OpenAI',
    name: 'ping',
    description: '',
    inputSchema: { type: 'object', properties: {} },
  })
})

test.each(['', 'Rome', '{"type": "object", "properties": {}}', '[]', '{"name": "x"}', '5'])('%j is text', (text) => {
  expect(foreignSpec(text)).toBeUndefined()
})

test('arguments to try a reply with follow the schema', () => {
  expect(
    sampleInput({
      type: 'object',
      properties: {
        city: { type: 'string' },
        unit: { enum: ['C', 'F'] },
        days: { type: 'integer', minimum: 3 },
        share: { type: ['number', 'null'] },
        deep: { properties: { tags: { type: 'array', items: { type: 'boolean' } } } },
        at: { type: 'string', examples: ['10:00'] },
        fixed: { const: null },
        odd: { $ref: '#/x' },
      },
    }),
  ).toEqual({
    city: 'city',
    unit: 'C',
    days: 3,
    share: 1,
    deep: { tags: [true] },
    at: '10:00',
    fixed: null,
    odd: {},
  })
  const endless: Record<string, unknown> = { type: 'array' }
  endless.items = endless
  expect(JSON.stringify(sampleInput(endless))).toBe('[[[[[[[[[{}]]]]]]]]]')
})
