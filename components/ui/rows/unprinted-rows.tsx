/** Lists of any length on paper. This module is apart from useRowWindow, because pages load it that have no rows of several heights. */
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Rows of a list on paper: more would keep the browser busy for minutes. */
export const MOST_PRINTED = 2_000

/** Says on paper how many rows of a long list are missing. */
export const UnprintedRows = ({ count }: { readonly count: number }) =>
  count > 0 && (
    <p className="px-3.5 py-2 text-dim text-xs">{countWithNoun(count, 'more row is', 'more rows are')} not printed.</p>
  )
