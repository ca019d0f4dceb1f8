/** All filters of jinja2 3.1.6 by name; tojson as transformers defines it. */
import type { Filter } from './filter.ts'
import { numberFilters } from './number-filters.ts'
import { sequenceFilters } from './sequence-filters.ts'
import { textFilters } from './text-filters.ts'

export type { Filter } from './filter.ts'

/** Filters by their names in templates. */
export const filters: ReadonlyMap<string, Filter> = new Map([...textFilters, ...numberFilters, ...sequenceFilters])
