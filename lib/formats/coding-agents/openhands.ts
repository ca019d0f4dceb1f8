/**
 * Runs of OpenHands: lines of an evaluation's `output.jsonl`, and lists of events. An action of the agent is a call of its model, and an
 * observation is the result. Until 1.0, an action has the reply of the server; since then, an event has a kind and the message itself.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { conversationSegments, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, joinedPath, refuse } from '../reading/record-error.ts'

const NAME = 'openhands'

/** The format of the lines of an evaluation. */
export const openHands: Format = {
  name: NAME,
  label: 'OpenHands evaluation',
  keeps: 'Messages, reasoning, calls, results, reward, error and instance. Texts only.',
  sniff: (value) =>
    isObject(value) && Array.isArray(value.history) && value.history.length > 0 && value.history.every(isAnyEvent),
  read: catchRefusals((value, source) => {
    const { history, ...record } = isObject(value) ? value : {}
    return [eventsTrajectory(NAME, record, [history].flat(), 'history', source)]
  }),
}

/** The format of events. */
export const openHandsEvents: Format = {
  name: 'openhands-events',
  label: 'OpenHands events',
  keeps: 'Messages, reasoning, calls and results. Texts only.',
  joins: 'list',
  joinsFiles: true,
  sniff: isEvent,
  read: catchRefusals((value, source) => [eventsTrajectory('openhands-events', {}, [value].flat(), '', source)]),
}

/** The first versions wrote events without a source. */
const isAnyEvent = (value: unknown): boolean => isEvent(value) || (isNamed(value) && !('role' in value))

function isEvent(value: unknown): boolean {
  if (!isObject(value) || typeof value.source !== 'string') return false
  return typeof value.kind === 'string' ? 'timestamp' in value : 'id' in value && isNamed(value)
}

const isNamed = (value: unknown): value is JsonObject =>
  isObject(value) && typeof (value.action ?? value.observation) === 'string'

function eventsTrajectory(
  format: string,
  record: JsonObject,
  events: readonly unknown[],
  path: string,
  source: RecordSource,
): Trajectory {
  const { messages, others, tools, model, isFinished } = conversationOf(events, path)
  const { metadata, instance_id: title, error } = record
  const settings = isObject(metadata) ? [metadata.llm_config, metadata.llm].find(isObject) : undefined
  const trajectory = textTrajectory(
    {
      format,
      segments: conversationSegments(messages, path),
      outcome: outcomeOf(error, isFinished),
      reward: rewardOf(record),
      model: [model, settings?.model].find((name) => typeof name === 'string'),
      tools: readTools(tools),
      rest: without({ ...record, ...(others.length > 0 && { history: others }) }, []),
    },
    source,
  )
  return typeof title === 'string' ? { ...trajectory, title } : trajectory
}

/** The report of the tests, which an evaluation adds to the line. */
function rewardOf({ report, test_result: result, resolved }: JsonObject): unknown {
  const reports = [report, isObject(result) ? result.report : undefined, result].filter(isObject)
  return [resolved, ...reports.map((one) => one.resolved)].find((one) => typeof one === 'boolean')
}

function outcomeOf(error: unknown, isFinished: boolean): Outcome {
  if (typeof error !== 'string' || error === '') return { kind: 'ended', reason: isFinished ? 'end_turn' : 'unknown' }
  const isLimit = /maximum|limit|budget|timeout|stuck/i.test(error)
  return isLimit ? { kind: 'ended', reason: 'truncated' } : { kind: 'failed', code: 'AGENT_ERROR', message: error }
}

interface Conversation {
  readonly messages: readonly JsonObject[]
  /** Events that no model reads or writes. */
  readonly others: readonly JsonObject[]
  readonly tools: unknown
  readonly model: unknown
  readonly isFinished: boolean
}

/** A message in the notation of chat completions. */
interface EventMessage {
  readonly role: string
  readonly content: unknown
  readonly reasoning_content?: unknown
  readonly tool_call_id?: unknown
  readonly name?: unknown
  readonly is_error?: unknown
  readonly tool_calls?: readonly JsonObject[]
  /** Id of the reply. Several actions may belong to one reply. */
  readonly reply?: unknown
  readonly model?: unknown
}

