/** Serves /generate and /abort_request: runs the jobs of a body and writes the replies, complete or as a stream of events. */
import type { EngineThread, Generation } from '#lib/builtin-server/engine/engine-thread.ts'
import type { JobChunk, JobFinish } from '#lib/builtin-server/engine/job.ts'
import { DONE, serverSentEvent, serverSentEvents } from '#lib/builtin-server/http/event-stream.ts'
import { readJsonObject, strictJson } from '#lib/builtin-server/http/json-body.ts'
import { badBody, badValue, HttpRefusal, unavailable } from '#lib/builtin-server/http/refusal.ts'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type GenerateBody, generateBody } from './generate-body.ts'
import { type GenerateLimits, type Order, ordersOf } from './generate-jobs.ts'
import { createReply, type ReplyJson, type ReplyWriter } from './reply.ts'

/** The loaded model with its limits and running generations. */
export interface GenerateServing {
  readonly engine: EngineThread
  readonly vocabulary: Vocabulary
  readonly limits: GenerateLimits
  /** Running generations by request id. */
  readonly generations: Map<string, Generation>
}

/** Answers a /generate request. Throws HttpRefusal. */
export async function answerGenerate(request: Request, ready: () => Promise<GenerateServing>): Promise<Response> {
  const body = generateBody(await readJsonObject(request, 'GenerateReqInput', strictJson))
  const serving = await ready()
  try {
    if (body.stream) {
      const { growing, isBatch, abort } = await replyStream(body, serving, request.signal)
      return serverSentEvents(eventsOf(growing, isBatch), abort)
    }
    const { replies, isBatch } = await wholeReplies(body, serving, request.signal)
    return Response.json(isBatch ? replies : replies[0])
  } catch (error) {
    // An invalid value in a stream is an event with status 200, as in SGLang.
    if (body.stream && error instanceof HttpRefusal) return serverSentEvents(refusalEvents(error), () => {})
    throw error
  }
}

/** Returns one complete reply per prompt, in the order of the prompts. Throws HttpRefusal. */
export async function wholeReplies(
  body: GenerateBody,
  serving: GenerateServing,
  signal: AbortSignal,
): Promise<{ readonly replies: readonly ReplyJson[]; readonly isBatch: boolean }> {
  const { orders, isBatch } = await ordersOf(body, serving.limits)
  // A job without a stream has one chunk.
  const arriving = orders.map(() => Promise.withResolvers<JobChunk>())
  const tasks = startTasks(orders, serving, (chunk, index) => elementAt(arriving, index).resolve(chunk))
  const abort = abortWith(signal, tasks)
  const onlyReply = async ({ promise }: { readonly promise: Promise<JobChunk> }, index: number): Promise<ReplyJson> => {
    const chunk = await promise
    if (chunk.finish?.kind === 'failed') throw failure(chunk.finish)
    return elementAt(tasks, index).reply.write(chunk)
  }
  const replies = await Promise.all(arriving.map(onlyReply)).catch((error) => {
    abort()
    throw error
  })
  return { replies, isBatch }
}

/** The part of a reply that one chunk of a stream adds. */
export interface IndexedReply {
  /** Index of its prompt. */
  readonly index: number
  readonly reply: ReplyJson
}

interface ReplyStream {
  /** Replies of all prompts as they arrive; each is written when it is read. A reader that leaves aborts all. */
  readonly growing: AsyncIterable<IndexedReply>
  readonly isBatch: boolean
  abort(): void
}

/** Returns the replies as they grow. Throws HttpRefusal. */
export async function replyStream(
  body: GenerateBody,
  serving: GenerateServing,
  signal: AbortSignal,
): Promise<ReplyStream> {
  const { orders, isBatch } = await ordersOf(body, serving.limits)
  let running = orders.length
  let reader: ReadableStreamDefaultController<Arrival> | undefined
  const arriving = new ReadableStream<Arrival>({
    start(controller) {
      reader = controller
    },
    cancel() {
      reader = undefined
      abort()
    },
  })
  const tasks = startTasks(orders, serving, (chunk, index) => {
    reader?.enqueue({ chunk, index })
    if (chunk.finish && --running === 0) reader?.close()
  })
  const abort = abortWith(signal, tasks)
  return { growing: repliesOf(arriving, tasks), isBatch, abort }
}

interface Arrival {
  readonly index: number
  readonly chunk: JobChunk
}

/** Yields the replies. Each contains its prompt's logprobs; unread ones wait as chunks, which contain those only once. */
async function* repliesOf(arriving: ReadableStream<Arrival>, tasks: readonly Task[]): AsyncGenerator<IndexedReply> {
  for await (const { index, chunk } of arriving) yield { index, reply: elementAt(tasks, index).reply.write(chunk) }
}

function abortWith(signal: AbortSignal, tasks: readonly Task[]): () => void {
  const abort = (): void => {
    for (const { generation } of tasks) generation.abort()
  }
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()
  return abort
}

/** Answers /abort_request. An unknown rid is no error, and neither is a body without one. */
export async function abortRequest(request: Request, generations: GenerateServing['generations']): Promise<Response> {
  const { rid, abort_all: abortsAll } = await readJsonObject(request, 'AbortReq')
  if (typeof (rid ?? '') !== 'string') throw badBody('string_type', ['rid'], 'Input should be a valid string')
  if (abortsAll === true) for (const generation of generations.values()) generation.abort()
  else generations.get(rid as string)?.abort()
  return new Response(null)
}

interface Task {
  readonly generation: Generation
  readonly reply: ReplyWriter
}

/** Starts the jobs. `onChunk` receives the chunks of each with the index of its order. Throws HttpRefusal. */
function startTasks(
  orders: readonly Order[],
  { engine, vocabulary, generations }: GenerateServing,
  onChunk: (chunk: JobChunk, index: number) => void,
): Task[] {
  const taken = orders.find(({ rid }) => generations.has(rid))
  if (taken) throw badValue(`Duplicate request ID detected: ${taken.rid}`)
  return orders.map((order, index) => {
    const reply = createReply(order, vocabulary)
    const generation = engine.run(order.job, (chunk) => {
      if (chunk.finish) generations.delete(order.rid)
      onChunk(chunk, index)
    })
    generations.set(order.rid, generation)
    return { generation, reply }
  })
}

const failure = ({ status, message }: JobFinish & { kind: 'failed' }): HttpRefusal =>
  status === 400 ? badValue(message) : unavailable(status, message)

async function* eventsOf(growing: ReplyStream['growing'], isBatch: boolean): AsyncGenerator<string> {
  for await (const { index, reply } of growing) yield serverSentEvent(isBatch ? { ...reply, index } : reply)
  yield DONE
}

async function* refusalEvents({ message, status }: HttpRefusal): AsyncGenerator<string> {
  yield serverSentEvent({ error: { message, type: 'invalid_request_error', code: status, retryable: false } })
  yield DONE
}
