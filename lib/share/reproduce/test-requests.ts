/** This file contains the requests and tools that the tests of this folder share. */
import type { RunRequest } from '#lib/api/run-request.ts'

/** Address of a server. */
export const BASE = { baseUrl: 'http://127.0.0.1:30000' }
/** A mock tool. */
export const weather = {
  name: 'weather',
  description: 'It’s "the" weather',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } } },
  mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}: {{.}}' } },
} as const
/** A tool of the application. */
export const addTool = {
  name: 'add',
  description: 'Adds',
  inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
}
/** A tool of an MCP server. */
export const searchTool = {
  name: 'search',
  description: 'Searches files',
  inputSchema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
  mcp: { server: 'files' },
}
/** A request that has most fields. */
export const whole: RunRequest = {
  prompt: 'What is 2 + 2?',
  system: 'S',
  tools: ['calculator', weather, 'search'],
  parser: 'qwen_xml',
  tokenizer: 'Qwen/Qwen3-8B',
  templateOptions: { enable_thinking: false, date: 'today' },
  chatTemplate: "{{ 'x' }}\n",
  sampling: { temperature: 0, max_new_tokens: 8 },
  limits: { maxToolIterations: 2, maxTokens: 99 },
}
