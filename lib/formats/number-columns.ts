/**
 * Names the per-token numbers of trainers. Tools have many names for the same quantity; a trajectory has one column for it, and
 * the name of the file's field as its source.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import type { ColumnMeaning } from '#lib/trajectory/format/trajectory.ts'
import { type LogprobAsWritten, lengthViolation, type NumberColumns, numbersSchema } from './columns.ts'
import { parsedAt, refuseIf } from './reading/record-error.ts'

/** The meaning of each column that formats of trainers fill. */
const MEANINGS = {
  logprobs: { quantity: 'logprob', model: 'rollout' },
  trainerLogprobs: { quantity: 'logprob', model: 'trainer' },
  referenceLogprobs: { quantity: 'logprob', model: 'reference' },
  teacherLogprobs: { quantity: 'logprob', model: 'teacher' },
  advantage: { quantity: 'advantage' },
  return: { quantity: 'return' },
  value: { quantity: 'value' },
  tokenReward: { quantity: 'reward' },
  entropy: { quantity: 'entropy', model: 'trainer' },
  referenceEntropy: { quantity: 'entropy', model: 'reference' },
  kl: { quantity: 'kl' },
  teacherKl: { quantity: 'kl', model: 'teacher' },
  mismatchKl: { quantity: 'kl', model: 'trainer' },
  importanceRatio: { quantity: 'importance_ratio' },
  logImportanceRatio: { quantity: 'other' },
  probabilityDelta: { quantity: 'other' },
  clipMask: { quantity: 'mask' },
  clipMaskHigh: { quantity: 'mask' },
  clipMaskLow: { quantity: 'mask' },
  lossWeight: { quantity: 'other' },
} as const satisfies Readonly<Record<string, ColumnMeaning>>

/** The name of a column that formats of trainers fill. */
export type ColumnName = keyof typeof MEANINGS

/** Columns by their names in the file. `other`: a column whose meaning is only its name. */
export type ColumnFields = Readonly<Record<string, ColumnName | { readonly other: string }>>

/** What the documentation of a tool says about all of its logprobs. */
export type LogprobFacts = Pick<ColumnMeaning, 'values' | 'temperature' | 'engine'>

/** Returns the meaning of a column; `facts` apply to logprobs. */
export const meaningOf = (name: ColumnName, source: string, facts: LogprobFacts = {}): ColumnMeaning => ({
  ...MEANINGS[name],
  ...(MEANINGS[name].quantity === 'logprob' && facts),
  source,
})

/** The numbers of a record by the names of their columns, with their meanings. */
interface ReadNumbers {
  readonly numbers: NumberColumns
  readonly meanings: Readonly<Record<string, ColumnMeaning>>
}

/** What `readNumbers` needs to know about a record. */
interface Expected {
  /** Number of tokens of each column. */
  readonly tokens: number
  /** Completes “one for each token”. */
  readonly of?: string
}

/** Reads the columns of a record, and refuses a field that is no column of its tokens. Fields that are absent, null, or null at every token are no columns. */
export function readNumbers(record: JsonObject, fields: ColumnFields, { tokens, of = '' }: Expected): ReadNumbers {
  const numbers: Record<string, readonly LogprobAsWritten[]> = {}
  const meanings: Record<string, ColumnMeaning> = {}
  for (const [field, meant] of Object.entries(fields)) {
    const column = record[field]
    if (column === undefined || column === null) continue
    const entries = parsedAt(numbersSchema, column, field)
    refuseIf(lengthViolation({ [field]: entries }, tokens, of))
    if (entries.every((entry) => entry === null)) continue
    const name = typeof meant === 'string' ? meant : meant.other
    numbers[name] = entries.map((entry) => (typeof entry === 'boolean' ? Number(entry) : entry))
    meanings[name] = typeof meant === 'string' ? meaningOf(meant, field) : { quantity: 'other', source: field }
  }
  return { numbers, meanings }
}
