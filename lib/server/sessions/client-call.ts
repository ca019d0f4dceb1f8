/** Answers a call of a client in its protocol, whole or as a stream, and records it in its session. */
import { AUTO_SESSION } from '#lib/api/sessions/session.ts'
import { type ContextCounts, EngineError } from '#lib/engine/http/errors.ts'
import { tooDeepAt } from '#lib/json/json-depth.ts'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { contextNeeded } from '#lib/rollout/loop/call-ending.ts'
import { outcomeIn } from '#lib/rollout/loop/run-ended.ts'
import type { ProtocolName, ReplyHead, SessionCall } from '#lib/session/call.ts'
import { protocols, type ReplyStream } from '#lib/session/protocols/protocol.ts'
import { type CallFailure, CallRefusal, errorBody, failureOf } from '#lib/session/protocols/refusal.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { withAdvice } from '#lib/util/text/with-advice.ts'
import { readText } from '../http/body.ts'
import { foreseenProblem } from '../http/foreseen-problem.ts'
import { json } from '../http/json-response.ts'
import { STALLED_MS, streamResponse } from '../http/ndjson.ts'
import type { Services } from '../services.ts'
import { chooseSession, sessionNamedIn } from './auto.ts'
import { callFacts, INTERRUPTED } from './call-facts.ts'
import type { LiveCall } from './live/live-calls.ts'
import { answerObserved } from './observe.ts'
import type { Session, SessionCallRecord } from './session.ts'
import { type Answered, answerTito, type ReplyFollower } from './tito.ts'

/** Status of a call whose client left before it was answered. */
const CLIENT_LEFT = 499
/** Milliseconds without an event after which a stream gets one that means nothing. */
const KEEP_ALIVE_MS = 15_000

/** Answers a call. Failures are answered in the protocol too, and are visible in the session. */
export async function answerClient(
  name: ProtocolName,
  sessionId: string,
  request: Request,
  all: Services,
): Promise<Response> {
  const signal = AbortSignal.any([request.signal, all.sessions.closing])
  const started = { at: new Date(), ms: performance.now() }
  let session: Session | undefined
  let body: JsonObject = {}
  const beginning: Beginning = {}
  try {
    const text = await readText(request, LIMITS.runBytes, 'Send shorter messages, or smaller images.')
    body = bodyIn(text)
    const call = protocols[name].read(body, text)
    session = await chooseSession(sessionId, call, request.headers, all, signal, started.at)
    const chosen = session
    const answering: Answering = { name, session: chosen, call, body, started, request, signal, all, beginning }
    return await (call.stream ? streamedAnswer(answering) : wholeAnswer(answering))
  } catch (error) {
    const failure = signal.aborted ? abortFailure(all) : failureFor(error)
    if (signal.aborted && beginning.begun === undefined) return failedAnswer(name, failure)
    session ??= knownSession(sessionId === AUTO_SESSION ? sessionNamedIn(request.headers) : sessionId, all)
    if (session) await recordRefusal({ name, session, body, started, request, signal, all, beginning }, failure)
    return failedAnswer(name, failure)
  }
}

function knownSession(id: string | undefined, { sessions }: Services): Session | undefined {
  try {
    return id === undefined ? undefined : sessions.find(id)
  } catch {
    return undefined
  }
}

interface Answering {
  readonly name: ProtocolName
  readonly session: Session
  readonly call: SessionCall
  readonly body: JsonObject
  readonly started: { readonly at: Date; readonly ms: number }
  readonly request: Request
  /** Aborts when the client leaves, or when the process ends. */
  readonly signal: AbortSignal
  readonly all: Services
  readonly beginning: Beginning
}

/** What the session has of a call since the call has its place. */
interface Beginning {
  /** What it stored. */
  begun?: number | undefined
  /** What pages follow. */
  live?: LiveCall
}

/** Returns the JSON object of a body. Throws CallRefusal. */
function bodyIn(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CallRefusal('', `The body is not JSON: ${error instanceof Error ? error.message : error}.`)
  }
  const tooDeep = tooDeepAt(text, LIMITS.depth)
  if (tooDeep !== undefined)
    throw new CallRefusal(
      '',
      `The body is nested deeper than ${LIMITS.depth} levels, from character ${tooDeep + 1} on.`,
    )
  if (!isObject(value)) throw new CallRefusal('', 'The body must be a JSON object.')
  return value
}

async function wholeAnswer(answering: Answering): Promise<Response> {
  const { name, session, call, signal, all } = answering
  return all.sessions.during(session, async () => {
    const answered = await answerOf(session)(session, call, { ...begin(answering), head() {}, delta() {} }, all, signal)
    const written = writtenAnswer(answering, answered)
    if (written) {
      await record(answering, answered, { status: 200, written })
      return json(written)
    }
    const failure = signal.aborted ? abortFailure(all) : failureFor(answered.error, call)
    await record(answering, answered, { status: failure.status, failure })
    return failedAnswer(name, failure)
  })
}

