import { describe, expect, test } from 'vitest'
import { sampleInput } from '../prompt/sample-input.ts'
import { foreignSpec, foreignSpecs } from './tool-import.ts'

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const tool = { name: 'weather', description: 'The weather.' }

test.each<[string, object]>([
  ['OpenAI', { type: 'function', function: { ...tool, parameters: schema, strict: true } }],
  ['OpenAI (Responses)', { type: 'function', ...tool, parameters: schema }],
  ['Strands', { toolSpec: { ...tool, inputSchema: { json: schema } } }],
  ['Strands', { toolSpec: { ...tool, inputSchema: schema } }],
  ['MCP', { ...tool, title: 'Weather', inputSchema: schema }],
  ['Anthropic', { ...tool, input_schema: schema }],
])('foreignSpec reads a tool in the form of %s', (form, spec) => {
  expect(foreignSpec(JSON.stringify(spec))).toEqual({ form, ...tool, inputSchema: schema })
})

test('a tool without description and arguments is read', () => {
  expect(foreignSpec('{"type": "function", "function": {"name": "ping"}}')).toEqual({
    form: 'OpenAI',
    name: 'ping',
    description: '',
    inputSchema: { type: 'object', properties: {} },
  })
})

test.each(['', 'Rome', '{"type": "object", "properties": {}}', '[]', '{"name": "x"}', '5'])(
  'foreignSpec finds no tool in %j',
  (text) => {
    expect(foreignSpec(text)).toBeUndefined()
  },
)

test('sampleInput returns arguments that follow the schema', () => {
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

describe('foreignSpecs', () => {
  const strands = { toolSpec: { ...tool, inputSchema: { json: schema } } }
  const openai = { type: 'function', function: { name: 'ping' } }
  test.each<[string, unknown]>([
    ['a list, of any forms', [strands, openai]],
    ['a request', { model: 'm', tools: [strands, openai] }],
    ['a tool configuration', { toolConfig: { tools: [strands, openai] } }],
    ['an answer of an MCP server', { jsonrpc: '2.0', id: 1, result: { tools: [strands, openai] } }],
  ])('reads all tools of %s', (_what, value) => {
    const read = foreignSpecs(JSON.stringify(value))
    expect(read.ok && read.specs.map(({ name, form }) => [name, form])).toEqual([
      ['weather', 'Strands'],
      ['ping', 'OpenAI'],
    ])
  })

  test('reads a single tool', () => {
    expect(foreignSpecs(JSON.stringify(strands))).toMatchObject({ ok: true, specs: [{ name: 'weather' }] })
  })

  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'the list of tools is empty'],
    ['{"tools": []}', 'the list of tools is empty'],
    ['{"name": 5}', /^it is no tool in the form of OpenAI, .*Anthropic$/],
    [JSON.stringify([strands, 5]), /^entry 1 is no tool/],
  ])('refuses %s with the reason', (text, why) => {
    expect(foreignSpecs(text)).toEqual({ ok: false, why: expect.stringMatching(why) })
  })
})
