/**
 * Chats of Gemini CLI (`~/.gemini/tmp/PROJECT/chats/session-*.jsonl`): a line for each message, which a later line of the same id replaces,
 * and lines that set fields or go back to a message. Older versions store one JSON object.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { messagesOfContents } from '../conversations/gemini.ts'
import { type SessionMessage, sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { usageField } from '../replies/chat-reply.ts'

const NAME = 'gemini-cli'

/** The format of Gemini CLI. */
export const geminiCli: Format = {
  name: NAME,
  label: 'Gemini CLI',
  keeps: 'Messages, thoughts, calls, results and counts. Texts only.',
  joins: true,
  sniff: (value) =>
    isObject(value) && (isHead(value) || isMessage(value) || isObject(value[SET]) || typeof value[REWIND] === 'string'),
  read: catchRefusals((value, source) => {
    const { head, messages } = chatIn(value)
    const segments = sessionSegments(
      messages.flatMap(({ message, path }, index) => {
        const next = messages[index + 1]?.message
        return messagesOf(message, path, next)
      }),
    )
    const model = messages.findLast(({ message }) => typeof message.model === 'string')?.message.model
    const others = messages.flatMap(({ message }) => (isRead(message) ? [] : [message]))
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          model: model as string | undefined,
          createdAt: isoText(head.startTime),
          lacked: ['system prompt and tools: Gemini CLI adds them to each request'],
          rest: { ...head, ...(others.length > 0 && { otherMessages: others }) },
        },
        source,
      ),
    ]
  }),
}

const [SET, REWIND] = ['$set', '$rewindTo'] as const

const isHead = ({ sessionId, projectHash }: JsonObject): boolean =>
  typeof sessionId === 'string' && typeof projectHash === 'string'

const isMessage = ({ id, type, timestamp, content }: JsonObject): boolean =>
  typeof id === 'string' && typeof timestamp === 'string' && TYPES.includes(type) && content !== undefined

const TYPES: readonly unknown[] = ['user', 'gemini', 'info', 'error', 'warning']

/** Returns whether the model reads or writes a message. Others are shown to the user only. */
const isRead = ({ type }: JsonObject): boolean => type === 'user' || type === 'gemini'

interface PlacedMessage {
  readonly message: JsonObject
  readonly path: string
}

function chatIn(value: unknown): { readonly head: JsonObject; readonly messages: readonly PlacedMessage[] } {
  let head: JsonObject = {}
  const messages = new Map<unknown, PlacedMessage>()
  const addAll = (list: unknown, path: string) => {
    for (const [index, message] of objectsIn(list).entries())
      messages.set(message.id, { message, path: `${path}[${index}]` })
  }
  for (const { record, path } of recordsOf(value)) {
    const { [SET]: fields = record, [REWIND]: last } = record
    if (typeof last === 'string') {
      const ids = [...messages.keys()]
      for (const id of ids.slice(ids.indexOf(last))) messages.delete(id)
    } else if (isMessage(record)) messages.set(record.id, { message: record, path: path.replace(/\.$/, '') })
    else if (isObject(fields)) {
      const at = fields === record ? path : `${path}${SET}.`
      if (Array.isArray(fields.messages)) {
        messages.clear()
        addAll(fields.messages, `${at}messages`)
      }
      head = { ...head, ...without(fields, ['messages']) }
    }
  }
  return { head, messages: [...messages.values()] }
}

/** Returns a message in the notation of chat completions. Its calls have the results, which the next message may repeat. */
function messagesOf(record: JsonObject, path: string, next: JsonObject | undefined): readonly SessionMessage[] {
  const { type, content, thoughts, toolCalls, tokens } = record
  if (!isRead(record)) return []
  const parts = typeof content === 'string' ? [{ text: content }] : content
  if (type === 'user') return messagesOfContents([{ role: 'user', parts }], path).map((message) => ({ message, path }))
  const calls = objectsIn(toolCalls)
  const results = calls.flatMap(({ id, name, result }) =>
    messagesOfContents(
      [
        {
          role: 'user',
          parts:
            typeof result === 'string' ? [{ functionResponse: { id, name, response: { output: result } } }] : result,
        },
      ],
      path,
    ),
  )
  const isRepeated = JSON.stringify(next?.content ?? '').includes('"functionResponse"')
  const reply = {
    role: 'model',
    parts: [
      ...objectsIn(thoughts).map(({ subject, description }) => ({
        text: [subject, description].filter(Boolean).join(': '),
        thought: true,
      })),
      ...objectsIn([parts].flat()),
      ...calls.map(({ id, name, args }) => ({ functionCall: { id, name, args } })),
    ],
  }
  return [
    ...messagesOfContents([reply], path).map((message) => ({ message, path, about: aboutOf(tokens) })),
    ...(isRepeated ? [] : results.map((message) => ({ message, path }))),
  ]
}

/** Thoughts are not among the tokens of the output. */
function aboutOf(tokens: unknown): SessionMessage['about'] & object {
  if (!isObject(tokens)) return {}
  const { input, output, thoughts, cached } = tokens
  return usageField({
    prompt_tokens: input,
    completion_tokens: typeof output === 'number' ? output + Number(thoughts ?? 0) : undefined,
    prompt_tokens_details: { cached_tokens: cached },
  })
}
