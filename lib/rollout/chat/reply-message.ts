/**
 * The calls of a reply over a chat endpoint: those of the server's parser are executed, and those of our parser have
 * positions. The record combines both in one list; a call that only our parser found is in it, but was not executed.
 */
import { type JsonObject, objectOf } from '#lib/json/json-object.ts'
import type { Problem, ResponseSegment, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'

type Message = ResponseSegment['message']

interface MessageCall {
  readonly id: string
  readonly name: string
  /** The arguments as the server wrote them. */
  readonly raw: string
  /** The arguments; undefined if they are not a JSON object. */
  readonly input: JsonObject | undefined
}

/** Returns the calls in the order in which the server gave them. */
export function messageCalls(message: Message): readonly MessageCall[] {
  const calls = Array.isArray(message?.tool_calls) ? (message.tool_calls as readonly WrittenCall[]) : []
  return calls.map(({ id, function: called }) => {
    const raw = called.arguments || '{}'
    return { id: id ?? '', name: called.name ?? '', raw, input: objectOf(raw) }
  })
}

interface WrittenCall {
  readonly id?: string | null
  readonly function: { readonly name?: string | null; readonly arguments?: string | null }
}

/** Returns the message with an id for each call that no call of the trajectory has. */
export function withOwnIds(message: NonNullable<Message>, taken: ReadonlySet<string>): NonNullable<Message> {
  const used = new Set(taken)
  const calls = Array.isArray(message.tool_calls) ? (message.tool_calls as readonly WrittenCall[]) : []
  if (calls.length === 0) return message
  return {
    ...message,
    tool_calls: calls.map((call) => {
      const base = call.id || 'call'
      let id = base
      for (let number = 2; used.has(id); number++) id = `${base}-${number}`
      used.add(id)
      return { ...call, id }
    }),
  }
}

/** The calls of a reply, and the differences between the two parsers. */
export interface ReadCalls {
  readonly toolCalls: readonly ToolCall[]
  readonly problems: readonly Problem[]
}

/**
 * Combines the server's calls with `own`, the calls that our parser found. `length` is the number of tokens of the
 * response.
 */
export function readCalls(own: readonly ToolCall[], message: NonNullable<Message>, length: number): ReadCalls {
  const ids = new Map<ToolCall, string>()
  const lostCalls: ToolCall[] = []
  let from = 0
  for (const called of messageCalls(message)) {
    const { id, name, input } = called
    const kind = input ? 'parsed' : 'malformed'
    const at = own.findIndex((call, index) => index >= from && call.kind === kind && call.name === name)
    if (at >= 0) {
      ids.set(elementAt(own, at), id)
      from = at + 1
    } else lostCalls.push(callOfUnknownPlace(called, length))
  }
  return {
    toolCalls: [...own.map((call) => ({ ...call, id: ids.get(call) ?? call.id })), ...lostCalls],
    problems: lostCalls.map(({ name }) => ({
      kind: 'text',
      message: `The server parsed a call of ${name} that the parser does not find: its position in the response is unknown.`,
    })),
  }
}

/** Returns whether the agent has the call; if the server sent no message, it has every call. */
export function isAgentsCall({ id }: ToolCall, { message }: Pick<ResponseSegment, 'message'>): boolean {
  return message === undefined || messageCalls(message).some((call) => call.id === id)
}

/** Creates a call whose range is the whole response. */
function callOfUnknownPlace({ id, name, raw, input }: MessageCall, length: number): ToolCall {
  const call = { id, name, raw, span: { start: 0, end: length }, text: { start: 0, end: 0 } }
  return input
    ? { kind: 'parsed', ...call, input, arguments: [] }
    : { kind: 'malformed', ...call, why: 'its arguments are not a JSON object', at: 0 }
}
