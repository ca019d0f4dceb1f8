/** The routes of SGLang and MCP servers: the list, their state, and requests to them without a run. */
import { mcpServerEntrySchema, mcpServerListSchema, offeredToolsSchema } from '#lib/api/mcp-server.ts'
import { serverLoadSchema } from '#lib/api/server-load.ts'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { serverParsingSchema } from '#lib/api/server-parsing.ts'
import { serverEntrySchema, serverListSchema, serverStatusSchema } from '#lib/api/server-status.ts'
import { scoreAnswerSchema, scoreLineSchema, scoreRequestSchema } from '#lib/trajectory/scoring/score.ts'
import { EMPTY_BODY, endpoint, jsonBody, runJsonBody } from '../http/endpoint.ts'
import { ndjson } from '../http/ndjson.ts'
import { mcpServerInputSchema } from '../servers/mcp-servers.ts'
import { openScoring, scoreAtOnce, scoreLines } from '../servers/score.ts'
import { serverParsing, serverParsingRequestSchema } from '../servers/server-parsing.ts'
import { serverInputSchema, serverLoad, serverStatus } from '../servers/servers.ts'

/** Rows of SGLang and MCP servers. */
export const serverRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/servers',
    summary: 'Lists the inference servers.',
    answers: {
      200: {
        description: 'All servers.',
        schema: serverListSchema,
      },
    },
    handle: ({ services }) => ({ servers: services.servers.list(), default: services.servers.defaultName }),
  }),
  endpoint({
    method: 'POST',
    path: '/api/servers',
    summary: 'Saves a server.',
    body: jsonBody(serverInputSchema),
    answers: { 201: { description: 'Saved.', schema: serverEntrySchema } },
    handle: ({ body, services }) => services.servers.create(body),
  }),
  endpoint({
    method: 'PUT',
    path: '/api/servers/{name}',
    summary: 'Changes a saved server. Another origin drops its key.',
    body: jsonBody(serverInputSchema),
    answers: { 200: { description: 'Changed.', schema: serverEntrySchema } },
    handle: ({ params, body, services }) => services.servers.replace(params.name, body),
  }),
  endpoint({
    method: 'DELETE',
    path: '/api/servers/{name}',
    summary: 'Deletes a saved server and its key.',
    body: EMPTY_BODY,
    answers: { 204: { description: 'Deleted.' } },
    handle: ({ params, services }) => void services.servers.remove(params.name),
  }),
  endpoint({
    method: 'GET',
    path: '/api/servers/{name}/status',
    summary: 'Reports whether a server is ready, and what it serves.',
    answers: { 200: { description: 'The status of the server.', schema: serverStatusSchema } },
    handle: ({ params, services, signal }) =>
      serverStatus(services.servers.client(params.name), signal, () =>
        params.name === BUILT_IN ? services.localModel.downloads()[0] : undefined,
      ),
  }),
  endpoint({
    method: 'GET',
    path: '/api/servers/{name}/load',
    summary: 'Reports the load of a server, as far as the server reports it.',
    answers: { 200: { description: 'The queue and the cache of the server.', schema: serverLoadSchema } },
    handle: ({ params, services, signal }) => serverLoad(services.servers.client(params.name), signal),
  }),
  endpoint({
    method: 'POST',
    path: '/api/servers/{name}/parse',
    summary: 'Parses a text with the server’s own parsers (/parse_function_call, /separate_reasoning).',
    body: jsonBody(serverParsingRequestSchema),
    answers: { 200: { description: 'The answers of the server, or why there are none.', schema: serverParsingSchema } },
    handle: ({ params, body, services, signal }) => serverParsing(services.servers.client(params.name), body, signal),
  }),
  endpoint({
    method: 'GET',
    path: '/api/mcp-servers',
    summary: 'Lists the MCP servers whose tools runs may use.',
    answers: {
      200: { description: 'All servers.', schema: mcpServerListSchema },
    },
    handle: ({ services }) => ({ servers: services.mcpServers.list() }),
  }),
  endpoint({
    method: 'POST',
    path: '/api/mcp-servers',
    summary: 'Saves an MCP server by its URL. Programs can only be named in the file of ROLLSCOPE_MCP.',
    body: jsonBody(mcpServerInputSchema),
    answers: { 201: { description: 'Saved.', schema: mcpServerEntrySchema } },
    handle: ({ body, services }) => services.mcpServers.create(body),
  }),
  endpoint({
    method: 'DELETE',
    path: '/api/mcp-servers/{name}',
    summary: 'Deletes a saved MCP server and its key.',
    body: EMPTY_BODY,
    answers: { 204: { description: 'Deleted.' } },
    handle: ({ params, services }) => void services.mcpServers.remove(params.name),
  }),
  endpoint({
    method: 'GET',
    path: '/api/mcp-servers/{name}/tools',
    summary: 'Lists the tools of an MCP server. A server that is a program is started for this.',
    answers: {
      200: { description: 'The tools of the MCP server.', schema: offeredToolsSchema },
    },
    handle: async ({ params, services, signal }) => ({ tools: await services.mcpServers.tools(params.name, signal) }),
  }),
  endpoint({
    method: 'POST',
    path: '/api/score',
    summary: 'Computes prefill logprobs (temperature 1) of given ids on a server, without sampling.',
    body: runJsonBody(scoreRequestSchema),
    answers: {
      200: {
        description:
          'The scores. With `ranges` they are lines (application/x-ndjson): server, scores …, then done or failed.',
        schema: scoreAnswerSchema,
        lines: scoreLineSchema,
      },
    },
    handle: async ({ body, services, signal }) => {
      const scoring = await openScoring(body, services, signal)
      return body.ranges ? ndjson(scoreLines(scoring, signal)) : scoreAtOnce(scoring, signal)
    },
  }),
]
