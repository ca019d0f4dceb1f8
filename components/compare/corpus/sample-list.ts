/** Selection and order of the samples of a report. */

import { type CheckedSample, type Sample, sampleOriginText } from '#lib/analysis/corpus/sample.ts'
import { spanCount } from '#lib/analysis/corpus/totals.ts'
import type { DriftKind } from '#lib/trajectory/drift/kinds.ts'
import { countsAsDrift, type DriftLayer } from '#lib/trajectory/drift/report.ts'
import { visibleText } from '../../ui/visible-text.ts'

/** Lists that the page offers, in the order of its tabs. */
export const SAMPLE_LISTS = ['drifting', 'all', 'unchecked'] as const
/** Name of a list: samples with drift, all samples, or those that could not be checked. */
export type SampleListName = (typeof SAMPLE_LISTS)[number]

/** Columns by which samples can be sorted. */
export const SAMPLE_COLUMNS = ['name', 'spans', 'trained', 'tokens', 'prefix', 'rows'] as const
/** Name of a sortable column. */
export type SampleColumn = (typeof SAMPLE_COLUMNS)[number]

/** Column and direction by which samples are sorted. */
export interface CheckedSampleSort {
  readonly by: SampleColumn
  readonly order: 'asc' | 'desc'
}

/** Returns how many drift spans a checked sample has, of all kinds. */
export const countSpans = ({ kinds }: CheckedSample): number =>
  kinds.reduce((sum, { spans }) => sum + spanCount(spans), 0)

/** Returns the title of a sample, else its id, else its place in the file. */
export const nameText = (sample: Sample): string =>
  visibleText(sample.title ?? sample.id ?? sampleOriginText(sample.place))

/** Returns the listed samples in order. `kind` and `layer` keep only samples with such drift; undefined keeps any. */
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
    readonly sort: CheckedSampleSort
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
      // Unchecked samples are last in both directions; among equals the longest is first.
      if (a.value === undefined || b.value === undefined)
        return Number(a.value === undefined) - Number(b.value === undefined)
      return (
        direction * (a.value - b.value) || (figureOf(b.sample, 'tokens') ?? 0) - (figureOf(a.sample, 'tokens') ?? 0)
      )
    })
    .map(({ sample }) => sample)
}

/** Returns whether a kind of a sample has spans of the layer; always true if the layer is undefined. */
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
      return countSpans(sample)
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
