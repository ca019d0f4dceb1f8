/** Recent queries, the latest first. */

const MOST = 12
/** Longest stored query, in characters; longer ones were probably pasted. */
const LONGEST = 500

/** Returns the list with the query first; unchanged for an empty or very long query. */
export const withRecent = (recent: readonly string[], query: string): readonly string[] =>
  query.trim() === '' || query.length > LONGEST
    ? recent
    : [query, ...recent.filter((known) => known !== query)].slice(0, MOST)

/** The entry of the browser's storage that keeps the recent queries. */
export const RECENT_FINDS = {
  name: 'recent-finds',
  usual: [] as readonly string[],
  read: (stored: unknown): readonly string[] | undefined =>
    Array.isArray(stored) ? stored.filter((query) => typeof query === 'string').slice(0, MOST) : undefined,
}
