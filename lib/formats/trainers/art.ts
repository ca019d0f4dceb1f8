/**
 * Trajectories of OpenPipe’s ART: as its classes dump them, in groups, and as JSON in the rows of its Parquet files of 0.5.23. They have
 * the requests and replies of the model, or messages and choices, whose logprobs may have the ids of the tokens.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { anthropic } from '../conversations/anthropic.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, joinedPath, RecordError, refuse } from '../reading/record-error.ts'
import { type RunFacts, trajectoriesOfCalls } from '../replies/call-chains.ts'
import { chatCall, chatCalls } from '../replies/chat-reply.ts'
import { completion } from '../replies/completion.ts'
import type { ModelCall } from '../replies/model-call.ts'
import { responses } from '../replies/responses.ts'

const NAME = 'art'

/** The format of ART’s trajectories. */
export const art: Format = {
  name: NAME,
  label: 'ART trajectories',
  keeps: 'Messages, tools, reward and group; ids and logprobs of replies that have them.',
  sniff: (value) => isObject(value) && (isTrajectory(value) || isRow(value) || groupIn(value) !== undefined),
  read: catchRefusals((value, source) => {
    const record = value as JsonObject
    if (isRow(record)) return trajectoriesOfRow(record, source)
    const group = groupIn(record)
    if (!group) return trajectoriesIn(record, '', {}, source)
    const id = source.newId()
    const rest = without(record, ['trajectories'])
    return group.flatMap((trajectory, index) =>
      trajectoriesIn(
        trajectory,
        `trajectories[${index}]`,
        { group: { id, index }, rest: rest && { group: rest } },
        source,
      ),
    )
  }),
}

const isTrajectory = (value: unknown): value is JsonObject =>
  isObject(value) &&
  'reward' in value &&
  (Array.isArray(value.messages_and_choices) || (isObject(value.exchanges) && 'chat_completions' in value.exchanges))

const groupIn = ({ trajectories }: JsonObject): readonly JsonObject[] | undefined =>
  Array.isArray(trajectories) && trajectories.length > 0 && trajectories.every(isTrajectory) ? trajectories : undefined

const isRow = (value: JsonObject): boolean => 'trajectory_json' in value && 'group_json' in value

/** A group without trajectories is a row, too. */
function trajectoriesOfRow(
  { trajectory_json, group_index, trajectory_index, group_metadata }: JsonObject,
  source: RecordSource,
) {
  if (trajectory_json === null) return []
  const record = parseNestedJson(trajectory_json)
  if (!isTrajectory(record)) return refuse('trajectory_json', 'the JSON of a trajectory', record)
  const group =
    Number.isSafeInteger(group_index) && Number.isSafeInteger(trajectory_index)
      ? { id: String(group_index), index: Number(trajectory_index) }
      : undefined
  const metadata = parseNestedJson(group_metadata)
  const rest = isObject(metadata) ? { group: metadata } : undefined
  return trajectoriesIn(record, 'trajectory_json', { group, rest }, source)
}

type Facts = Pick<RunFacts, 'group' | 'rest'>

/** The other histories of a trajectory have its reward. */
function trajectoriesIn(record: JsonObject, path: string, { group, rest }: Facts, source: RecordSource) {
  const { reward, exchanges } = record
  const own = { ...rest, ...without(record, READ) }
  const run: RunFacts = {
    format: NAME,
    ...(typeof reward === 'number' && { reward }),
    ...(group && { group }),
    rest: Object.keys(own).length > 0 ? own : undefined,
  }
  if (isObject(exchanges) && !Array.isArray(record.messages_and_choices))
    return exchangeTrajectories(exchanges, joinedPath(path, 'exchanges'), run, source)
  const others = objectsIn(record.additional_histories).flatMap((history, index) =>
    historyTrajectories(
      history,
      joinedPath(path, `additional_histories[${index}]`),
      { ...run, rest: undefined },
      source,
    ),
  )
  return [...historyTrajectories(record, path, run, source), ...others]
}

const READ = ['messages_and_choices', 'additional_histories', 'exchanges', 'tools', 'reward']

/** Kinds of exchanges with the format of one request and its reply. */
const OTHERS = { messages: anthropic, responses, completions: completion } as const

function exchangeTrajectories(exchanges: JsonObject, path: string, run: RunFacts, source: RecordSource) {
  const chats = objectsIn(exchanges.chat_completions)
    .map((exchange, index) => ({ exchange, at: joinedPath(path, `chat_completions[${index}].response`) }))
    .sort((a, b) => Date.parse(String(a.exchange.start_time)) - Date.parse(String(b.exchange.start_time)))
  const calls = chats.flatMap(({ exchange: { request, response }, at }) =>
    isObject(response)
      ? chatCalls(response, isObject(request) ? request : undefined, at).slice(0, 1)
      : refuse(at, 'a reply', response),
  )
  const others = Object.entries(OTHERS).flatMap(([kind, format]) =>
    objectsIn(exchanges[kind]).flatMap(({ request, response }, index) => {
      const read = format.read({ request, response }, source)
      if (!read.ok)
        throw new RecordError({ ...read.error, path: joinedPath(`${path}.${kind}[${index}]`, read.error.path) })
      return read.trajectories.map((trajectory): Trajectory => ({ ...trajectory, ...rewardAndGroup(run) }))
    }),
  )
  return [...trajectoriesOfCalls(calls, run, source), ...others]
}

const rewardAndGroup = ({ reward, group }: RunFacts): Pick<Trajectory, 'reward' | 'group'> => ({
  ...(reward !== undefined && { reward }),
  ...(group && { group }),
})

function historyTrajectories(
  { messages_and_choices: list, tools }: JsonObject,
  path: string,
  run: RunFacts,
  source: RecordSource,
): readonly Trajectory[] {
  const at = joinedPath(path, 'messages_and_choices')
  const messages: JsonObject[] = []
  const calls: ModelCall[] = []
  let ids: readonly number[] = []
  const items: readonly unknown[] = Array.isArray(list) ? list : []
  for (const [index, item] of items.entries()) {
    const place = `${at}[${index}]`
    if (!isObject(item)) return refuse(place, 'a message or a choice', item)
    if (!isObject(item.message)) {
      messages.push(item)
      continue
    }
    const call = chatCall({}, item, { messages: [...messages], tools }, { reply: place, choice: place })
    const { response } = call
    // The ids of the prompts are unknown, so those of the replies follow each other.
    calls.push({ ...call, sampling: undefined, prompt: response.ids.length > 0 ? { ids } : undefined })
    ids = [...ids, ...response.ids]
    messages.push(item.message)
  }
  if (calls.length > 0) return trajectoriesOfCalls(calls, run, source)
  const segments = conversationSegments(messages, at)
  return [
    textTrajectory(
      { ...run, segments, outcome: outcomeOfMessages(segments), tools: readTools(tools), rest: run.rest },
      source,
    ),
  ]
}