const answerOf = ({ settings: { mode } }: Session): typeof answerTito =>
  mode === 'observe' ? answerObserved : answerTito

/** Returns the whole answer; undefined if the call failed. */
const writtenAnswer = ({ name, call }: Answering, { reply, written, bytes }: Answered): JsonObject | undefined =>
  written ?? (reply && protocols[name].whole(reply, call, bytes))

/** Returns the answer of a failed call. Clients wait for as long as the server requests before they repeat it. */
function failedAnswer(name: ProtocolName, failure: CallFailure): Response {
  const { status, retryAfterMs } = failure
  const answer = json(errorBody(name, failure), status)
  if (retryAfterMs !== undefined) answer.headers.set('retry-after', `${Math.ceil(retryAfterMs / 1000)}`)
  return answer
}

const LEFT: CallFailure = { status: CLIENT_LEFT, message: 'The client closed the connection.' }

/** Returns why a call was aborted. */
const abortFailure = ({ sessions }: Services): CallFailure => (sessions.closing.aborted ? INTERRUPTED : LEFT)

/**
 * Returns the stream of an answer. Its status is sent with the first token or after 20 s, so that a call that fails before gets an error
 * status. A client that reads nothing for 30 s is disconnected, as is the server's generation, so that its unread events do not stay in memory.
 */
async function streamedAnswer(answering: Answering): Promise<Response> {
  const { name, session, call, all } = answering
  const stop = new AbortController()
  const signal = AbortSignal.any([answering.signal, stop.signal])
  const queue = createTextQueue()
  const begun = Promise.withResolvers<'begun' | Response>()
  let writer: ReplyStream | undefined
  const answer = all.sessions.during(session, async () => {
    const answered = await answerOf(session)(
      session,
      call,
      {
        ...begin(answering),
        head(head: ReplyHead, bytes) {
          writer = protocols[name].stream(head, call, bytes)
          queue.add(writer.begin())
          begun.resolve('begun')
        },
        delta: (delta) => queue.add(writer?.write(delta) ?? ''),
      },
      all,
      signal,
    )
    const { reply } = answered
    if (reply) {
      const written = writtenAnswer(answering, answered)
      await record(answering, answered, { status: 200, ...(written && { written }) })
      for (const [choice, { finish }] of reply.choices.entries())
        queue.add(writer?.write({ kind: 'finish', choice, finish }) ?? '')
      queue.add(writer?.write({ kind: 'usage', usage: reply.usage }) ?? '')
      return
    }
    const failure = signal.aborted ? abortFailure(all) : failureFor(answered.error, call)
    await record(answering, answered, { status: failure.status, failure })
    if (writer) queue.add(writer.fail(failure))
    else begun.resolve(failedAnswer(name, failure))
  })
  answer.then(
    () => queue.end(),
    (error) => {
      begun.reject(error)
      if (writer) queue.add(writer.fail(failureFor(error, call)))
      queue.end()
    },
  )
  const first = await begun.promise
  if (first !== 'begun') return first
  const lines = queue.follow(
    KEEP_ALIVE_MS,
    () => writer?.keepAlive() ?? '',
    () => stop.abort(),
  )
  return streamResponse(lines, { 'content-type': 'text/event-stream; charset=utf-8' }, () =>
    Buffer.from(
      writer?.fail({
        status: 408,
        message: `The client read nothing from this stream for ${STALLED_MS / 1000} s, so the call was ended.`,
      }) ?? '',
    ),
  )
}

/** Texts that one producer adds and one reader takes. */
interface TextQueue {
  add(text: string): void
  end(): void
  /** Yields the texts as bytes; `onLeft` is called if the reader leaves before the end. */
  follow(quietMs: number, keepAlive: () => string, onLeft: () => void): AsyncGenerator<Uint8Array>
}

function createTextQueue(): TextQueue {
  let waiting = ''
  let hasEnded = false
  let wake = () => {}
  return {
    add(text) {
      waiting += text
      wake()
    },
    end() {
      hasEnded = true
      wake()
    },
    async *follow(quietMs, keepAlive, onLeft) {
      try {
        for (;;) {
          if (waiting === '' && !hasEnded)
            await new Promise<void>((resolve) => {
              const timer = setTimeout(() => {
                waiting += keepAlive()
                resolve()
              }, quietMs)
              wake = () => {
                clearTimeout(timer)
                resolve()
              }
            })
          const text = waiting
          waiting = ''
          if (text !== '') yield Buffer.from(text)
          else if (hasEnded) return
        }
      } finally {
        if (!hasEnded) onLeft()
      }
    },
  }
}

interface Ended {
  readonly status: number
  readonly written?: JsonObject
  readonly failure?: CallFailure
}

/** Returns what stores the beginning of a call when it has its place, and shows its replies to pages that follow them. */
const begin = (answering: Answering): Pick<ReplyFollower, 'attached' | 'generating'> => ({
  attached(attachment) {
    const { session, call, beginning } = answering
    const facts = { ...factsOf(answering, { status: INTERRUPTED.status, failure: INTERRUPTED }), ...factsOfCall(call) }
    beginning.begun = session.begin({ facts, attachment })
    beginning.live = session.live.begin({ facts, attachment })
  },
  generating: (recorder) => answering.beginning.live?.add(recorder) ?? (() => {}),
})

