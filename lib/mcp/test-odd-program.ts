/** Runs a handwritten MCP server with invalid answers. */
import { appendFileSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A schema of 20,000 levels, written by hand because JSON.stringify cannot nest this deeply. */
const DEEP = `${'{"type":"object","properties":{"a":'.repeat(20_000)}{}${'}}'.repeat(20_000)}`
const named = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more })

const tools: readonly unknown[] = [
  named('good'),
  named('good', { description: 'again' }),
  named('has space'),
  named('__proto__'),
  { inputSchema: { type: 'object' } },
  { name: 7, inputSchema: { type: 'object' } },
  { name: 'no-schema' },
  named('list-schema', { inputSchema: [] }),
  named('array-schema', { inputSchema: { type: 'array' } }),
  named('odd-schema', { inputSchema: { type: 'object', properties: { a: { type: 'strin' } } } }),
  named('far-schema', { inputSchema: { type: 'object', properties: { a: { $ref: 'http://x/y' } } } }),
  named('deep-schema', { inputSchema: 'DEEP' }),
  named('odd-output', { outputSchema: { type: 'object', properties: { a: { type: 'strin', pattern: '(' } } } }),
  named('output', { outputSchema: { type: 'object', required: ['a'] } }),
  'text',
  null,
  ...Array.from({ length: 200 }, (_, index) => named(`many_${index}`)),
  named('files.read/all'),
  named('files_read_all'),
  named(`${'x'.repeat(99)}1`),
  named(`${'x'.repeat(99)}2`),
]

const results: Readonly<Record<string, unknown>> = {
  text: { content: [{ type: 'text', text: 'x'.repeat(5_000_000) }] },
  huge: { content: [{ type: 'text', text: 'x'.repeat(11_000_000) }] },
  surrogate: { content: [{ type: 'text', text: 'a\ud800b' }] },
  blocks: {
    content: [
      { type: 'text' },
      { type: 'video', data: 'AAAA' },
      { type: 'image', data: '*** no base64', mimeType: 'image/png' },
      { type: 'image', data: 'AAAA' },
      { type: 'resource', resource: { uri: 'file:///x' } },
      { type: 'resource', resource: { uri: 'file:///x', text: 'whole' } },
      'text',
      null,
    ],
  },
  nothing: {},
  list: { content: 'text' },
  structured: { structuredContent: { a: 1 } },
  error: { content: [{ type: 'text', text: 'no' }], isError: true },
  old: { toolResult: { a: 1 } },
  'files.read/all': { content: [{ type: 'text', text: 'read' }] },
}

const pages: Readonly<Record<string, object>> = {
  endless: { tools: [], nextCursor: 'more' },
  countless: { tools, nextCursor: 'more' },
}

/** Returns a list, and ends the program at the second request for it. The file counts the requests of all processes. */
function listOnce(file: string): object {
  appendFileSync(file, 'list\n')
  if (readFileSync(file, 'utf8').split('\n').length === 3) process.exit(1)
  return { tools: [named('good')] }
}

const reply = (id: number, result: unknown) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result }).replace('"DEEP"', DEEP)}\n`)

/** Writes notifications and lines that are no messages as fast as they are read. */
function flood(): void {
  const lines = `${'{"jsonrpc":"2.0","method":"notifications/odd"}\n'.repeat(50)}${'[1]\n'.repeat(50)}`
  if (process.stdout.write(lines)) setImmediate(flood)
  else process.stdout.once('drain', flood)
}

for await (const line of createInterface(process.stdin)) {
  const { id, method, params } = JSON.parse(line)
  // Some programs write logs to their standard output.
  if (method === 'initialize') {
    process.stdout.write('starting …\n')
    reply(id, {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'odd', version: '0' },
    })
  } else if (method === 'tools/list') {
    if (process.argv[2] === 'floods') flood()
    reply(id, process.argv[3] ? listOnce(process.argv[3]) : (pages[process.argv[2] ?? ''] ?? { tools }))
  } else if (method === 'tools/call') reply(id, results[(params.arguments.of ?? params.name) as string])
}
