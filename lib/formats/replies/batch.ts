/**
 * Files of batches, as OpenAI, vLLM and Anthropic take and return them: a line for each request, and a line for each reply. Only the
 * requests have the messages of the prompts, so a file may contain both.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { anthropic } from '../conversations/anthropic.ts'
import { recordsOf } from '../conversations/text-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals, RecordError, refuse } from '../reading/record-error.ts'
import { chatCompletion } from './chat-completion.ts'
import { completion } from './completion.ts'
import { requestTrajectory, responses } from './responses.ts'

const REQUESTS = 'batch-requests'

/** The format of the lines of an output. */
export const batch: Format = {
  name: 'batch',
  label: 'output of a batch',
  keeps: 'What the reply of each line has, and its custom_id as title.',
  sniff: isOutputLine,
  read: catchRefusals((value, source) =>
    recordsOf(value).flatMap(({ record }) => replyTrajectories(record, undefined, '', source)),
  ),
}

/** The format of the lines of an input, which those of the output may follow. */
export const batchRequests: Format = {
  name: REQUESTS,
  label: 'input of a batch',
  keeps: 'Messages and tools of the requests, with what their replies have if the file has both.',
  joins: true,
  sniff: (value) => (isLine(value) && requestOf(value) !== undefined) || isOutputLine(value),
  read: catchRefusals((value, source) => {
    const lines = Map.groupBy(recordsOf(value), ({ record }) => record.custom_id)
    return Array.from(lines.values()).flatMap((own) => {
      const requests = own.flatMap(requestIn)
      const replies = own.filter(({ record }) => !requestOf(record))
      const [request] = requests
      if (request && replies.length === 0) return [unanswered(request, source)]
      return replies.flatMap(({ record, path }) => replyTrajectories(record, request, path, source))
    })
  }),
}

const isLine = (value: unknown): value is JsonObject => isObject(value) && typeof value.custom_id === 'string'

function isOutputLine(value: unknown): boolean {
  return isLine(value) && (isObject(value.result) || ('response' in value && 'error' in value))
}

/** OpenAI has the request in `body`, Anthropic in `params`. */
const requestOf = ({ body, params }: JsonObject): JsonObject | undefined => [body, params].find(isObject)

interface BatchRequest {
  readonly line: JsonObject
  readonly body: JsonObject
  readonly path: string
}

function requestIn({ record, path }: { readonly record: JsonObject; readonly path: string }): readonly BatchRequest[] {
  const body = requestOf(record)
  return body ? [{ line: record, body, path }] : []
}

/** What a line of an output says: its reply, or why there is none. */
type LineReply =
  | { readonly ok: true; readonly path: string; readonly body: JsonObject }
  | { readonly ok: false; readonly path: string; readonly expected: string; readonly failure: Failure }

interface Failure {
  readonly code: string
  readonly message: string
}

function replyTrajectories(
  line: JsonObject,
  request: BatchRequest | undefined,
  path: string,
  source: RecordSource,
): readonly Trajectory[] {
  const reply = replyOf(line)
  if (!reply.ok) {
    const { failure, expected } = reply
    if (request) return [unanswered(request, source, { kind: 'failed', ...failure })]
    const found = `${failure.code}: ${failure.message}`
    throw new RecordError({ path: `${path}${reply.path}`, expected, found }, FAILED_HINT)
  }
  const format = [chatCompletion, responses, anthropic, completion].find(({ sniff }) => sniff(reply.body))
  if (!format) return refuse(`${path}${reply.path}`, 'a reply with messages or texts', reply.body)
  const record = { ...without(line, ['response', 'result', 'error']), response: reply.body }
  const read = format.read(
    format === completion ? reply.body : { ...record, ...(request && { request: request.body }) },
    source,
  )
  if (read.ok) return read.trajectories.map((trajectory) => withTitle(trajectory, line))
  throw new RecordError({ ...read.error, path: `${path}${read.error.path.replace(/^response\b/, reply.path)}` })
}

const FAILED_HINT =
  'This request has no reply: send it again. If the requests are in the file before the output, their messages open.'

/** The error of OpenAI is beside the response or in its body; that of Anthropic is in the result. */
function replyOf({ response, result, error }: JsonObject): LineReply {
  if (isObject(result)) {
    if (isObject(result.message)) return { ok: true, path: 'result.message', body: result.message }
    const failure = failureOf(result.error, String(result.type))
    return { ok: false, path: 'result', expected: 'a message', failure }
  }
  const { status_code: status = 200, body } = isObject(response) ? response : {}
  if (isObject(body) && status === 200) return { ok: true, path: 'response.body', body }
  const failure = failureOf(error ?? body, String(status))
  return { ok: false, path: 'response', expected: 'a reply with status 200', failure }
}

/** An error may be an object around the error itself, or a text. */
function failureOf(value: unknown, code: string): Failure {
  if (!isObject(value)) return { code, message: typeof value === 'string' ? value : 'no reason is given' }
  if (isObject(value.error)) return failureOf(value.error, code)
  const message = typeof value.message === 'string' ? value.message : JSON.stringify(value)
  return { code: typeof value.code === 'string' ? value.code : code, message }
}

const withTitle = (trajectory: Trajectory, { custom_id }: JsonObject): Trajectory => ({
  ...trajectory,
  title: String(custom_id),
})

/** Returns the trajectory of a request without a reply. */
function unanswered({ line, body, path }: BatchRequest, source: RecordSource, outcome?: Outcome): Trajectory {
  const rest = without(line, ['body', 'params'])
  return withTitle(requestTrajectory(body, { format: REQUESTS, path, outcome, rest }, source), line)
}
