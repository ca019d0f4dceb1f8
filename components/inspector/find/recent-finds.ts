/** What was looked for lately, the latest first. */

const MOST = 12
/** Longer queries were pasted; they are not kept. */
const LONGEST = 500

export const withRecent = (recent: readonly string[], query: string): readonly string[] =>
  query.trim() === '' || query.length > LONGEST
    ? recent
    : [query, ...recent.filter((known) => known !== query)].slice(0, MOST)

/** As it is kept in the browser. */
export const RECENT_FINDS = {
  name: 'recent-finds',
  usual: [] as readonly string[],
  read: (kept: unknown): readonly string[] | undefined =>
    Array.isArray(kept) ? kept.filter((query) => typeof query === 'string').slice(0, MOST) : undefined,
}
