/**
 * Rows of token data sets, without a tool of their own: `input_ids` with `labels`, ids of a prompt and of a completion, or `tokens` with
 * columns under `metrics`. Names are those that TRL, data sets for Hugging Face and training scripts use.
 */

import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { idsSchema, lengthViolation, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readTools } from '../messages.ts'
import type { ColumnFields } from '../number-columns.ts'
import { catchRefusals, parsedAt, refuseIf } from '../reading/record-error.ts'
import { maskOfLabels } from './atropos.ts'
import { type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'token-dataset'

/** The format of rows with token ids. */
export const tokenDataset: Format = {
  name: NAME,
  label: 'token data set',
  keeps: 'Ids, loss mask or labels, logprobs, further columns, messages, reward and group.',
  sniff: (value) => isObject(value) && idFields(value) !== undefined,
  read: catchRefusals((value, source) => [
    trainedTrajectory(NAME, sampleOf(parsedAt(rowSchema, value, ''), source), source),
  ]),
}

/** Names of the same field, the first that is there. */
const PROMPT_IDS = ['prompt_token_ids', 'prompt_ids']
const RESPONSE_IDS = ['completion_token_ids', 'completion_ids', 'response_token_ids', 'response_ids']
const ALL_IDS = ['input_ids', 'tokens', 'token_ids']
const LOGPROBS = [
  'logprobs',
  'completion_logprobs',
  'sampling_logprobs',
  'sampling_per_token_logps',
  'response_logprobs',
]
const MASKS = ['loss_mask', 'completion_mask', 'assistant_masks', 'response_mask', 'mask']
const REWARDS = ['reward', 'score']
const GROUPS = ['group', 'group_id', 'prompt_id', 'uid']

/** Further columns by their usual names. */
const FIELDS: ColumnFields = {
  trainer_logprobs: 'trainerLogprobs',
  old_logprobs: 'trainerLogprobs',
  old_log_probs: 'trainerLogprobs',
  old_per_token_logps: 'trainerLogprobs',
  ref_logprobs: 'referenceLogprobs',
  reference_logprobs: 'referenceLogprobs',
  ref_per_token_logps: 'referenceLogprobs',
  advantages: 'advantage',
  returns: 'return',
  values: 'value',
  entropy: 'entropy',
  entropies: 'entropy',
  kl: 'kl',
  importance_ratio: 'importanceRatio',
}

const nameIn = (record: JsonObject, names: readonly string[]): string | undefined =>
  names.find((name) => record[name] !== undefined && record[name] !== null)

const isIdList = (value: unknown): boolean =>
  Array.isArray(value) && (value.length === 0 || typeof value[0] === 'number')

type IdFields = { readonly all: string } | { readonly prompt: string | undefined; readonly response: string }

function idFields(record: JsonObject): IdFields | undefined {
  const [prompt, response, all] = [PROMPT_IDS, RESPONSE_IDS, ALL_IDS].map((names) =>
    names.find((name) => isIdList(record[name])),
  )
  if (response !== undefined) return { prompt, response }
  const isRow = all === 'input_ids' || [...LOGPROBS, ...MASKS, 'metrics', 'labels'].some((name) => name in record)
  return all !== undefined && isRow ? { all } : undefined
}

const rowSchema = z.looseObject({
  labels: z.nullish(z.array(z.int())),
  attention_mask: z.nullish(maskSchema),
  metrics: z.nullish(z.record(z.string(), z.unknown())),
})

type Row = z.infer<typeof rowSchema>

function sampleOf(row: Row, source: RecordSource): TrainedSample {
  const fields = idFields(row) as IdFields
  const record = { ...row.metrics, ...row }
  const [maskField = 'loss_mask', logprobField = 'logprobs'] = [MASKS, LOGPROBS].map((names) => nameIn(record, names))
  const column = <T>(schema: z.ZodMiniType<T>, name: string): T => parsedAt(schema, record[name], name)
  const idsOf = (name: string) => column(idsSchema, name)
  const prompt = 'response' in fields && fields.prompt !== undefined ? idsOf(fields.prompt) : []
  const all = 'all' in fields ? idsOf(fields.all) : [...prompt, ...idsOf(fields.response)]
  const columnMask = column(z.nullish(maskSchema), maskField)
  const logprobs = column(z.nullish(logprobsSchema), logprobField)
  const { keep, removed, promptTokens } = paddingOf(row, prompt.length, all.length)
  const ids = keep(all)
  const labels = row.labels ?? undefined
  refuseIf(lengthViolation({ labels }, all.length))
  // Columns have an entry for each token of the response, or for each of all tokens. Labels are of all tokens.
  const isOverAll = [labels ?? columnMask, logprobs].some((column) => column?.length === all.length)
  const promptLength = isOverAll ? 0 : promptTokens
  const mask = labels ? keep(maskOfLabels(labels, all, 'labels')) : columnMask && keep(columnMask)
  const assumed =
    promptLength === 0 && promptTokens > 0 && !mask ? ids.map((_, at) => (at < promptTokens ? 0 : 1)) : mask
  const group = nameIn(row, GROUPS)
  const reward = nameIn(row, REWARDS)
  const isNumber = reward !== undefined && typeof row[reward] === 'number'
  const columns: ColumnFields = {
    ...Object.fromEntries(Object.entries(FIELDS).filter(([field]) => Array.isArray(record[field]))),
    ...Object.fromEntries(
      Object.keys(row.metrics ?? {}).flatMap((field) =>
        Array.isArray(record[field]) && !(field in FIELDS) && ![maskField, logprobField].includes(field)
          ? [[field, { other: field }]]
          : [],
      ),
    ),
  }
  const metrics = without(row.metrics ?? {}, [maskField, logprobField, ...Object.keys(columns)])
  return {
    sequence: {
      ids,
      promptLength,
      mask: { field: labels ? 'labels' : maskField, entries: assumed },
      logprobs: { field: logprobField, entries: logprobs && keep(logprobs) },
      record: Object.fromEntries(
        Object.entries(record).flatMap(([field, column]) =>
          field in columns && Array.isArray(column) ? [[field, keep(column)]] : [],
        ),
      ),
      fields: columns,
      hasFillers: false,
    },
    messages: row.messages,
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: reward === undefined ? undefined : row[reward],
      ...(group !== undefined && { group: groupOf(row, group, source) }),
      tools: readTools(row.tools),
      lacked: [
        ...(reward === undefined ? ['reward'] : []),
        ...(removed > 0 ? [`${removed} tokens that attention_mask marks as padding: removed`] : []),
      ],
      rest: without({ ...row, ...(metrics && { metrics }) }, [
        ...[...Object.values(fields), isNumber ? reward : undefined, group].filter((name) => name !== undefined),
        ...(group === undefined ? [] : ['sample']),
        ...(metrics ? [] : ['metrics']),
        ...[maskField, logprobField, 'labels', 'attention_mask', 'messages', 'tools', ...Object.keys(columns)],
      ]),
    },
  }
}

/** A row that Rollscope wrote has the number of the sample in its group. */
function groupOf({ sample, ...row }: Row, name: string, source: RecordSource) {
  const next = nextGroupMember(source, String(row[name]))
  return Number.isSafeInteger(sample) && Number(sample) >= 0 ? { ...next, index: Number(sample) } : next
}

interface Padding {
  /** Removes the entries of padding from a column over all tokens or over the response; another column stays as it is. */
  readonly keep: <T>(column: readonly T[]) => readonly T[]
  readonly removed: number
  /** Number of tokens of the prompt that are no padding. */
  readonly promptTokens: number
}

function paddingOf({ attention_mask: mask }: Row, promptLength: number, tokens: number): Padding {
  if (!mask) return { keep: (column) => column, removed: 0, promptTokens: promptLength }
  refuseIf(lengthViolation({ attention_mask: mask }, tokens))
  const isToken = mask.map(Boolean)
  return {
    keep(column) {
      const from = tokens - column.length
      return from === 0 || from === promptLength ? column.filter((_, index) => isToken[from + index]) : column
    },
    removed: isToken.filter((bit) => !bit).length,
    promptTokens: isToken.slice(0, promptLength).filter(Boolean).length,
  }
}
