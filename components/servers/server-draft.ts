/** A server as it is typed in, and what saving it would mean. */
import type { ServerEntry } from '#lib/api/server-status.ts'
import { isSameOrigin } from '#lib/share/settings/settings-import.ts'

export interface ServerDraft {
  readonly name: string
  readonly baseUrl: string
  /** '' = none is given. */
  readonly apiKey: string
  readonly removesKey: boolean
}

export const EMPTY_DRAFT: ServerDraft = { name: '', baseUrl: '', apiKey: '', removesKey: false }

/** The key is never there to be shown: its field begins empty. */
export const draftOf = ({ name, baseUrl }: ServerEntry): ServerDraft => ({ ...EMPTY_DRAFT, name, baseUrl })

/** What becomes of the key. */
export type KeyFate =
  | 'none'
  | 'kept'
  | 'given'
  | 'removed'
  /** It belongs to the origin it was given for, which is another now. */
  | 'dropped'

export function keyFate({ baseUrl, apiKey, removesKey }: ServerDraft, saved: ServerEntry | undefined): KeyFate {
  if (apiKey !== '') return 'given'
  if (!saved?.hasKey) return 'none'
  if (removesKey) return 'removed'
  const address = baseUrl.trim()
  // What is no address yet is no other origin either.
  return !URL.canParse(address) || isSameOrigin(saved.baseUrl, address) ? 'kept' : 'dropped'
}

export function inputOf(draft: ServerDraft, saved: ServerEntry | undefined) {
  const fate = keyFate(draft, saved)
  return {
    name: draft.name.trim(),
    baseUrl: draft.baseUrl.trim(),
    ...(fate === 'given' && { apiKey: draft.apiKey.trim() }),
    ...(fate === 'removed' && { apiKey: null }),
  }
}
