/** /generate and /abort_request: runs what a body asks for and writes the replies, plain or as a stream of events. */
import type { EngineThread, Generation } from './engine-thread.ts'
import { generateBody } from './generate-body.ts'
import { type Limits, type Order, ordersOf } from './generate-jobs.ts'
import { readJsonObject } from './json-body.ts'
import { badBody, badValue, cannot, Refusal } from './refusal.ts'
import { createReply, type Reply } from './reply.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface Serving {
  readonly engine: EngineThread
  readonly vocabulary: Vocabulary
  readonly limits: Limits
  /** Generations under way by their request id. */
  readonly generations: Map<string, Generation>
}

/** Throws a Refusal. */
export async function generate(request: Request, ready: () => Promise<Serving>): Promise<Response> {
  const body = generateBody(await readJsonObject(request, 'GenerateReqInput'))
  const serving = await ready()
  try {
    const { orders, isBatch } = ordersOf(body, serving.limits)
    const tasks = startTasks(orders, serving)
    const abort = (): void => {
      for (const { generation } of tasks) generation.abort()
    }
    request.signal.addEventListener('abort', abort)
    if (request.signal.aborted) abort()
    if (body.stream) return eventStream(eventsOf(tasks[0] as Task), abort)
    const replies = await Promise.all(tasks.map(onlyReply)).catch((error) => {
      abort()
      throw error
    })
    return Response.json(isBatch ? replies : replies[0])
  } catch (error) {
    // An invalid value in a stream is an event under status 200, as in SGLang.
    if (body.stream && error instanceof Refusal) return eventStream(refusalEvents(error), () => {})
    throw error
  }
}

/** An unknown rid is no error, nor is a body that names none. */
export async function abortRequest(request: Request, generations: Serving['generations']): Promise<Response> {
  const { rid, abort_all: abortsAll } = await readJsonObject(request, 'AbortReq')
  if (typeof (rid ?? '') !== 'string') throw badBody('string_type', ['rid'], 'Input should be a valid string')
  if (abortsAll === true) for (const generation of generations.values()) generation.abort()
  else generations.get(rid as string)?.abort()
  return new Response(null)
}

interface Task {
  readonly generation: Generation
  readonly reply: Reply
}

function startTasks(orders: readonly Order[], { engine, vocabulary, generations }: Serving): Task[] {
  const taken = orders.find(({ rid }) => generations.has(rid))
  if (taken) throw badValue(`Duplicate request ID detected: ${taken.rid}`)
  return orders.map((order) => {
    const reply = createReply(order, vocabulary)
    const generation = engine.run(order.job, () => generations.delete(order.rid))
    generations.set(order.rid, generation)
    return { generation, reply }
  })
}

/** A job that is not streamed has one chunk. */
async function onlyReply({ generation, reply }: Task): Promise<object> {
  for await (const chunk of generation.chunks) {
    if (chunk.finish?.kind === 'failed') throw cannot(chunk.finish.status, chunk.finish.message)
    return reply.write(chunk)
  }
  throw new Error('a generation without a chunk')
}

async function* eventsOf({ generation, reply }: Task): AsyncGenerator<string> {
  for await (const chunk of generation.chunks) yield event(reply.write(chunk))
  yield DONE
}

const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`
const DONE = 'data: [DONE]\n\n'

async function* refusalEvents({ message, status }: Refusal): AsyncGenerator<string> {
  yield event({ error: { message, type: 'invalid_request_error', code: status, retryable: false } })
  yield DONE
}

function eventStream(events: AsyncGenerator<string>, onCancel: () => void): Response {
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await events.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: onCancel,
  })
  return new Response(stream, { headers: STREAM_HEADERS })
}

const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Servers in front must not compress it: that would hold events back until there is enough of them.
  'cache-control': 'no-cache, no-transform',
}
