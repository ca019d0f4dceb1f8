/** The description of the HTTP interface (OpenAPI 3.1), from the schemas that check its requests. */
import * as z from 'zod'
import { rolloutEventSchema } from '#lib/core/events.ts'
import { healthSchema } from '#lib/core/health.ts'
import { choicesSchema, pageSchema, SORT_COLUMNS, summarySchema } from '#lib/core/library.ts'
import { scoreAnswerSchema, scoreRequestSchema } from '#lib/core/score.ts'
import { serverLoadSchema } from '#lib/core/server-load.ts'
import { serverParsingSchema } from '#lib/core/server-parsing.ts'
import { serverEntrySchema, serverStatusSchema } from '#lib/core/server-status.ts'
import { templateCheckSchema } from '#lib/core/template-check.ts'
import { downloadSchema } from '#lib/core/tokenizer-download.ts'
import { trajectorySchema } from '#lib/core/trajectory.ts'
import { formats, writableFormats } from '#lib/formats/registry.ts'
import { DEFAULT_PARSER } from '#lib/parsers/registry.ts'
import { tokenizerFilesSchema } from '#lib/tokenizer-files/tokenizer-files.ts'
import { capabilitiesSchema } from './capabilities.ts'
import { exportRequestSchema } from './export.ts'
import { tokenizerChoiceSchema } from './import.ts'
import { labelChangeSchema } from './library.ts'
import { parseAnswerSchema, parseRequestSchema } from './parse.ts'
import { renderAnswerSchema, renderRequestSchema } from './render.ts'
import { continueRequestSchema, rolloutRequestSchema } from './rollouts.ts'
import { serverParsingRequestSchema } from './server-parsing.ts'
import { serverInputSchema } from './servers.ts'
import { checkRequestSchema } from './template-check.ts'
import { doctorAnswerSchema, doctorRequestSchema } from './template-doctor.ts'
import { loadingSchema, tokenizerRequestSchema } from './tokenizers.ts'

interface Operation {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As the routes are named: {name} for a parameter. */
  readonly path: string
  readonly summary: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Body
  readonly answers: Readonly<Record<number, Answer>>
  readonly access?: 'none'
}

type Body =
  | { readonly type: 'application/json'; readonly schema: z.ZodType | 'empty' }
  | { readonly type: 'application/octet-stream'; readonly description: string }
interface Answer {
  readonly description: string
  readonly type?: string
  readonly schema?: z.ZodType
}

const rolloutStarted = z.object({ rolloutId: z.string(), trajectoryId: z.string() })
const events: Answer = {
  description: 'One RolloutEvent a line, until the rollout has ended.',
  type: 'application/x-ndjson',
  schema: rolloutEventSchema,
}

