import { meanLogprob, type SampleRow } from '#lib/api/sample-progress.ts'

export const SAMPLE_SORTS = [
  { value: 'index', text: 'In order' },
  { value: 'reward', text: 'Best reward first' },
  { value: 'logprob', text: 'Most likely first' },
  { value: 'tokens', text: 'Longest first' },
] as const
export type SampleSort = (typeof SAMPLE_SORTS)[number]['value']

const VALUES: Readonly<Record<SampleSort, (row: SampleRow) => number | null>> = {
  index: ({ index }) => -index,
  reward: ({ reward }) => reward,
  logprob: ({ progress }) => meanLogprob(progress),
  tokens: ({ progress }) => progress.tokens,
}

/** Unknown values last; of equal ones in their own order. */
export function sortedSamples(rows: readonly SampleRow[], sort: SampleSort): readonly SampleRow[] {
  const value = (row: SampleRow) => VALUES[sort](row) ?? Number.NEGATIVE_INFINITY
  return rows.toSorted((a, b) => (value(a) === value(b) ? a.index - b.index : value(b) - value(a)))
}
