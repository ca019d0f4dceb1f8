'use client'
import { parseAsArrayOf, parseAsBoolean, parseAsString, parseAsStringLiteral } from 'nuqs'
import { useAddress } from '#components/shell/use-address.ts'
import { SORT_ORDERS } from '#lib/api/library.ts'
import type { CorpusSource } from '#lib/browser/files/corpus.ts'
import { DRIFT_KINDS } from '#lib/trajectory/drift/kinds.ts'
import { DRIFT_LAYERS } from '#lib/trajectory/drift/report.ts'
import { SAMPLE_COLUMNS, SAMPLE_LISTS } from './sample-list.ts'

const MODES = ['structured', 'raw', 'text'] as const

/** Reads the drift report's source and view from the page's address. Files are not in the address: a link cannot name them. */
export function useCorpusAddress() {
  const [{ keys, library, q, outcome, tag, source, health, estimates, as, tokenizer, ...list }, set] = useAddress({
    keys: parseAsArrayOf(parseAsString),
    // Without this flag, a link without filters would mean nothing instead of the whole library.
    library: parseAsBoolean.withDefault(false),
    q: parseAsString,
    outcome: parseAsString,
    tag: parseAsString,
    source: parseAsString,
    health: parseAsString,
    estimates: parseAsString,
    as: parseAsStringLiteral(MODES).withDefault('structured'),
    tokenizer: parseAsString,
    list: parseAsStringLiteral(SAMPLE_LISTS).withDefault('drifting'),
    kind: parseAsStringLiteral(DRIFT_KINDS),
    layer: parseAsStringLiteral(DRIFT_LAYERS),
    sort: parseAsStringLiteral(SAMPLE_COLUMNS).withDefault('trained'),
    order: parseAsStringLiteral(SORT_ORDERS).withDefault('desc'),
  })
  return {
    source: sourceOf(keys, library, { q, outcome, tag, source, health, estimates }),
    mode: as,
    /** Name of the tokenizer for samples that name none. */
    tokenizer: tokenizer ?? undefined,
    list: list.list,
    kind: list.kind ?? undefined,
    layer: list.layer ?? undefined,
    sort: { by: list.sort, order: list.order },
    set,
  }
}

function sourceOf(
  keys: readonly string[] | null,
  library: boolean,
  filter: Readonly<Record<'q' | 'outcome' | 'tag' | 'source' | 'health' | 'estimates', string | null>>,
): CorpusSource | undefined {
  if (keys && keys.length > 0) return { kind: 'keys', keys }
  if (!library) return undefined
  return {
    kind: 'library',
    filter: Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null && value !== '')),
  }
}
