import type { TrajectoryView } from '#lib/core/trajectory-view.ts'

/** `list`: the query of the list that it was found in, which previous and next walk through. Omitted: its group, or the library. */
export const inspectorHref = (key: string, list?: string): string =>
  `/t/${encodeURIComponent(key)}${list === undefined ? '' : `?${new URLSearchParams({ list })}`}`

/** Where the playground continues a trajectory; undefined: it cannot, because the tokenizer or the chat template is not known. */
export const continueHref = (storedKey: string | undefined, { model }: TrajectoryView): string | undefined =>
  storedKey !== undefined && model.tokenizer && model.template ? `/?t=${encodeURIComponent(storedKey)}` : undefined
