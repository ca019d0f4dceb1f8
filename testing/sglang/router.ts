/**
 * A router with the measured behaviour of sglang-router 0.3.2: it has neither /model_info nor /abort_request, passes
 * /get_model_info to its first worker, reports a dead worker as healthy until its health check drops it, and removes
 * stream_interval from requests. Its workers stream cumulatively, one token per chunk. For tests.
 */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { recording, scripted } from './recordings.ts'

/** A running router with its log. */
export interface ScriptedRouter {
  readonly baseUrl: string
  /** Method and path of each request, such as `POST /generate`, in order. */
  readonly requests: readonly string[]
  /** Sampling parameters as they reached a worker. */
  readonly sampling: readonly Readonly<Record<string, unknown>>[]
  /** Resolves when the client has closed an unfinished stream. */
  readonly left: Promise<void>
  /** Makes the first worker unreachable. */
  killFirst(): void
  /** Lets the health check find the dead worker. */
  dropDead(): void
  close(): Promise<void>
}

/** What a worker reports about itself, and the ids that it sends before it waits forever. */
export interface RouterWorker {
  readonly model: Readonly<Record<string, string>>
  readonly ids: readonly number[]
}

/** Starts a router with two workers on a free port. */
export async function startScriptedRouter(workers: readonly [RouterWorker, RouterWorker]): Promise<ScriptedRouter> {
  const requests: string[] = []
  const sampling: Record<string, unknown>[] = []
  const left = Promise.withResolvers<void>()
  let isFirstDead = false
  let isDropped = false
  const workerList = () => {
    const known = (recording('router-get_workers').response as { workers: object[] }).workers[0]
    return workers.map(({ model }, index) => ({
      ...known,
      url: `http://127.0.0.1:${40_000 + index}`,
      is_healthy: index > 0 || !isDropped,
      metadata: { served_model_name: model.served_model_name, model_path: model.model_path },
    }))
  }
  const generate = async (incoming: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const part of incoming) text += part
    const request = JSON.parse(text)
    const { stream_interval: _, ...passed } = request.sampling_params
    sampling.push(passed)
    const { ids } = workers[isFirstDead ? 1 : 0]
    response.on('close', () => {
      if (!response.writableFinished) left.resolve()
    })
    response.writeHead(200, { 'content-type': request.stream ? 'text/event-stream' : 'application/json' })
    if (request.stream)
      for (let count = 1; count <= ids.length; count++) response.write(eventOf(request, ids.slice(0, count)))
    await once(response, 'close')
  }
  const server = await scripted((incoming, response) => {
    requests.push(`${incoming.method} ${incoming.url}`)
    const json = (value: unknown, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (incoming.url === '/generate') return generate(incoming, response)
    if (incoming.url === '/workers') return json({ workers: workerList(), total: workers.length })
    if (incoming.url === '/get_server_info') return json(recording('router-get_get_server_info').response)
    if (incoming.url === '/get_model_info') {
      const isAnswering = !isFirstDead || isDropped
      return isAnswering ? json(workers[isDropped ? 1 : 0].model) : json(UNREACHED, 500)
    }
    return response.writeHead(404).end()
  })
  return {
    ...server,
    requests,
    sampling,
    left: left.promise,
    killFirst() {
      isFirstDead = true
    },
    dropDead() {
      isDropped = true
    },
  }
}

/** Answer of sglang-router for a worker that refuses the connection; the 502 for a worker that resets it has similar words. */
const UNREACHED = {
  error: {
    type: 'Internal Server Error',
    code: 'call_upstream_request_error',
    message: 'error sending request for url (http://127.0.0.1:40000/get_model_info)',
  },
}

interface Asked {
  readonly rid: string
  readonly input_ids: readonly number[]
}

const eventOf = ({ rid, input_ids: inputIds }: Asked, ids: readonly number[]): string =>
  `data: ${JSON.stringify({
    text: '',
    output_ids: ids,
    meta_info: {
      id: rid,
      finish_reason: null,
      prompt_tokens: inputIds.length,
      completion_tokens: ids.length,
      output_token_logprobs: ids.map((id) => [-0.5, id, null]),
      output_token_logprobs_length: ids.length,
    },
  })}\n\n`
