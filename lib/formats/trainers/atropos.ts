/** Atropos' ScoredDataGroup: the samples of one prompt, with arrays over all tokens. A mask of -100 means that a token is not trained. */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { idsSchema, logprobsSchema } from '../columns.ts'
import type { Format, ReadResult, RecordSource } from '../format.ts'
import { parseRecord, type ReadSamples, readSamples, type TrainedSample } from './trained-sequence.ts'

const NAME = 'atropos'

/** The format of Atropos' groups. */
export const atropos: Format = {
  name: NAME,
  label: 'Atropos group',
  keeps: 'Ids, loss mask, inference logprobs, reference logprobs, advantages, scores and messages of each sample.',
  sniff: (value) => isObject(value) && ['tokens', 'masks', 'scores'].every((key) => Array.isArray(value[key])),
  read,
}

/** The label that PyTorch ignores. */
const UNTRAINED = -100

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

function read(value: unknown, source: RecordSource): ReadResult {
  const parsed = parseRecord(groupSchema, value)
  return readSamples(NAME, 'error' in parsed ? parsed : samplesOf(parsed.data, source.newId()), source)
}

function samplesOf(group: Group, groupId: string): ReadSamples {
  const samples = group.tokens.length
  const uneven = PER_SAMPLE.find((name) => group[name] && group[name].length !== samples)
  if (uneven !== undefined)
    return {
      error: {
        path: uneven,
        expected: `${samples} entries (one for each sample)`,
        found: `${group[uneven]?.length} entries`,
      },
    }
  const rest = without(group, ['tokens', ...PER_SAMPLE])
  const read: TrainedSample[] = []
  for (const [index, ids] of group.tokens.entries()) {
    const mask = elementAt(group.masks, index)
    const error = wrongLabel(mask, ids)
    if (error) return { error: { ...error, path: `masks[${index}]${error.path}` } }
    read.push(sampleOf(group, index, ids, mask, groupId, rest))
  }
  return read
}

/** A label is the id of its token; another one belongs to another token. */
export function wrongLabel(labelsOfTokens: readonly number[], ids: readonly number[]): Violation | undefined {
  const wrong = labelsOfTokens.findIndex((label, token) => label !== UNTRAINED && label !== ids[token])
  if (labelsOfTokens.length !== ids.length || wrong < 0) return undefined
  return {
    path: `[${wrong}]`,
    expected: `-100, or ${ids[wrong]} (the id of the token)`,
    found: String(labelsOfTokens[wrong]),
  }
}

/** Returns the loss mask of labels. */
export const maskOfLabels = (all: readonly number[]): readonly (0 | 1)[] =>
  all.map((label) => (label === UNTRAINED ? 0 : 1))

function sampleOf(
  group: Group,
  index: number,
  ids: readonly number[],
  mask: readonly number[],
  id: string,
  rest: JsonObject | undefined,
): TrainedSample {
  const record = { advantages: group.advantages?.[index], ref_logprobs: group.ref_logprobs?.[index] }
  return {
    path: `tokens[${index}]`,
    sequence: {
      ids,
      promptLength: 0,
      mask: { field: `masks[${index}]`, entries: maskOfLabels(mask) },
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
      rest,
    },
  }
}

/** Atropos writes 1.0 where a token was not sampled: no logprob is above 0. */
const placeholders = (logprobs: Logprobs | null | undefined): Logprobs | undefined =>
  logprobs?.map((logprob) => (logprob === 1 ? null : logprob))
type Logprobs = readonly (number | string | null)[]
