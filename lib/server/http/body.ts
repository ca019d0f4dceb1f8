/** Reads bodies of requests within limits and checks them. */
import * as z from 'zod/mini'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { bytesText, LIMITS } from '#lib/util/limits.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { HttpProblem } from './problem.ts'

const MEGABYTE = 1 << 20
const LARGEST_JSON = MEGABYTE
/** Limit in bytes: enough for over a million ids. */
const LARGEST_IDS = 16 * MEGABYTE

/** Returns the request's checked JSON body of at most a megabyte. Throws HttpProblem. */
export const readJsonBody = async <T>(request: Request, schema: z.core.$ZodType<T>): Promise<T> =>
  checkedJson(await readText(request, LARGEST_JSON), schema)

/** Returns the checked JSON body of a request with the ids or the messages of a trajectory. Throws HttpProblem. */
export const readLargeJson = async <T>(request: Request, schema: z.core.$ZodType<T>): Promise<T> =>
  checkedJson(await readText(request, LARGEST_IDS), schema)

/** Returns the checked JSON body of a request for a run, which may contain images. Throws HttpProblem. */
export const readRunJson = async <T>(request: Request, schema: z.core.$ZodType<T>): Promise<T> =>
  checkedJson(await readText(request, LIMITS.runBytes), schema)

/** Returns the checked value of a JSON text. Throws HttpProblem. */
export function checkedJson<T>(text: string, schema: z.core.$ZodType<T>): T {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new HttpProblem({
      status: 400,
      code: 'BAD_JSON',
      detail: `the body is not JSON: ${error instanceof Error ? error.message : error}`,
    })
  }
  const tooDeep = tooDeepAt(text, LIMITS.depth)
  if (tooDeep !== undefined)
    throw new HttpProblem({
      status: 422,
      code: 'TOO_DEEP',
      detail: `the body is nested deeper than ${LIMITS.depth} levels, from character ${tooDeep + 1}`,
    })
  const parsed = z.safeParse(schema, value)
  if (!parsed.success) {
    const violation = schemaViolation(parsed.error, value)
    throw new HttpProblem({
      status: 422,
      code: 'BAD_REQUEST',
      detail: violationText(violation),
      field: violation.path === '' ? undefined : violation.path,
    })
  }
  return parsed.data
}

/**
 * Returns the body as text. Throws HttpProblem as soon as it is larger than `limit` bytes (`hint` says what to do then), or if its length
 * differs from the announced one.
 */
export async function readText(request: Request, limit: number, hint?: string): Promise<string> {
  const chunks = await Array.fromAsync(bodyChunks(request, limit, hint))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw new HttpProblem({ status: 400, code: 'BAD_ENCODING', detail: 'the body is not UTF-8' })
  }
}

/** Yields the body as it arrives. Throws HttpProblem like readText. */
export async function* bodyChunks(request: Request, limit: number, hint?: string): AsyncGenerator<Uint8Array> {
  const announced = Number(request.headers.get('content-length') ?? Number.NaN)
  const tooLarge = () =>
    new HttpProblem({ status: 413, code: 'TOO_LARGE', detail: `the body is larger than ${bytesText(limit)}`, hint })
  if (announced > limit) throw tooLarge()
  let received = 0
  for await (const chunk of request.body ?? []) {
    received += chunk.byteLength
    if (received > limit) throw tooLarge()
    yield chunk
  }
  if (announced >= 0 && received !== announced)
    throw new HttpProblem({
      status: 400,
      code: 'CUT_BODY',
      detail: `${announced} bytes were announced, but ${received} arrived`,
    })
}
