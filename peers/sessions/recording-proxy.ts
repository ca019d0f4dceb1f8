/** A proxy in front of an inference engine that speaks SGLang's protocol. It passes everything on unchanged, and keeps what the engine reported. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { closeServer, listeningUrl } from '#testing/listening.ts'

/** A call of /generate: the ids that the engine read, and the ids and logprobs that it reported for its reply. */
interface EngineCall {
  readonly inputIds: readonly number[]
  readonly outputIds: readonly number[]
  readonly logprobs: readonly number[]
}

/** A running proxy. */
export interface RecordingProxy {
  readonly baseUrl: string
  /** Returns the calls since the last one of this function. */
  takeCalls(): readonly EngineCall[]
  stop(): Promise<void>
}

/** Starts a proxy on a free port. `key` is the engine's bearer token; omitted, it needs none. */
export async function startRecordingProxy(engine: string, key?: string): Promise<RecordingProxy> {
  let calls: EngineCall[] = []
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray())
    const answer = await fetch(engine + request.url, {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
      ...(body.length > 0 && { body }),
    })
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
    let received = ''
    let isKept = request.url !== '/generate' || !answer.ok
    const keep = () => {
      if (!isKept) calls.push(callOf(JSON.parse(body.toString()), received))
      isKept = true
    }
    for await (const part of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      received += part
      // The reader of a stream leaves at this event, and its caller may ask for the call then.
      if (received.includes('data: [DONE]')) keep()
      response.write(part)
    }
    keep()
    response.end()
  }
  const server = createServer((request, response) => {
    forward(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  return {
    baseUrl: await listeningUrl(server),
    takeCalls() {
      const taken = calls
      calls = []
      return taken
    },
    stop: () => closeServer(server),
  }
}

interface Generate {
  readonly input_ids: readonly number[]
  readonly stream?: boolean
}

interface Reply {
  readonly meta_info: {
    readonly completion_tokens: number
    readonly output_token_logprobs: readonly Row[]
  }
}
type Row = readonly [logprob: number, id: number, text: string | null]

function callOf({ input_ids: inputIds, stream }: Generate, answer: string): EngineCall {
  const replies: readonly Reply[] = stream
    ? Array.from(answer.matchAll(/^data: (\{.*)$/gm), ([, event = '']): Reply => JSON.parse(event))
    : [JSON.parse(answer)]
  const rows: Row[] = []
  for (const { meta_info: info } of replies) {
    // A chunk repeats the whole reply so far, or has only what is new.
    if (info.output_token_logprobs.length === info.completion_tokens) rows.length = 0
    rows.push(...info.output_token_logprobs)
  }
  return { inputIds, outputIds: rows.map(([, id]) => id), logprobs: rows.map(([logprob]) => logprob) }
}
