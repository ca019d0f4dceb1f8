/** The door for the server's JSON: what is not JSON, not SGLang's or not as its schema says is a named error. */
import type * as z from 'zod'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { foreignText, SglangError } from '../client/errors.ts'
import type { HttpReply } from '../client/transport.ts'

/** Of a reply that cannot be read, this many characters are shown. */
const EXCERPT = 200

/** SGLang nests a handful of levels; far below what breaks JSON.stringify. */
const DEEPEST = 64

export async function jsonOf(reply: HttpReply, apiKey: string | undefined): Promise<unknown> {
  const text = await reply.text()
  if (!reply.contentType.startsWith('application/json')) throw notSglang(reply.contentType, text, 'JSON', apiKey)
  return jsonValue(text, apiKey)
}

export function jsonValue(text: string, apiKey: string | undefined): unknown {
  if (tooDeepAt(text, DEEPEST) !== undefined)
    throw new SglangError('BAD_JSON', `the reply is nested deeper than ${DEEPEST} levels`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SglangError('BAD_JSON', `the reply is not valid JSON: ${foreignText(text, apiKey, EXCERPT)}`, {
      cause: error,
    })
  }
}

export function parsed<T>(value: unknown, schema: z.ZodType<T>, path: string, apiKey: string | undefined): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const violation = schemaViolation(result.error, value)
  // What was found is told clipped, so a key in it may be told in part: then it is not told at all.
  const holdsKey = apiKey !== undefined && JSON.stringify(value).includes(apiKey)
  const told = violationText(holdsKey ? { ...violation, found: 'something else' } : violation)
  throw new SglangError('BAD_SHAPE', `the reply to ${path} is not SGLang’s: ${told}`)
}

export function notSglang(
  contentType: string,
  body: string,
  expected: string,
  apiKey: string | undefined,
): SglangError {
  return new SglangError(
    'NOT_SGLANG',
    `the answer is ${foreignText(contentType, apiKey) || 'of no type'}, not ${expected}: ${foreignText(body, apiKey, EXCERPT)}`,
  )
}