export const operations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/health',
    summary: 'Whether Rollscope runs.',
    access: 'none',
    answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ok'), version: z.string() }) } },
  },
  {
    method: 'get',
    path: '/api/capabilities',
    summary: 'Parsers and tools that there are.',
    answers: { 200: { description: 'Their names.', schema: capabilitiesSchema } },
  },
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
  {
    method: 'post',
    path: '/api/parse',
    summary: 'Tool calls in a text, as each parser finds them, and what it leaves and drops.',
    body: { type: 'application/json', schema: parseRequestSchema },
    answers: { 200: { description: 'What each parser found.', schema: parseAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/render',
    summary: 'A conversation through a chat template: text, ids, and the line and message that each token comes from.',
    body: { type: 'application/json', schema: renderRequestSchema },
    answers: { 200: { description: 'The render, token by token.', schema: renderAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/doctor',
    summary: 'Whether a chat template keeps what the model wrote, turn after turn.',
    body: { type: 'application/json', schema: doctorRequestSchema },
    answers: { 200: { description: 'A verdict for every boundary.', schema: doctorAnswerSchema } },
  },
  {
    method: 'post',
    path: '/api/templates/check',
    summary: 'Holds a render against another renderer: the server’s own template, or the user’s Python.',
    body: { type: 'application/json', schema: checkRequestSchema },
    answers: { 200: { description: 'What it says, and which one was asked.', schema: templateCheckSchema } },
  },
  {
    method: 'get',
    path: '/api/tokenizers',
    summary: 'Tokenizers that are being downloaded from the Hub.',
    answers: { 200: { description: 'How far each is.', schema: z.object({ downloads: z.array(downloadSchema) }) } },
  },
  {
    method: 'post',
    path: '/api/tokenizers',
    summary: 'Loads a tokenizer, from the Hub where this machine has it not. Closing the connection gives it up.',
    body: { type: 'application/json', schema: tokenizerRequestSchema },
    answers: {
      200: {
        description: 'One line for each step of a download, and a last one: ready or failed.',
        type: 'application/x-ndjson',
        schema: loadingSchema,
      },
    },
  },
  {
    method: 'get',
    path: '/api/tokenizers/files',
    summary: 'The files of a tokenizer that can be loaded, for programs that encode themselves. Has an ETag.',
    query: { name: 'Hub name, or a folder under ROLLSCOPE_TOKENIZERS.' },
    answers: {
      200: { description: 'Their texts.', schema: tokenizerFilesSchema },
      304: { description: 'As they were (If-None-Match).' },
    },
  },
  {
    method: 'post',
    path: '/api/rollouts',
    summary: 'Runs an agent. Without "detached" it stops when the connection closes.',
    body: { type: 'application/json', schema: rolloutRequestSchema },
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: rolloutStarted } },
  },
  {
    method: 'get',
    path: '/api/rollouts/{id}/events',
    summary: 'The events of a rollout.',
    query: { from: 'Number of the first event; 0 unless given.' },
    answers: { 200: events },
  },
  {
    method: 'post',
    path: '/api/rollouts/{id}/cancel',
    summary: 'Stops a rollout; what was generated stays.',
    body: { type: 'application/json', schema: 'empty' },
    answers: { 200: { description: 'It has ended.' } },
  },
  {
    method: 'get',
    path: '/api/trajectories',
    summary: 'Stored trajectories, page by page.',
    query: {
      q: 'Words that must all stand in title, first question (its first 4,000 characters), tags, note, model or outcome.',
      outcome: 'running, ended or failed, or a reason or code such as length.',
      tag: 'A tag that they must have; may be given several times.',
      source: 'rollout, import, fork or recorded; import:{format} for one format of files.',
      health: 'problems (errors or warnings), none, drift, or unchecked.',
      sort: `${SORT_COLUMNS.join(', ')}. added unless given.`,
      order: 'asc or desc. desc unless given, but asc for titles. Unknown values come last either way.',
      limit: 'At most 200; 50 unless given.',
      cursor: '`next` or `previous` of another page with the same sort and order.',
    },
    answers: {
      200: {
        description: 'A page.',
        schema: pageSchema,
      },
    },
  },
  {
    method: 'get',
    path: '/api/library',
    summary: 'What stored trajectories can be filtered by.',
    answers: {
      200: {
        description: 'Outcomes, sources and tags that occur.',
        schema: choicesSchema,
      },
    },
  },
  {
    method: 'get',
    path: '/api/trajectories/{key}',
    summary: 'One stored trajectory.',
    answers: { 200: { description: 'The trajectory.', schema: trajectorySchema } },
  },
  {
    method: 'get',
    path: '/api/trajectories/{key}/health',
    summary: 'What is wrong with a stored trajectory, and what could not be told. At most 200 places of each finding.',
    answers: { 200: { description: 'Findings and checks.', schema: healthSchema } },
  },
  {
    method: 'patch',
    path: '/api/trajectories/{key}',
    summary: 'Changes title, tags, note or reward, in mid-run too.',
    body: { type: 'application/json', schema: labelChangeSchema },
    answers: { 200: { description: 'Its row in the list.', schema: summarySchema } },
  },
  {
    method: 'delete',
    path: '/api/trajectories/{key}',
    summary: 'Deletes a trajectory that is not running. For a day at least it can be restored.',
    body: { type: 'application/json', schema: 'empty' },
    answers: { 204: { description: 'Deleted.' } },
  },
  {
    method: 'post',
    path: '/api/trajectories/{key}/restore',
    summary: 'Brings a deleted trajectory back.',
    body: { type: 'application/json', schema: 'empty' },
    answers: { 200: { description: 'Its row in the list.', schema: summarySchema } },
  },
  {
    method: 'post',
    path: '/api/trajectories/{key}/continue',
    summary: 'A further turn on the same tokens.',
    body: { type: 'application/json', schema: continueRequestSchema },
    answers: { 200: events, 201: { description: 'Detached: it runs; follow its events.', schema: rolloutStarted } },
  },
  {
    method: 'get',
    path: '/api/trajectories/{key}/export',
    summary: 'One trajectory as a file.',
    query: { format: `One of ${writableFormats.map(({ name }) => name).join(', ')}; rollscope unless given.` },
    answers: { 200: { description: 'The file.', schema: z.looseObject({}) } },
  },
  {
    method: 'post',
    path: '/api/export',
    summary: 'Several trajectories as one file, a line each.',
    body: { type: 'application/json', schema: exportRequestSchema },
    answers: { 200: { description: 'The file.', type: 'application/x-ndjson', schema: trajectorySchema } },
  },
  {
    method: 'post',
    path: '/api/import',
    summary: 'Stores all trajectories of a file, or none.',
    query: {
      name: 'Name of the file, kept with what is imported.',
      format: `One of ${formats.map(({ name }) => name).join(', ')}. Default: found out.`,
      tokenizer: 'Hub name or folder, for files of ids alone. Default: their texts stay unknown.',
      parser: `Of the tool calls in the texts; with \`tokenizer\`. Default ${DEFAULT_PARSER}.`,
    },
    body: { type: 'application/octet-stream', description: 'The file itself: JSON or JSON lines.' },
    answers: {
      201: {
        description: 'What was found, and under which keys it is stored.',
        schema: z.object({
          format: z.string(),
          trajectories: z.array(z.string()),
          first: z
            .object({ id: z.string(), createdAt: z.string() })
            .describe('Of the first trajectory; given here where its record has neither.'),
          lacked: z.array(z.string()).describe('What the file did not say, for a person.'),
        }),
      },
    },
  },
  {
    method: 'post',
    path: '/api/trajectories/{key}/tokenizer',
    summary: 'Finds the texts, think blocks and tool calls of a trajectory that was imported as ids.',
    body: { type: 'application/json', schema: tokenizerChoiceSchema },
    answers: { 200: { description: 'The trajectory with them.', schema: trajectorySchema } },
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This description.',
    answers: { 200: { description: 'OpenAPI 3.1.' } },
  },
]

export function openApi(version: string): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method]: describe(operation) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollscope',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Every call carries the launch token. Calls that change something carry X-Rollscope: 1 and the content type named. Errors are application/problem+json.',
    },
    paths,
    components: {
      securitySchemes: {
        launchToken: { type: 'http', scheme: 'bearer', description: 'The token that npm start prints.' },
      },
      schemas: { Problem: problemSchema },
    },
    security: [{ launchToken: [] }],
  }
}

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    hint: { type: 'string' },
    remedy: { const: 'server-tokenizer', description: 'Asked again with tokenizer "server" it may work.' },
    field: { type: 'string', description: 'Path of the value in the body that is wrong, such as sampling.top_p.' },
  },
}

function describe({ method, path, summary, query, body, answers, access }: Operation): object {
  const parameters = [
    ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(query ?? {}).map(([name, description]) => ({
      name,
      in: 'query',
      description,
      schema: { type: 'string' },
    })),
    ...(body ? [{ name: 'X-Rollscope', in: 'header', required: true, schema: { const: '1' } }] : []),
  ]
  return {
    operationId: `${method}${path
      .replace(/^\/api/, '')
      .replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())
      .replace(/\W/g, '')}`,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: requestBody(body) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer)])),
      default: {
        description: 'What went wrong.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    ...(access === 'none' && { security: [] }),
  }
}

function requestBody(body: Body): object {
  if (body.type === 'application/octet-stream')
    return {
      required: true,
      description: body.description,
      content: { [body.type]: { schema: { type: 'string', format: 'binary' } } },
    }
  const schema =
    body.schema === 'empty' ? { type: 'object' } : z.toJSONSchema(body.schema, { io: 'input', unrepresentable: 'any' })
  return { required: body.schema !== 'empty', content: { [body.type]: { schema } } }
}

const response = ({ description, type = 'application/json', schema }: Answer): object => ({
  description,
  ...(schema && { content: { [type]: { schema: z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) } } }),
})
