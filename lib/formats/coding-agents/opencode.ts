/** Sessions of opencode, as `opencode export` writes them. A part of a reply has a call together with its result. */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type SessionMessage, sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { finishOf, usageField } from '../replies/chat-reply.ts'

const NAME = 'opencode'

/** The format of opencode. */
export const opencode: Format = {
  name: NAME,
  label: 'opencode',
  keeps: 'Messages, reasoning, calls, results and counts. Texts only.',
  sniff: (value) =>
    isObject(value) && isObject(value.info) && Array.isArray(value.messages) && value.messages.some(isMessage),
  read: catchRefusals((value, source) => {
    const { info: session, messages, ...others } = value as Session
    const list = messages.filter(isMessage)
    const segments = sessionSegments(list.flatMap((message, index) => messagesOf(message, `messages[${index}]`)))
    const models = list.map(({ info }) => info.modelID)
    const trajectory = textTrajectory(
      {
        format: NAME,
        segments,
        outcome: failureIn(elementAt(list, list.length - 1).info) ?? outcomeOfMessages(segments),
        model: models.findLast((model) => typeof model === 'string') as string | undefined,
        createdAt: isObject(session.time) ? isoTime(Number(session.time.created) / 1000) : undefined,
        lacked: ['system prompt and tools: opencode adds them to each request'],
        rest: { ...without(session, ['title']), ...others },
      },
      source,
    )
    return [typeof session.title === 'string' ? { ...trajectory, title: session.title } : trajectory]
  }),
}

interface Session extends JsonObject {
  readonly info: JsonObject
  readonly messages: readonly unknown[]
}

interface OpencodeMessage {
  readonly info: JsonObject
  readonly parts: readonly unknown[]
}

const isMessage = (value: unknown): value is OpencodeMessage =>
  isObject(value) && isObject(value.info) && typeof value.info.role === 'string' && Array.isArray(value.parts)

/** Returns a message in the notation of chat completions, with the results of its calls after it. */
function messagesOf({ info, parts }: OpencodeMessage, path: string): readonly SessionMessage[] {
  const { role, tokens, finish } = info
  const all = objectsIn(parts)
  const textsOf = (type: string) => all.flatMap((part) => (part.type === type ? [String(part.text)] : [])).join('\n')
  if (role !== 'assistant') {
    const content = all.filter(({ type }) => type === 'text' || type === 'file')
    return [{ message: { role, content }, path }]
  }
  const calls = all.flatMap(({ type, callID: id, tool: name, state }) =>
    type === 'tool' && isObject(state) ? [{ id, name, state }] : [],
  )
  const reply = {
    role: 'assistant',
    content: textsOf('text'),
    reasoning_content: textsOf('reasoning'),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, state }) => ({ id, function: { name, arguments: state.input } })),
    }),
  }
  const reason = typeof finish === 'string' ? finishOf({ finish_reason: finish.replace('-', '_') }) : undefined
  return [
    { message: reply, path, about: { ...usageOf(tokens), ...(reason && { finish: reason }) } },
    ...calls.flatMap(({ id, name, state }) => {
      const isError = state.status === 'error'
      const result = isError ? state.error : state.output
      return typeof result === 'string'
        ? [{ message: { role: 'tool', tool_call_id: id, name, content: result, is_error: isError }, path }]
        : []
    }),
  ]
}

/** Tokens of the cache are not among those of the input, nor those of the reasoning among those of the output. */
function usageOf(tokens: unknown): Pick<NonNullable<SessionMessage['about']>, 'usage'> {
  if (!isObject(tokens)) return {}
  const { read, write } = isObject(tokens.cache) ? tokens.cache : {}
  const sum = (...counts: readonly unknown[]) => counts.reduce<number>((all, count) => all + Number(count ?? 0), 0)
  return usageField({
    prompt_tokens: sum(tokens.input, read, write),
    completion_tokens: sum(tokens.output, tokens.reasoning),
    prompt_tokens_details: { cached_tokens: read },
  })
}

function failureIn({ error }: JsonObject): Outcome | undefined {
  if (!isObject(error)) return undefined
  if (error.name === 'MessageAbortedError') return { kind: 'ended', reason: 'cancelled' }
  const message = isObject(error.data) ? error.data.message : undefined
  return { kind: 'failed', code: 'AGENT_ERROR', message: String(message ?? error.name) }
}
