import { meanLogprob, type SampleRow } from '#lib/api/sample-progress.ts'

/** Orders of the samples, with their texts. */
export const SAMPLE_SORTS = [
  { value: 'index', text: 'In order' },
  { value: 'reward', text: 'Best reward first' },
  { value: 'logprob', text: 'Most likely first' },
  { value: 'tokens', text: 'Longest first' },
] as const
/** Name of an order. */
export type SampleSort = (typeof SAMPLE_SORTS)[number]['value']

const VALUES: Readonly<Record<SampleSort, (row: SampleRow) => number | null>> = {
  index: ({ index }) => -index,
  reward: ({ reward }) => reward,
  logprob: ({ progress }) => meanLogprob(progress),
  tokens: ({ progress }) => progress.tokens,
}

/** Returns the samples in order, the greatest value first; unknown values are last, and equal ones keep their order. */
export function sortedSamples(rows: readonly SampleRow[], sort: SampleSort): readonly SampleRow[] {
  const value = (row: SampleRow) => VALUES[sort](row) ?? Number.NEGATIVE_INFINITY
  return rows.toSorted((a, b) => (value(a) === value(b) ? a.index - b.index : value(b) - value(a)))
}
