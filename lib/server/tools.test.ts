import { expect, test } from 'vitest'
import type { MockTool } from '#lib/core/mock-tool.ts'
import type { ToolSpec } from '#lib/core/trajectory.ts'
import { Problem } from './problem.ts'
import { chosenTools, runnableTools } from './tools.ts'

const mock = (changes: object = {}): MockTool => ({
  name: 'weather',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  mock: { reply: { kind: 'canned', text: 'Sunny.' } },
  ...changes,
})
const problem = (action: () => unknown) => {
  try {
    action()
  } catch (error) {
    if (error instanceof Problem) return [error.details.status, error.details.code, error.details.detail]
    throw error
  }
  return undefined
}

test('tools are named or defined, in the order in which they were asked for', () => {
  expect(chosenTools([mock(), 'calculator']).map(({ name }) => name)).toEqual(['weather', 'calculator'])
  expect(chosenTools([mock()])).toEqual([mock()])
})

test('a mock named like a built-in tool stands in its place', async () => {
  const own = mock({ name: 'calculator' })
  expect(chosenTools(['calculator', own])).toEqual([own])
  await expect(runnableTools([own])[0]?.run({}, { signal: new AbortController().signal, number: 1 })).resolves.toBe(
    'Sunny.',
  )
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
    'the input schema of the tool "weather": properties.city.$ref: expected a place in this schema, for example #/$defs/name, found "http://x/y"',
  ],
])('what cannot be offered is refused before anything starts: %#', (asked, code, detail) => {
  expect(problem(() => chosenTools(asked))).toEqual([422, code, detail])
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
])('a mock from a file is held to what a request is: %#', (spec, detail) => {
  expect(problem(() => runnableTools([spec]))).toEqual([422, 'BAD_TOOL', detail])
})