function conversationOf(events: readonly unknown[], path: string): Conversation {
  const messages: JsonObject[] = []
  const others: JsonObject[] = []
  const callsOfReplies = new Map<unknown, JsonObject[]>()
  let [tools, model, last]: unknown[] = []
  for (const [index, event] of events.entries()) {
    const at = joinedPath(path, `[${index}]`)
    if (!isObject(event)) return refuse(at, 'an event', event)
    const read = typeof event.kind === 'string' ? readEvent(event, event.kind, at) : readOldEvent(event)
    if (!read) {
      others.push(event)
      continue
    }
    const { reply, model: named, content, tool_calls: calls = [], ...message } = read
    tools ??= event.tools ?? (isObject(event.args) ? event.args.tools : undefined)
    model ??= named
    last = event.tool_name ?? event.action ?? last
    const earlier = reply === undefined ? undefined : callsOfReplies.get(reply)
    if (earlier) {
      earlier.push(...calls.filter(({ id }) => !earlier.some((call) => call.id === id)))
      continue
    }
    const own = [...calls]
    callsOfReplies.set(reply, own)
    messages.push({ ...message, content: contentOf(content), ...(own.length > 0 && { tool_calls: own }) })
  }
  return { messages, others, tools, model, isFinished: last === 'finish' }
}

function contentOf(content: unknown): unknown {
  if (content === undefined || content === null) return ''
  const isContent = typeof content === 'string' || (Array.isArray(content) && content.every(isObject))
  return isContent ? content : JSON.stringify(content)
}

/** Names of events about the program's own state, which no model reads. */
const SILENT: readonly unknown[] = [
  ...['recall', 'change_agent_state', 'agent_state_changed', 'null', 'condensation', 'pause', 'resume'],
]

/** Reads an event before 1.0. The first versions have the arguments of an action beside its name. */
function readOldEvent(event: JsonObject): EventMessage | undefined {
  const { source, action, observation } = event
  if (SILENT.includes(action ?? observation)) return undefined
  const called = isObject(event.tool_call_metadata) ? event.tool_call_metadata : {}
  const { tool_call_id: id, function_name: name } = called
  if (action === undefined) return { role: 'tool', tool_call_id: id, name, content: event.content }
  const { thought, content, ...input } = isObject(event.args) ? event.args : event
  if (action === 'system') return { role: 'system', content }
  if (action === 'message') return { role: source === 'agent' ? 'assistant' : 'user', content }
  if (source === 'user') return undefined
  const response = isObject(called.model_response) ? called.model_response : {}
  const [reply] = objectsIn(response.choices)
    .map(({ message }) => message)
    .filter(isObject)
  const calls = objectsIn(reply?.tool_calls)
  return {
    role: 'assistant',
    content: reply?.content ?? thought,
    reasoning_content: reply?.reasoning_content,
    tool_calls:
      calls.length > 0 ? calls : [{ id, function: { name: name ?? action, arguments: without(input, ['action']) } }],
    reply: response.id,
    model: response.model,
  }
}

const ROLES = ['system', 'user', 'assistant', 'tool']

/** Reads an event since 1.0. */
function readEvent(event: JsonObject, kind: string, path: string): EventMessage | undefined {
  const { tool_name: name, tool_call_id, tool_call: call, thought, llm_response_id: reply } = event
  const result = (content: unknown, is_error?: unknown) => ({ role: 'tool', tool_call_id, name, content, is_error })
  switch (kind) {
    case 'SystemPromptEvent':
      return { role: 'system', content: [event.system_prompt, event.dynamic_context].filter(isObject) }
    case 'MessageEvent': {
      const message = isObject(event.llm_message) ? event.llm_message : {}
      const { role, content, reasoning_content } = message
      if (typeof role !== 'string' || !ROLES.includes(role))
        return refuse(`${path}.llm_message.role`, `one of ${ROLES.join(', ')}`, role)
      return { role, content: [...objectsIn(content), ...objectsIn(event.extended_content)], reasoning_content, reply }
    }
    case 'ActionEvent': {
      const { id, arguments: input } = isObject(call) ? call : {}
      const thoughts = objectsIn(event.thinking_blocks).map(({ thinking }) => thinking)
      return {
        role: 'assistant',
        content: thought,
        reasoning_content: event.reasoning_content ?? thoughts.join('\n'),
        tool_calls: [{ id, function: { name, arguments: input } }],
        reply,
      }
    }
    case 'ObservationEvent':
      return isObject(event.observation)
        ? result(event.observation.content, event.observation.is_error)
        : result(event.observation)
    case 'UserRejectObservation':
      return result(`Action rejected: ${String(event.rejection_reason)}`)
    case 'AgentErrorEvent':
      return result(event.error, true)
    default:
      return undefined
  }
}
