/** The description of the HTTP interface (OpenAPI 3.1), from the schemas that check its requests. */
import * as z from 'zod'
import { applicationOperations } from '../operations/application.ts'
import { labOperations } from '../operations/lab.ts'
import type { Answer, Body, Operation } from '../operations/operation.ts'
import { runOperations } from '../operations/runs.ts'
import { serverOperations } from '../operations/servers.ts'
import { tokenizerOperations } from '../operations/tokenizers.ts'
import { trajectoryOperations } from '../operations/trajectories.ts'

export const operations: readonly Operation[] = [
  ...applicationOperations,
  ...serverOperations,
  ...runOperations,
  ...trajectoryOperations,
  ...tokenizerOperations,
  ...labOperations,
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

function describe({ method, path, summary, query, body, changes, answers, access }: Operation): object {
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
    ...((body ?? changes) ? [{ name: 'X-Rollscope', in: 'header', required: true, schema: { const: '1' } }] : []),
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
