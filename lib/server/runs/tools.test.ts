import { expect, test } from 'vitest'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { httpRefusalOf } from '#testing/http-problem.ts'
import { noMcpServers } from '#testing/services.ts'
import { plainTool } from './built-in-tools.ts'
import { checkTools, chosenTools, requestedToolSchema, runnableTools } from './tools.ts'

const sources = { builtInTools: [plainTool(calculator)], mcpServers: noMcpServers }
const signal = new AbortController().signal

const mock = (changes: object = {}): MockTool => ({
  name: 'weather',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  mock: { reply: { kind: 'canned', text: 'Sunny.' } },
  ...changes,
})

test('The tools of a request keep their order, whether they are named or defined', async () => {
  const chosen = await chosenTools([mock(), 'calculator'], sources, signal)
  expect(chosen.map(({ name }) => name)).toEqual(['weather', 'calculator'])
  expect(await chosenTools([mock()], sources, signal)).toEqual([mock()])
})

test.each([
  [{ ...mock(), inputSchema: 'text' }, 'inputSchema: expected an object, found "text"'],
  [{ ...mock(), inputSchema: [] }, /^inputSchema: expected an object/],
  [{ name: 'a', kind: 'mock', inputSchema: {} }, 'mock: expected an object, found nothing'],
  [{ name: 'a', mock: {} }, 'inputSchema: expected an object, found nothing'],
  [{ mcp: 5, name: 'a' }, 'mcp: expected a string, found 5'],
  [{ ...mock(), name: 'a b' }, /^name: expected a name of 1 to 64/],
  [{ ...mock(), run: 'rm -rf /' }, /^expected no key "run"/],
])('A wrong tool is reported with the error of the closest kind of tool: %#', (asked, why) => {
  const { error } = requestedToolSchema.safeParse(asked)
  expect(error && violationText(schemaViolation(error, asked))).toMatch(why)
})

test('A mock tool replaces the built-in tool of its name', async () => {
  const own = mock({ name: 'calculator' })
  expect(await chosenTools(['calculator', own], sources, signal)).toEqual([own])
  const context = {
    signal: new AbortController().signal,
    number: 1,
    hold() {},
    untimed: <T>(waiting: Promise<T>) => waiting,
  }
  await expect(runnableTools([own], sources)[0]?.run({}, context)).resolves.toBe('Sunny.')
})

test.each<[readonly (string | MockTool)[], string, string]>([
  [['search'], 'NO_TOOL', 'there is no tool named "search"'],
  [[mock(), mock()], 'BAD_TOOL', 'there are two tools named "weather"'],
  [['calculator', 'calculator'], 'BAD_TOOL', 'there are two tools named "calculator"'],
  [
    [mock({ inputSchema: { properties: { city: { type: 'strin' } } } })],
    'BAD_TOOL',
    'the input schema of the tool "weather": properties.city.type: expected one of string, number, integer, boolean, object, array, null, found "strin"',
  ],
  [
    [mock({ inputSchema: { properties: { city: { $ref: 'http://x/y' } } } })],
    'BAD_TOOL',
    'the input schema of the tool "weather": properties.city.$ref: expected a position in this schema, for example #/$defs/name, found "http://x/y"',
  ],
])('A tool that cannot be used is refused before anything starts: %#', async (asked, code, detail) => {
  expect(await httpRefusalOf(() => chosenTools(asked, sources, signal))).toEqual([422, code, detail])
})

test.each<[ToolSpec, string]>([
  [
    mock({ name: 'a b' }),
    'the mock tool "a b": name: expected a name of 1 to 64 letters, digits, "_" or "-", found "a b"',
  ],
  [
    mock({ mock: { ...mock().mock, script: 'rm -rf /' } }),
    'the mock tool "weather": mock: expected no key "script", found an object with reply, script',
  ],
])('A mock tool from a file is checked like one from a request: %#', async (spec, detail) => {
  expect(await httpRefusalOf(() => runnableTools([spec], sources))).toEqual([422, 'BAD_TOOL', detail])
})

test('A tool that this machine cannot run is refused before a run starts, unless it is a mock of that name', async () => {
  const off = {
    ...sources,
    builtInTools: [{ ...plainTool(calculator), check: async () => 'there is no such machine' }],
  }
  await expect(checkTools([calculator.spec], off)).rejects.toMatchObject({
    details: {
      status: 422,
      code: 'TOOL_OFF',
      detail: 'the tool calculator is not available: there is no such machine',
    },
  })
  await expect(checkTools([mock({ name: 'calculator' })], off)).resolves.toBeUndefined()
  await expect(checkTools([calculator.spec], sources)).resolves.toBeUndefined()
})
