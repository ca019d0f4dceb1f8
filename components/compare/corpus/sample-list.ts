/** Which samples of a report are listed, and in which order. */

import { type CheckedSample, placeText, type Sample } from '#lib/analysis/corpus/sample.ts'
import { spanCount } from '#lib/analysis/corpus/totals.ts'
import { countsAsDrift, type DriftKind, type DriftLayer } from '#lib/trajectory/drift/report.ts'
import { visibleText } from '../../ui/visible-text.ts'

export const SAMPLE_LISTS = ['drifting', 'all', 'unchecked'] as const
export type SampleListName = (typeof SAMPLE_LISTS)[number]

export const SAMPLE_COLUMNS = ['name', 'spans', 'trained', 'tokens', 'prefix', 'rows'] as const
export type SampleColumn = (typeof SAMPLE_COLUMNS)[number]

export interface SampleSort {
  readonly by: SampleColumn
  readonly order: 'asc' | 'desc'
}

export const spansOf = ({ kinds }: CheckedSample): number => kinds.reduce((sum, { spans }) => sum + spanCount(spans), 0)

export const nameText = (sample: Sample): string => visibleText(sample.title ?? sample.id ?? placeText(sample.place))

/** `kind`, `layer`: only samples with such drift; undefined: any. */
export function listedSamples(
  samples: readonly Sample[],
  {
    list,
    kind,
    layer,
    sort,
  }: {
    readonly list: SampleListName
    readonly kind: DriftKind | undefined
    readonly layer: DriftLayer | undefined
    readonly sort: SampleSort
  },
): readonly Sample[] {
  const isListed = (sample: Sample): boolean => {
    const isFiltered = kind !== undefined || layer !== undefined
    if (sample.kind === 'unchecked') return list !== 'drifting' && !isFiltered
    if (isFiltered) return sample.kinds.some((one) => (kind ?? one.kind) === one.kind && hasLayer(one, layer))
    return list === 'all' || (list === 'drifting' && countsAsDrift(sample.severity))
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

export const hasLayer = (
  { layers }: Pick<CheckedSample['kinds'][number], 'layers'>,
  layer: DriftLayer | undefined,
): boolean => layer === undefined || layers[layer] > 0

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
