/** Which samples of a report are listed, and in which order. */

import { type CheckedSample, placeText, type Sample } from '#lib/compare/corpus/sample.ts'
import { spanCount } from '#lib/compare/corpus/totals.ts'
import type { DriftKind } from '#lib/core/drift/report.ts'

export const SAMPLE_LISTS = ['drifting', 'all', 'unchecked'] as const
export type SampleListName = (typeof SAMPLE_LISTS)[number]

export const SAMPLE_COLUMNS = ['name', 'spans', 'trained', 'tokens', 'prefix', 'rows'] as const
export type SampleColumn = (typeof SAMPLE_COLUMNS)[number]

export interface SampleSort {
  readonly by: SampleColumn
  readonly order: 'asc' | 'desc'
}

export const spansOf = ({ kinds }: CheckedSample): number => kinds.reduce((sum, { spans }) => sum + spanCount(spans), 0)

export const nameText = (sample: Sample): string => sample.title ?? sample.id ?? placeText(sample.place)

/** `kind`: only those that have it. */
export function listedSamples(
  samples: readonly Sample[],
  {
    list,
    kind,
    sort,
  }: { readonly list: SampleListName; readonly kind: DriftKind | undefined; readonly sort: SampleSort },
): readonly Sample[] {
  const isListed = (sample: Sample): boolean => {
    if (sample.kind === 'unchecked') return list !== 'drifting' && kind === undefined
    if (list === 'unchecked') return false
    return kind === undefined
      ? list === 'all' || sample.severity !== undefined
      : sample.kinds.some((one) => one.kind === kind)
  }
  const direction = sort.order === 'asc' ? 1 : -1
  return samples
    .filter(isListed)
    .map((sample) => ({ sample, value: figureOf(sample, sort.by), name: nameText(sample) }))
    .sort((a, b) => {
      if (sort.by === 'name') return direction * a.name.localeCompare(b.name)
      // What was not checked comes last either way; of equally bad ones the longest first.
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined)
      return (
        direction * (a.value - b.value) || (figureOf(b.sample, 'tokens') ?? 0) - (figureOf(a.sample, 'tokens') ?? 0)
      )
    })
    .map(({ sample }) => sample)
}

function figureOf(sample: Sample, by: SampleColumn): number | undefined {
  if (sample.kind === 'unchecked') return undefined
  switch (by) {
    case 'name':
      return 0
    case 'spans':
      return spansOf(sample)
    case 'trained':
      return sample.trained.touched
    case 'tokens':
      return sample.tokens.left
    case 'prefix':
      return sample.prefixLost
    case 'rows':
      return sample.rows.extra
  }
}
