/** Finds the columns that Rollscope computes with: by their recorded meaning, or else by the names that trainers use. */
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { ColumnMeaning } from '../format/trajectory.ts'
import { segmentsOf } from './tokens.ts'
import type { NumberColumn, SegmentView, TrajectoryView } from './trajectory-view.ts'

/** The part of a trajectory that says which columns it has and what they mean. */
export type ColumnSource = Pick<TrajectoryView, 'segments' | 'live' | 'columnMeanings' | 'ratioPair'>

interface RoleRule {
  readonly quantity: ColumnMeaning['quantity']
  /** Models whose numbers have the role. Omitted: any, or none named. */
  readonly model?: NonNullable<ColumnMeaning['model']>
  /** Names in lower case without separators, for columns without a meaning. */
  readonly names: readonly string[]
}

/**
 * What a column is to Rollscope. verl calls the trainer's logprobs `old_log_probs`, and NeMo-RL `prev_logprobs`: both compute them again
 * with the weights before the update.
 */
const ROLES = {
  trainer: {
    quantity: 'logprob',
    model: 'trainer',
    names: ['trainerlogprobs', 'trainerlogprob', 'trainlogprobs', 'oldlogprobs', 'prevlogprobs'],
  },
  reference: {
    quantity: 'logprob',
    model: 'reference',
    names: ['referencelogprobs', 'referencelogprob', 'reflogprobs', 'reflogprob'],
  },
  advantage: { quantity: 'advantage', names: ['advantage', 'advantages'] },
  return: { quantity: 'return', names: ['return', 'returns'] },
  value: { quantity: 'value', names: ['value', 'values'] },
  entropy: { quantity: 'entropy', names: ['entropy', 'entropies'] },
  ratio: { quantity: 'importance_ratio', names: ['importanceratio', 'importanceratios'] },
  clipMask: { quantity: 'mask', names: ['clipmask', 'tismask', 'ismask'] },
  experts: { quantity: 'expert_agreement', names: ['expertagreement'] },
  trainerVersion: {
    quantity: 'weight_version',
    model: 'trainer',
    names: ['trainerweightversion', 'trainerversion'],
  },
  sampledVersion: { quantity: 'weight_version', model: 'rollout', names: ['weightversion', 'weightversions'] },
} as const satisfies Readonly<Record<string, RoleRule>>

/** The role of a column. */
export type ColumnRole = keyof typeof ROLES

const ROLE_NAMES = Object.keys(ROLES) as readonly ColumnRole[]

/** The column of each role that occurs in a trajectory. */
export type ColumnRoles = Readonly<Partial<Record<ColumnRole, string>>>

const known = new WeakMap<
  readonly SegmentView[],
  { readonly meanings: ColumnSource['columnMeanings']; readonly roles: ColumnRoles }
>()

/** Returns the column of each role; of several, the first. The result is cached until the segments change. */
export function columnRoles(trajectory: ColumnSource): ColumnRoles {
  const { segments, columnMeanings: meanings } = trajectory
  const found = known.get(segments)
  if (found && found.meanings === meanings) return found.roles
  const names = columnNames(trajectory)
  const roles: Partial<Record<ColumnRole, string>> = {}
  for (const role of ROLE_NAMES) {
    const column = names.find((name) => hasRole(ROLES[role], meanings?.[name], name))
    if (column !== undefined) roles[role] = column
  }
  known.set(segments, { meanings, roles })
  return roles
}

/** Returns the names of the columns that any segment has, in the order of their first appearance. Those of closed segments are cached. */
export function columnNames({ segments, live }: Pick<ColumnSource, 'segments' | 'live'>): readonly string[] {
  const closed = namesOfClosed(segments)
  return live?.open?.columns ? [...new Set([...closed, ...Object.keys(live.open.columns)])] : closed
}

const namesOfClosed = memoizeByIdentity((segments: readonly SegmentView[]): readonly string[] => [
  ...new Set(segments.flatMap(({ columns = {} }) => Object.keys(columns))),
])

function hasRole({ quantity, model, names }: RoleRule, meaning: ColumnMeaning | undefined, name: string): boolean {
  if (!meaning) return names.includes(name.toLowerCase().replaceAll(/[_-]/g, ''))
  // Numbers of the reference model have no role of their own but its logprobs.
  return (
    meaning.quantity === quantity && (model === undefined ? meaning.model !== 'reference' : meaning.model === model)
  )
}

/** Returns the column of a role in a segment; undefined if the segment does not have it. */
export function roleColumn(
  segment: Pick<SegmentView, 'columns'>,
  trajectory: ColumnSource,
  role: ColumnRole,
): NumberColumn | undefined {
  const name = columnRoles(trajectory)[role]
  return name === undefined ? undefined : segment.columns?.[name]
}

/** Name of the sampled and prefill logprobs of a segment, beside which further columns have other names. */
export const OWN_LOGPROBS = 'logprobs'

/** Logprobs by the model that gave them: in titles, and in the words of sentences. */
const LOGPROBS = {
  rollout: { title: 'rescored', words: 'the rescored logprobs' },
  trainer: { title: 'trainer', words: 'the trainer’s logprobs' },
  reference: { title: 'reference', words: 'the reference logprobs' },
  teacher: { title: 'teacher', words: 'the teacher’s logprobs' },
} as const

type Meanings = Pick<TrajectoryView, 'columnMeanings'>

/** Returns the model that gave the logprobs of a column, by its meaning or else by its name; undefined if neither says it. */
function logprobModel({ columnMeanings }: Meanings, column: string): keyof typeof LOGPROBS | undefined {
  const meaning = columnMeanings?.[column]
  if (meaning) return meaning.quantity === 'logprob' ? meaning.model : undefined
  return (['trainer', 'reference'] as const).find((role) => hasRole(ROLES[role], undefined, column))
}

/** Returns what a column of logprobs is in one word, such as `trainer`; a column that does not say it has its name. */
export function logprobTitle(trajectory: Meanings, column: string): string {
  if (column === OWN_LOGPROBS) return 'rollout'
  const model = logprobModel(trajectory, column)
  return model ? LOGPROBS[model].title : column
}

/** Returns what a column of logprobs is in the words of a sentence, such as `the trainer’s logprobs`. */
export function logprobWords(trajectory: Meanings, column: string): string {
  if (column === OWN_LOGPROBS) return 'the sampled logprobs'
  const model = logprobModel(trajectory, column)
  return model ? LOGPROBS[model].words : `the logprobs of the column ${column}`
}

/** Returns the columns of logprobs that can be compared: the sampled ones first, then those that are logprobs by meaning or name. */
export function logprobColumns(trajectory: ColumnSource): readonly string[] {
  const hasOwn = segmentsOf(trajectory).some(({ kind, logprobs }) => kind === 'response' && logprobs !== undefined)
  const others = columnNames(trajectory).filter(
    (name) => trajectory.columnMeanings?.[name]?.quantity === 'logprob' || logprobModel(trajectory, name) !== undefined,
  )
  return [...(hasOwn ? [OWN_LOGPROBS] : []), ...others]
}
