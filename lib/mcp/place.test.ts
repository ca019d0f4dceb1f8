import { expect, test } from 'vitest'
import { serverPlacesIn } from './place.ts'

test('The MCP file reader reads the servers of a file in the common notation', () => {
  const file = {
    mcpServers: {
      files: { command: 'npx', args: ['-y', 'server-files', '/tmp'], env: { MODE: 'ro' }, disabled: false },
      search: { type: 'http', url: 'https://example.com/mcp', headers: { 'x-key': 'k' } },
    },
    other: 1,
  }
  expect(serverPlacesIn(JSON.stringify(file))).toEqual([
    {
      name: 'files',
      place: {
        kind: 'stdio',
        command: 'npx',
        args: ['-y', 'server-files', '/tmp'],
        env: { MODE: 'ro' },
        cwd: undefined,
      },
    },
    { name: 'search', place: { kind: 'http', url: 'https://example.com/mcp', headers: { 'x-key': 'k' } } },
  ])
})

test.each([
  ['{', /JSON/],
  ['{}', /mcpServers/],
  ['{"mcpServers": {"a": {}}}', /mcpServers\.a: expected either "command" or "url"/],
  ['{"mcpServers": {"a": {"command": "x", "url": "http://y"}}}', /mcpServers\.a: expected either/],
  ['{"mcpServers": {"a": {"command": "x", "args": [1]}}}', /mcpServers\.a\.args\[0\]/],
  ['{"mcpServers": {"a/b": {"command": "x"}}}', /a\/b/],
])('The MCP file reader refuses %s and names the position', (text, why) => {
  expect(() => serverPlacesIn(text)).toThrow(why)
})
