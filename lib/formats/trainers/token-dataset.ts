/**
 * Rows of token data sets, without a tool of their own: `input_ids` with `labels`, ids of a prompt and of a completion, or `tokens` with
 * columns under `metrics`. Names are those that TRL, data sets for Hugging Face and training scripts use.
 */

import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Violation } from '#lib/util/schema-violation.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format, ReadResult, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readTools } from '../messages.ts'
import type { ColumnFields } from '../number-columns.ts'
import { maskOfLabels, wrongLabel } from './atropos.ts'
import { parseRecord, readSamples, type TrainedSample } from './trained-sequence.ts'

const NAME = 'token-dataset'

/** The format of rows with token ids. */
export const tokenDataset: Format = {
  name: NAME,
  label: 'token data set',
  keeps: 'Ids, loss mask or labels, logprobs, further columns, messages, reward and group.',
  sniff: (value) => isObject(value) && idFields(value) !== undefined,
  read,
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

interface IdFields {
  readonly prompt?: string
  readonly response?: string
  readonly all?: string
}

function idFields(record: JsonObject): IdFields | undefined {
  const [prompt, response, all] = [PROMPT_IDS, RESPONSE_IDS, ALL_IDS].map((names) =>
    names.find((name) => isIdList(record[name])),
  )
  if (response !== undefined) return { response, ...(prompt !== undefined && { prompt }) }
  const isRow = all === 'input_ids' || [...LOGPROBS, ...MASKS, 'metrics', 'labels'].some((name) => name in record)
  return all !== undefined && isRow ? { all } : undefined
}

const rowSchema = z.looseObject({
  labels: z.nullish(z.array(z.int())),
  attention_mask: z.nullish(maskSchema),
  metrics: z.nullish(z.record(z.string(), z.unknown())),
})

function read(value: unknown, source: RecordSource): ReadResult {
  const parsed = parseRecord(rowSchema, value)
  const sample = 'error' in parsed ? parsed : sampleOf(parsed.data, source)
  return readSamples(NAME, 'error' in sample ? sample : [sample], source)
}

type Row = z.infer<typeof rowSchema>

function sampleOf(row: Row, source: RecordSource): TrainedSample | { readonly error: Violation } {
  const fields = idFields(row) as IdFields
  const record = { ...row.metrics, ...row }
  const [maskField = 'loss_mask', logprobField = 'logprobs'] = [MASKS, LOGPROBS].map((names) => nameIn(record, names))
  const columns = parseColumns(record, { ...fields, mask: maskField, logprobs: logprobField })
  if ('error' in columns) return columns
  const { prompt = [], response = [], mask: given, logprobs } = columns.data
  const all = columns.data.all ?? [...prompt, ...response]
  const padding = paddingOf(row, all.length)
  if ('error' in padding) return padding
  const { keep, removed } = padding
  const ids = keep(all)
  const labels = row.labels ?? undefined
  const error = labels && (labelsError(labels, all) ?? undefined)
  if (error) return { error }
  // Columns have an entry for each token of the response, or for each of all tokens.
  const promptLength = [given, logprobs].some((column) => column?.length === all.length) ? 0 : prompt.length
  const mask = labels ? maskOfLabels(keep(labels)) : given && keep(given)
  const assumed =
    promptLength === 0 && prompt.length > 0 && !mask ? ids.map((_, at) => (at < prompt.length ? 0 : 1)) : mask
  const group = nameIn(row, GROUPS)
  const reward = nameIn(row, REWARDS)
  const named: ColumnFields = {
    ...Object.fromEntries(Object.entries(FIELDS).filter(([field]) => Array.isArray(record[field]))),
    ...Object.fromEntries(
      Object.keys(row.metrics ?? {}).flatMap((field) =>
        Array.isArray(record[field]) && !(field in FIELDS) && ![maskField, logprobField].includes(field)
          ? [[field, { other: field }]]
          : [],
      ),
    ),
  }
  return {
    path: '',
    sequence: {
      ids,
      promptLength,
      mask: { field: labels ? 'labels' : maskField, entries: assumed },
      logprobs: { field: logprobField, entries: logprobs && keep(logprobs) },
      record: Object.fromEntries(
        Object.entries(record).flatMap(([field, column]) =>
          field in named && Array.isArray(column) ? [[field, keep(column)]] : [],
        ),
      ),
      fields: named,
      hasFillers: false,
    },
    messages: row.messages,
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: reward === undefined ? undefined : row[reward],
      ...(group !== undefined && { group: nextGroupMember(source, String(row[group])) }),
      tools: readTools(row.tools),
      lacked: [
        ...(reward === undefined ? ['reward'] : []),
        ...(removed > 0 ? [`${removed} tokens that attention_mask marks as padding: removed`] : []),
      ],
      rest: without(row, [
        ...[fields.prompt, fields.response, fields.all, reward, group].filter((name) => name !== undefined),
        ...[maskField, logprobField, 'labels', 'attention_mask', 'messages', 'tools', 'metrics', ...Object.keys(named)],
      ]),
    },
  }
}

const columnsSchema = z.object({
  prompt: z.optional(idsSchema),
  response: z.optional(idsSchema),
  all: z.optional(idsSchema),
  mask: z.nullish(maskSchema),
  logprobs: z.nullish(logprobsSchema),
})

/** Parses the columns under the names that the row has for them. */
function parseColumns(
  record: JsonObject,
  names: Readonly<Record<string, string>>,
): { readonly data: z.infer<typeof columnsSchema> } | { readonly error: Violation } {
  const named = Object.entries(names)
  const parsed = parseRecord(columnsSchema, Object.fromEntries(named.map(([key, name]) => [key, record[name]])))
  if (!('error' in parsed)) return parsed
  const { error } = parsed
  const [key, name] = named.find(([each]) => error.path.startsWith(each)) as [string, string]
  return { error: { ...error, path: name + error.path.slice(key.length) } }
}

function labelsError(labels: readonly number[], ids: readonly number[]): Violation | undefined {
  if (labels.length !== ids.length)
    return { path: 'labels', expected: `${ids.length} entries (one for each token)`, found: `${labels.length} entries` }
  const wrong = wrongLabel(labels, ids)
  return wrong && { ...wrong, path: `labels${wrong.path}` }
}

interface Padding {
  /** Removes the entries of padding from a column over all tokens; another column stays as it is. */
  readonly keep: <T>(column: readonly T[]) => readonly T[]
  readonly removed: number
}

function paddingOf({ attention_mask: mask }: Row, tokens: number): Padding | { readonly error: Violation } {
  if (!mask) return { keep: (column) => column, removed: 0 }
  if (mask.length !== tokens)
    return {
      error: {
        path: 'attention_mask',
        expected: `${tokens} entries (one for each token)`,
        found: `${mask.length} entries`,
      },
    }
  const isToken = mask.map(Boolean)
  return {
    keep: (column) => (column.length === tokens ? column.filter((_, index) => isToken[index]) : column),
    removed: isToken.filter((bit) => !bit).length,
  }
}
