/** Atropos' ScoredDataGroup: the samples of one prompt, with arrays over all tokens. A mask of -100 means that a token is not trained. */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { idsSchema, logprobsSchema, UNTRAINED_LABEL } from '../columns.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt, refuse } from '../reading/record-error.ts'
import { refuseUneven, type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'atropos'

/** The format of Atropos' groups. */
export const atropos: Format = {
  name: NAME,
  label: 'Atropos group',
  keeps: 'Ids, loss mask, inference logprobs, reference logprobs, advantages, scores and messages of each sample.',
  sniff: (value) => isObject(value) && ['tokens', 'masks', 'scores'].every((key) => Array.isArray(value[key])),
  read: catchRefusals((value, source) => {
    const group = parsedAt(groupSchema, value, '')
    refuseUneven(group, PER_SAMPLE, group.tokens.length)
    const id = source.newId()
    return group.tokens.map((ids, index) => trainedTrajectory(NAME, sampleOf(group, index, ids, id), source))
  }),
}

const labels = z.array(z.int())
const perSample = <T>(schema: z.ZodMiniType<T>) => z.nullish(z.array(z.nullable(schema)))
const groupSchema = z.looseObject({
  tokens: z.array(idsSchema),
  masks: z.array(labels),
  scores: z.array(z.nullable(z.number())),
  advantages: perSample(logprobsSchema),
  ref_logprobs: perSample(logprobsSchema),
  inference_logprobs: perSample(logprobsSchema),
  messages: perSample(z.array(z.unknown())),
})
type Group = z.infer<typeof groupSchema>

/** Columns with an entry for each sample. */
const PER_SAMPLE = ['masks', 'scores', 'advantages', 'ref_logprobs', 'inference_logprobs', 'messages'] as const

/** Returns the loss mask of labels. A label is the id of its token; refuses another one, which belongs to another token. */
export function maskOfLabels(all: readonly number[], ids: readonly number[], path: string): readonly (0 | 1)[] {
  const wrong = all.findIndex((label, token) => label !== UNTRAINED_LABEL && label !== ids[token])
  if (all.length === ids.length && wrong >= 0)
    refuse(`${path}[${wrong}]`, `-100, or ${ids[wrong]} (the id of the token)`, all[wrong])
  return all.map((label) => (label === UNTRAINED_LABEL ? 0 : 1))
}

function sampleOf(group: Group, index: number, ids: readonly number[], id: string): TrainedSample {
  const field = `masks[${index}]`
  const record = { advantages: group.advantages?.[index], ref_logprobs: group.ref_logprobs?.[index] }
  return {
    path: `tokens[${index}]`,
    sequence: {
      ids,
      promptLength: 0,
      mask: { field, entries: maskOfLabels(elementAt(group.masks, index), ids, field) },
      logprobs: { field: 'inference_logprobs', entries: placeholders(group.inference_logprobs?.[index]) },
      // A list with one entry is the advantage of the whole sample.
      record: {
        ...record,
        ...(record.advantages?.length === 1 && { advantages: ids.map(() => record.advantages?.[0]) }),
      },
      fields: { advantages: 'advantage', ref_logprobs: 'referenceLogprobs' },
      hasFillers: true,
    },
    messages: group.messages?.[index] ?? undefined,
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: group.scores[index] ?? undefined,
      group: { id, index },
      rest: restOf(group, index),
    },
  }
}

/** Unread lists with an entry for each sample: each trajectory keeps its own entry. */
const UNREAD_PER_SAMPLE = ['overrides', 'images', 'distill_token_ids', 'distill_logprobs']

function restOf(group: Group, index: number): JsonObject | undefined {
  const rest = without(group, ['tokens', ...PER_SAMPLE, ...UNREAD_PER_SAMPLE])
  const own = UNREAD_PER_SAMPLE.filter((key) => key in group).map((key) => {
    const list = group[key]
    return [key, Array.isArray(list) && list.length === group.tokens.length ? list[index] : list]
  })
  return own.length > 0 ? { ...rest, ...Object.fromEntries(own) } : rest
}

/** Atropos writes 1.0 where a token was not sampled: no logprob is above 0. */
const placeholders = (logprobs: Logprobs | null | undefined): Logprobs | undefined =>
  logprobs?.map((logprob) => (logprob === 1 ? null : logprob))
type Logprobs = readonly (number | string | null)[]