const factsOfCall = ({ stream, messages }: SessionCall) => ({ isStreamed: stream, messages: messages.length })

/** Adds an answered call to its session. */
async function record(answering: Answering, answered: Answered, ended: Ended): Promise<void> {
  const { session, call, body, beginning } = answering
  const { attachment, nodes, reply } = answered
  const facts: SessionCallRecord['facts'] = {
    ...factsOf(answering, ended),
    ...factsOfCall(call),
    promptTokens: reply?.usage.promptTokens ?? 0,
    cachedTokens: reply?.usage.cachedTokens ?? 0,
    drift: answered.drift ?? null,
    completionTokens:
      reply?.usage.completionTokens ?? nodes.reduce((sum, { outcome }) => sum + outcome.tokens.reply, 0),
  }
  const { begun, live } = beginning
  await session.exclusive(() =>
    session.commit({ facts, attachment, nodes, body, response: ended.written ?? null, begun }),
  )
  live?.end(nodes.map(({ path }) => path?.outcome))
}

/** Adds a call that was refused before it had a place in the forest. */
async function recordRefusal(answering: Omit<Answering, 'call'>, failure: CallFailure): Promise<void> {
  const { session, body, beginning } = answering
  const { begun, live } = beginning
  const facts = factsOf(answering, { status: failure.status, failure })
  await session.exclusive(() => session.commit({ facts, nodes: [], body, response: null, begun }))
  live?.end([])
}

const factsOf = ({ name, ...call }: Omit<Answering, 'call'>, { status, failure }: Ended): SessionCallRecord['facts'] =>
  callFacts({ ...call, protocol: name, path: protocols[name].path }, { status, error: failure?.message ?? null })

/** Returns the failure of a call for its client: the status of the server, if the server refused it. */
function failureFor(error: unknown, call?: SessionCall): CallFailure {
  if (error instanceof CallRefusal) return failureOf(error)
  const outcome = outcomeIn(error)
  const cause = outcome && error instanceof Error ? error.cause : error
  if (cause instanceof EngineError)
    return {
      status: cause.code === 'CONTEXT_LENGTH' ? 400 : statusOf(cause),
      message: withAdvice(cause.message, cause.hint),
      ...(cause.code === 'CONTEXT_LENGTH' && { context: cause.context ?? {} }),
      ...(cause.retryAfterMs !== undefined && { retryAfterMs: cause.retryAfterMs }),
    }
  if (outcome?.kind === 'ended' && outcome.reason === 'context_full') {
    const context = contextOf(outcome.context ?? {}, call)
    return { status: 400, message: `${contextText(context)} Shorten it.`, context }
  }
  if (outcome?.kind === 'ended') return { status: 502, message: `The server ended the call: ${outcome.reason}.` }
  if (outcome?.kind === 'failed')
    return {
      status: INPUT_REFUSALS.has(outcome.code) ? 400 : 502,
      message: withAdvice(outcome.message, outcome.hint),
    }
  const problem = foreseenProblem(error)
  if (problem) {
    const { status, detail, hint, field } = problem
    return {
      status,
      message: withAdvice(detail, hint),
      ...(field !== undefined && { field }),
    }
  }
  console.error('unexpected error in a call of a session:', error)
  return { status: 500, message: 'Rollscope itself failed: see its log.' }
}

/** Returns the status of a refusal by the server; 502 for an answer that is no refusal, such as a redirect. */
const statusOf = ({ status = 0 }: EngineError): number => (status >= 400 ? status : 502)

/** Codes of runs that end before their request because of their input: the same call fails again. */
const INPUT_REFUSALS: ReadonlySet<string> = new Set([
  'TEMPLATE_ERROR',
  'IMAGE_REFUSED',
  'IMAGE_PLACEHOLDERS',
  'IMAGES_IN_MESSAGES',
])

/**
 * Returns the token counts of a call that does not fit. A call without a limit requested the whole context, though one token would do for
 * a reply: clients compute from these counts what they must remove.
 */
function contextOf(
  { needed, holds }: { readonly [Name in keyof ContextCounts]?: ContextCounts[Name] | undefined },
  call: SessionCall | undefined,
): ContextCounts {
  const isUnlimited = call !== undefined && call.sampling.max_new_tokens === undefined
  return contextNeeded(needed !== undefined && holds !== undefined && isUnlimited ? needed - holds + 1 : needed, holds)
}

function contextText({ needed, holds }: ContextCounts): string {
  const what = 'The conversation does not fit into the context of the model'
  if (holds === undefined) return `${what}.`
  return needed === undefined
    ? `${what}, which has ${holds} tokens.`
    : `${what}: it needs ${needed} tokens, and the context has ${holds}.`
}
