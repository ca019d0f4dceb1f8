/** SGLang and MCP servers: which there are, how they stand, and what they are asked without a run. */
import * as z from 'zod'
import { mcpServerEntrySchema, offeredToolSchema } from '#lib/api/mcp-server.ts'
import { serverLoadSchema } from '#lib/api/server-load.ts'
import { serverParsingSchema } from '#lib/api/server-parsing.ts'
import { serverEntrySchema, serverStatusSchema } from '#lib/api/server-status.ts'
import { scoreAnswerSchema, scoreRequestSchema } from '#lib/trajectory/scoring/score.ts'
import { mcpServerInputSchema } from '../servers/mcp-servers.ts'
import { serverParsingRequestSchema } from '../servers/server-parsing.ts'
import { serverInputSchema } from '../servers/servers.ts'
import type { Operation } from './operation.ts'

export const serverOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/servers',
    summary: 'The SGLang servers that may be called.',
    answers: {
      200: {
        description: 'All of them.',
        schema: z.object({ servers: z.array(serverEntrySchema), default: z.string() }),
      },
    },
  },
  {
    method: 'post',
    path: '/api/servers',
    summary: 'Saves a server.',
    body: { type: 'application/json', schema: serverInputSchema },
    answers: { 201: { description: 'Saved.', schema: serverEntrySchema } },
  },
  {
    method: 'put',
    path: '/api/servers/{name}',
    summary: 'Changes a saved server. Another origin drops its key.',
    body: { type: 'application/json', schema: serverInputSchema },
    answers: { 200: { description: 'Changed.', schema: serverEntrySchema } },
  },
  {
    method: 'delete',
    path: '/api/servers/{name}',
    summary: 'Forgets a saved server and its key.',
    body: { type: 'application/json', schema: 'empty' },
    answers: { 204: { description: 'Forgotten.' } },
  },
  {
    method: 'get',
    path: '/api/servers/{name}/status',
    summary: 'Whether a server is up, and what it serves.',
    answers: { 200: { description: 'How it stands.', schema: serverStatusSchema } },
  },
  {
    method: 'get',
    path: '/api/servers/{name}/load',
    summary: 'What a server is busy with, as far as it tells.',
    answers: { 200: { description: 'Its queue and its cache.', schema: serverLoadSchema } },
  },
  {
    method: 'post',
    path: '/api/servers/{name}/parse',
    summary: 'What a server’s own parsers make of a text (/parse_function_call, /separate_reasoning).',
    body: { type: 'application/json', schema: serverParsingRequestSchema },
    answers: { 200: { description: 'Its answers, or why there are none.', schema: serverParsingSchema } },
  },
  {
    method: 'get',
    path: '/api/mcp-servers',
    summary: 'The MCP servers whose tools runs may have.',
    answers: {
      200: { description: 'All of them.', schema: z.object({ servers: z.array(mcpServerEntrySchema) }) },
    },
  },
  {
    method: 'post',
    path: '/api/mcp-servers',
    summary: 'Saves an MCP server by its URL. Programs are named in the file of ROLLSCOPE_MCP alone.',
    body: { type: 'application/json', schema: mcpServerInputSchema },
    answers: { 201: { description: 'Saved.', schema: mcpServerEntrySchema } },
  },
  {
    method: 'delete',
    path: '/api/mcp-servers/{name}',
    summary: 'Forgets a saved MCP server and its key.',
    body: { type: 'application/json', schema: 'empty' },
    answers: { 204: { description: 'Forgotten.' } },
  },
  {
    method: 'get',
    path: '/api/mcp-servers/{name}/tools',
    summary: 'What an MCP server offers; a program is started for it.',
    answers: {
      200: { description: 'Its tools.', schema: z.object({ tools: z.array(offeredToolSchema) }) },
    },
  },
  {
    method: 'post',
    path: '/api/score',
    summary: 'Prefill logprobs (temperature 1) of given ids, from a server that reads them and writes nothing.',
    body: { type: 'application/json', schema: scoreRequestSchema },
    answers: {
      200: {
        description: 'The scores; with `ranges` as lines (application/x-ndjson): server, scores …, and done or failed.',
        schema: scoreAnswerSchema,
      },
    },
  },
]
