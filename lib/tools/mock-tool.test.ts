import { expect, test } from 'vitest'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { mockToolSchema, toolListProblem } from './mock-tool.ts'

const problemOf = (names: readonly string[]) => toolListProblem(names.map((name) => ({ name })))

test('toolListProblem refuses names that cannot be distinguished', () => {
  expect(problemOf(['a', 'b', 'constructor', '__proto__'])).toBeUndefined()
  expect(problemOf(['a', 'b', 'a'])).toBe('there are two tools named "a"')
  const of = (server: string) => ({ name: 'a', mcp: { server } })
  expect(toolListProblem([of('x'), of('y')])).toBe(
    'there are two tools named "a": a tool of the MCP server x, a tool of the MCP server y',
  )
  expect(toolListProblem([{ name: 'a', mock: { reply: { kind: 'canned', text: '' } } }, of('y')])).toMatch(
    /: a mock tool, a tool of the MCP server y$/,
  )
  expect(toolListProblem([{ name: 'a' }, of('y')])).toMatch(/: a built-in tool, a tool of the MCP server y$/)
  expect(problemOf(['get-x', 'get_x'])).toBe('the tools "get-x" and "get_x" differ only in "-" and "_"')
})

test('mockToolSchema accepts only known fields, while files may have others', () => {
  const tool = { name: 'weather', inputSchema: {}, mock: { reply: { kind: 'canned', text: 'x' } } }
  const accepts = (value: unknown) => mockToolSchema.safeParse(value).success
  const delayed = { ...tool, mock: { ...tool.mock, delayMs: 5, failure: { kind: 'calls', calls: [1], error: 'e' } } }
  expect([accepts(tool), accepts(delayed)]).toEqual([true, true])
  const newer = { ...tool, mock: { ...tool.mock, weather: 'new' } }
  expect([accepts(newer), schemas.toolSpec.safeParse(newer).success]).toEqual([false, true])
  for (const name of ['', 'a b', 'x'.repeat(65), 'wétter']) expect(accepts({ ...tool, name })).toBe(false)
})
