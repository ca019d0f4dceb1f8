/** Which samples a limit of tokens ended. */
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { OutcomeReason } from '#lib/trajectory/format/trajectory.ts'

const TRUNCATED: readonly string[] = ['length', 'context_full', 'max_tokens', 'truncated'] satisfies OutcomeReason[]

/** Returns whether a limit of tokens ended a sample. */
export const isTruncated = ({ outcomeKind, outcome }: Pick<TrajectorySummary, 'outcomeKind' | 'outcome'>): boolean =>
  outcomeKind === 'ended' && TRUNCATED.includes(outcome)
