/** `list`: the query of the list that it was found in, which previous and next walk through. Omitted: its group, or the library. */
export const inspectorHref = (key: string, list?: string): string =>
  `/t/${encodeURIComponent(key)}${list === undefined ? '' : `?${new URLSearchParams({ list })}`}`
