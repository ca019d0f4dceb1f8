/** Describes the HTTP interface (OpenAPI 3.1) with the schemas that check its requests. */
import * as z from 'zod/mini'
import type { AnswerDescription, Body, Endpoint } from './endpoint.ts'

/** Returns the OpenAPI document of these endpoints. */
export function describeApi(endpoints: readonly Endpoint[], version: string) {
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of endpoints)
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method.toLowerCase()]: describe(endpoint) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Rollscope',
      version,
      license: { name: 'MIT', identifier: 'MIT' },
      description:
        'Every call needs the launch token. Under /sessions, it may also be sent as x-api-key, and no other header is needed. Calls that change data also need the header X-Rollscope: 1 and the named content type. Errors are application/problem+json.',
    },
    paths,
    components: {
      securitySchemes: {
        launchToken: { type: 'http', scheme: 'bearer', description: 'The launch token, which npm start prints.' },
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
    remedy: { const: 'server-tokenizer', description: 'Whether the same request may succeed with tokenizer "server".' },
    field: { type: 'string', description: 'Path of the invalid value in the body, such as sampling.top_p.' },
  },
}

function describe({ method, path, summary, query, body, answers, access }: Endpoint): object {
  const parameters = [
    ...Array.from(path.matchAll(/\{([\w*]+)\}/g), ([, name]) => ({
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
    ...(body && access !== 'client'
      ? [{ name: 'X-Rollscope', in: 'header', required: true, schema: { const: '1' } }]
      : []),
  ]
  return {
    // /sessions/{id} of clients is not /api/sessions/{id} of pages.
    operationId: `${method.toLowerCase()}${access === 'client' ? 'Client' : ''}${path
      .replace(/^\/api/, '')
      .replace(/\W+(\w)/g, (_, letter: string) => letter.toUpperCase())
      .replace(/\W/g, '')}`,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body?.type && !body.isOptional && { requestBody: requestBody(body.type, body) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, response(answer)])),
      default: {
        description: 'The error.',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
    ...(access === 'origin' && { security: [] }),
  }
}

function requestBody(type: string, { schema, description }: Body<unknown>): object {
  if (type === 'application/octet-stream')
    return { required: true, description, content: { [type]: { schema: { type: 'string', format: 'binary' } } } }
  return {
    required: schema !== undefined,
    content: {
      [type]: { schema: schema ? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) : { type: 'object' } },
    },
  }
}

function response({ description, schema, lines }: AnswerDescription): object {
  const content = {
    ...(schema && { 'application/json': { schema: answerSchema(schema) } }),
    ...(lines && { 'application/x-ndjson': { schema: answerSchema(lines) } }),
  }
  return { description, ...(Object.keys(content).length > 0 && { content }) }
}

const answerSchema = (schema: z.core.$ZodType): object =>
  z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
