/**
 * Rollouts of NeMo-Gym: items of the Responses API. Each answer of the model carries the ids of its whole prompt, the ids that were
 * generated, and their logprobs.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { type NestedExperts, withCallExperts } from '#lib/trajectory/experts/slices.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { hasLogprobs, idsSchema, logprobsSchema, nestedExpertsSchema } from '../columns.ts'
import { foreignTrajectory } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { readMessages, readTools } from '../messages.ts'
import { meaningOf } from '../number-columns.ts'
import { catchRefusals, parsedAt, refuse } from '../reading/record-error.ts'
import { joinTurns, type Turn } from '../turns.ts'

const NAME = 'nemo-gym'

/** The format of NeMo-Gym's rollouts. */
export const nemoGym: Format = {
  name: NAME,
  label: 'NeMo-Gym rollout',
  keeps: 'Ids, logprobs, routed experts, messages and calls of each answer, the model, the reward and the group.',
  sniff: (value) => isObject(value) && itemsOf(value).some((item) => isObject(item) && 'generation_token_ids' in item),
  read: catchRefusals((value, source) => {
    const record = parsedAt(recordSchema, value, '')
    const request = record.responses_create_params
    const turns = turnsOf(record)
    const sequences = joinTurns(turns, source.newId).map((sequence) => ({
      ...sequence,
      routed: withCallExperts(
        sequence.segments,
        sequence.turns.map((turn) => turns[turn]?.experts),
      ),
    }))
    const areRouted = sequences.every(({ routed }) => routed)
    return sequences.map((sequence, number) =>
      foreignTrajectory(
        {
          format: NAME,
          segments: sequence.routed ?? sequence.segments,
          outcome: { kind: 'ended', reason: 'unknown' },
          reward: record.reward ?? undefined,
          lacked: ['loss mask: what the model generated counts as trained', 'outcome'],
          missing: ['mask'],
          group: groupOf(record),
          modelName: modelOf(record),
          tools: isObject(request) ? readTools(request.tools) : undefined,
          columnMeanings: {
            ...(hasLogprobs(sequence.segments) && { logprobs: meaningOf('logprobs', 'generation_log_probs') }),
          },
          forkedFrom: sequence.forkedFrom,
          rest: number === 0 ? withoutColumns(record, areRouted ? [...COLUMNS, EXPERTS] : COLUMNS) : undefined,
        },
        source,
        sequence.id,
      ),
    )
  }),
}

/** The items of the response, also if the record is the response itself. */
function itemsOf({ response, output }: JsonObject): readonly unknown[] {
  const items = isObject(response) ? response.output : output
  return Array.isArray(items) ? items : []
}

/** Rollouts of one task are a group. */
function groupOf({ _ng_task_index: task, _ng_rollout_index: index }: JsonObject): Trajectory['group'] {
  const isKnown = Number.isSafeInteger(task) && Number.isSafeInteger(index) && (index as number) >= 0
  return isKnown ? { id: String(task), index: index as number } : undefined
}

function modelOf({ response, model }: JsonObject): string | undefined {
  const name = isObject(response) ? response.model : model
  return typeof name === 'string' ? name : undefined
}

const itemSchema = z.looseObject({
  prompt_token_ids: z.nullish(idsSchema),
  generation_token_ids: z.nullish(idsSchema),
  generation_log_probs: z.nullish(logprobsSchema),
  routed_experts: z.nullish(z.unknown()),
})
const recordSchema = z.looseObject({ reward: z.nullish(z.number()) })

/** A call, with the experts of the tokens of its prompt and reply if the file has them. */
interface RoutedTurn extends Turn {
  readonly experts: NestedExperts | undefined
}

function turnsOf(record: JsonObject): readonly RoutedTurn[] {
  const prefix = isObject(record.response) ? 'response.output' : 'output'
  const items = itemsOf(record).map((item) => (isObject(item) ? (without(item, [...COLUMNS, EXPERTS]) ?? {}) : item))
  const messages = inputOf(record.responses_create_params)
  let start = 0
  return itemsOf(record).flatMap((item, index) => {
    const at = `${prefix}[${index}]`
    const {
      generation_token_ids: response,
      prompt_token_ids: prompt,
      generation_log_probs: logprobs,
      routed_experts: experts,
    } = parsedAt(itemSchema, item, at)
    if (!response) return []
    if (!prompt) return refuse(`${at}.prompt_token_ids`, 'the ids of the prompt', undefined)
    // The ids of a reply are those of its last item.
    const added = messagesOfItems(items.slice(start, index + 1)).map(({ message }) => message)
    const reply = elementAt(added.filter(isObject), added.length - 1)
    messages.push(...added.slice(0, -1))
    const turn = {
      prompt,
      response,
      columns: { mask: undefined, logprobs },
      messages: readMessages(messages) ?? [],
      about: { message: reply },
      experts: nestedExpertsSchema.safeParse(experts).data,
    }
    messages.push(reply)
    start = index + 1
    return [turn]
  })
}

/** Returns the messages of the request. */
function inputOf(request: unknown): unknown[] {
  const { instructions, input } = isObject(request) ? request : {}
  return [
    ...(typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []),
    ...(typeof input === 'string' ? [{ role: 'user', content: input }] : []),
    ...(Array.isArray(input) ? messagesOfItems(input).map(({ message }) => message) : []),
  ]
}

const COLUMNS = ['prompt_token_ids', 'generation_token_ids', 'generation_log_probs']
const EXPERTS = 'routed_experts'

/** Returns the items without the arrays that the trajectory has. */
function withoutColumns(record: JsonObject, columns: readonly string[]): JsonObject | undefined {
  const items = itemsOf(record).map((item) => without(item as JsonObject, columns) ?? {})
  const { response } = record
  return without(
    isObject(response) ? { ...record, response: { ...response, output: items } } : { ...record, output: items },
    ['reward'],
  )
}
