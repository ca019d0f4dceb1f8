/**
 * Logs of Inspect: a whole `.json` log, or the entries of an `.eval` archive, of which only those of samples have trajectories. Ids are in
 * the raw replies of the events, if the log has them (`log_model_api`); otherwise the messages of the sample open.
 */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { isChatReply } from '../replies/chat-completion.ts'
import { chatCalls } from '../replies/chat-reply.ts'
import type { ModelCall } from '../replies/model-call.ts'

const NAME = 'inspect'

/** The format of Inspect logs. */
export const inspectLog: Format = {
  name: NAME,
  label: 'Inspect logs',
  keeps: 'Messages, scores, epochs and, of logs with raw replies, ids, logprobs and alternatives of each call.',
  sniff: (value) => isLog(value) || isSample(value) || isOtherEntry(value),
  read: catchRefusals((value, source) => {
    if (isSample(value)) return sampleTrajectories(value, '', source)
    if (!isLog(value) || !Array.isArray(value.samples)) return []
    return value.samples.flatMap((sample: unknown, index) =>
      isSample(sample)
        ? sampleTrajectories(sample, `samples[${index}].`, source)
        : refuse(`samples[${index}]`, 'a sample with messages', sample),
    )
  }),
}

const isLog = (value: unknown): value is JsonObject =>
  isObject(value) && isObject(value.eval) && 'task' in value.eval && 'version' in value

const isSample = (value: unknown): value is JsonObject & { readonly messages: readonly unknown[] } =>
  isObject(value) && 'epoch' in value && 'input' in value && Array.isArray(value.messages)

/** Summaries of samples and reductions of scores, which an archive has beside its samples. */
const isOtherEntry = (value: unknown): boolean =>
  isObject(value) &&
  (('epoch' in value && 'input' in value && 'target' in value) || ('scorer' in value && Array.isArray(value.samples)))

function sampleTrajectories(
  stored: JsonObject & { readonly messages: readonly unknown[] },
  path: string,
  source: RecordSource,
): readonly Trajectory[] {
  const sample = withAttachments(stored)
  const modelEvents = [...(Array.isArray(sample.events) ? sample.events : []).entries()].flatMap(([index, event]) =>
    isModelEvent(event) ? [{ event, at: `${path}events[${index}]` }] : [],
  )
  const events = modelEvents.map(({ event }) => event)
  const calls = modelEvents.flatMap(({ event, at }) => callOf(event, sample, `${at}.call.response`) ?? [])
  const reward = rewardOf(sample.scores)
  const group = groupOf(sample)
  const rest = storable({
    ...without(sample, [
      'messages',
      'events',
      'events_data',
      'output',
      'attachments',
      ...(group ? ['id', 'epoch'] : []),
    ]),
  })
  const run = {
    format: NAME,
    reward: reward.value,
    ...(group && { group }),
    outcome: failureOf(sample),
    lacked: [...reward.lacked, 'events of the log other than calls of the model'],
    rest,
  }
  const hasIds =
    calls.length > 0 && calls.length === events.length && calls.every(({ response }) => response.ids.length > 0)
  if (hasIds) return trajectoriesOfCalls(calls, run, source)
  const segments = conversationSegments(sample.messages, `${path}messages`)
  const [first] = events
  return [
    textTrajectory(
      {
        ...run,
        segments,
        outcome: run.outcome ?? outcomeOfMessages(segments),
        model: typeof first?.model === 'string' ? first.model : undefined,
        tools: readTools(first?.tools),
        createdAt: isoText(sample.started_at),
      },
      source,
    ),
  ]
}

const isModelEvent = (event: unknown): event is JsonObject => isObject(event) && event.event === 'model'

/** Returns the call of an event if it has a raw reply in the form of chat completions. */
function callOf(event: JsonObject, sample: JsonObject, path: string): ModelCall | undefined {
  const call = isObject(event.call) ? event.call : {}
  if (!isChatReply(call.response)) return undefined
  const found = elementAt(chatCalls(call.response, requestOf(call, sample), path), 0)
  const startedAt = isoText(event.timestamp)
  const { working_time: seconds } = event
  const isTimed = startedAt !== undefined && typeof seconds === 'number' && seconds >= 0 && seconds < 1e9
  const tools = readTools(event.tools) ?? []
  return {
    ...found,
    createdAt: startedAt ?? found.createdAt,
    tools: tools.length > 0 ? tools : found.tools,
    response: { ...found.response, ...(isTimed && { timing: { startedAt, elapsedMs: seconds * 1000 } }) },
  }
}

/** The messages of requests are stored once for the sample: `call_refs` are ranges in `events_data.calls`. */
function requestOf(call: JsonObject, sample: JsonObject): JsonObject | undefined {
  if (!isObject(call.request)) return undefined
  const { call_refs: refs, call_key: key } = call
  const pool = isObject(sample.events_data) && Array.isArray(sample.events_data.calls) ? sample.events_data.calls : []
  if (!Array.isArray(refs) || typeof key !== 'string') return call.request
  const messages = refs.flatMap((range: unknown) =>
    Array.isArray(range) ? pool.slice(Number(range[0]), Number(range[1])) : [],
  )
  return { ...call.request, [key]: messages }
}

/** Long texts are stored once: `attachment://` and the key in `attachments` refer to them. */
function withAttachments<T extends JsonObject>(sample: T): T {
  const { attachments } = sample
  if (!isObject(attachments) || Object.keys(attachments).length === 0) return sample
  const resolved = (value: unknown): unknown => {
    if (typeof value === 'string' && value.startsWith(ATTACHMENT))
      return attachments[value.slice(ATTACHMENT.length)] ?? value
    if (Array.isArray(value)) return value.map(resolved)
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item)]))
      : value
  }
  return resolved(sample) as T
}

const ATTACHMENT = 'attachment://'

/** Inspect's value_to_float: correct, partial, incorrect and no answer. */
const LETTERS: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 }

function rewardOf(scores: unknown): { readonly value: number | undefined; readonly lacked: readonly string[] } {
  const all = isObject(scores) ? Object.values(scores).filter(isObject) : []
  if (all.length > 1) return { value: undefined, lacked: ['reward: the sample has several scores'] }
  const value = all[0]?.value
  if (typeof value === 'number') return { value, lacked: [] }
  if (typeof value === 'boolean') return { value: value ? 1 : 0, lacked: [] }
  const known = typeof value === 'string' && Object.hasOwn(LETTERS, value) ? LETTERS[value] : undefined
  return { value: known, lacked: known === undefined && all.length > 0 ? ['reward: the score is no number'] : [] }
}

/** The epochs of a sample are samples of one prompt. */
function groupOf({ id, epoch }: JsonObject): Trajectory['group'] {
  const hasId = typeof id === 'string' || typeof id === 'number'
  return hasId && Number.isSafeInteger(epoch) && (epoch as number) >= 1
    ? { id: String(id), index: (epoch as number) - 1 }
    : undefined
}

function failureOf({ error, limit }: JsonObject): Outcome | undefined {
  if (isObject(error)) return { kind: 'failed', code: 'INSPECT_ERROR', message: String(error.message ?? '') }
  return isObject(limit) ? { kind: 'ended', reason: 'truncated' } : undefined
}
