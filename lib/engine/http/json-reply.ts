/** Checks the server's JSON: text that is not JSON or against the schema gives an error with a code. */
import type * as z from 'zod'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { EngineError, foreignText } from './errors.ts'
import type { HttpReply } from './transport.ts'

/** The number of characters shown of a reply that cannot be read. */
const EXCERPT = 200

/** SGLang nests a handful of levels; far below what breaks JSON.stringify. */
const DEEPEST = 64

/** Returns the JSON of a reply. Throws UNKNOWN_SERVER for another content type, or BAD_JSON. */
export async function jsonOf(reply: HttpReply, apiKey: string | undefined): Promise<unknown> {
  const text = await reply.text()
  if (!reply.contentType.startsWith('application/json')) throw unknownAnswer(reply.contentType, text, 'JSON', apiKey)
  return parseReplyJson(text, apiKey)
}

/** Parses JSON. Throws BAD_JSON, also if it is nested too deep. */
export function parseReplyJson(text: string, apiKey: string | undefined): unknown {
  if (tooDeepAt(text, DEEPEST) !== undefined)
    throw new EngineError('BAD_JSON', `the reply is nested deeper than ${DEEPEST} levels`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new EngineError('BAD_JSON', `the reply is not valid JSON: ${foreignText(text, apiKey, EXCERPT)}`, {
      cause: error,
    })
  }
}

/** Returns a value that matches the schema. Throws BAD_SHAPE without showing the key. */
export function parseReply<T>(value: unknown, schema: z.ZodType<T>, path: string, apiKey: string | undefined): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const violation = schemaViolation(result.error, value)
  // The error shows the value clipped, which could reveal a part of the key, so a value with the key is never shown.
  const holdsKey = apiKey !== undefined && JSON.stringify(value).includes(apiKey)
  const violationMessage = violationText(holdsKey ? { ...violation, found: 'something else' } : violation)
  throw new EngineError('BAD_SHAPE', `the reply to ${path} does not have the expected format: ${violationMessage}`)
}

/** Returns the error of an answer that no known server gives. */
export function unknownAnswer(
  contentType: string,
  body: string,
  expected: string,
  apiKey: string | undefined,
): EngineError {
  return new EngineError(
    'UNKNOWN_SERVER',
    `the answer is ${foreignText(contentType, apiKey) || 'of no type'}, not ${expected}: ${foreignText(body, apiKey, EXCERPT)}`,
  )
}
