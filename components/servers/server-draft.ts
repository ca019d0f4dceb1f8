/** A server as typed into the form, and the input that saving it sends. */
import type { ServerEntry } from '#lib/api/server-status.ts'
import { isSameOrigin } from '#lib/share/settings/settings-import.ts'

/** Content of the form. */
export interface ServerDraft {
  readonly name: string
  readonly baseUrl: string
  /** New key; '' if none was entered. */
  readonly apiKey: string
  readonly removesKey: boolean
}

/** Content of the form for a new server. */
export const EMPTY_DRAFT: ServerDraft = { name: '', baseUrl: '', apiKey: '', removesKey: false }

/** Returns the form's content for a saved server. The key is never sent to the browser, so its field begins empty. */
export const serverDraftOf = ({ name, baseUrl }: ServerEntry): ServerDraft => ({ ...EMPTY_DRAFT, name, baseUrl })

/** What saving does with the key. */
export type KeyChange =
  | 'none'
  | 'kept'
  | 'given'
  | 'removed'
  /** The key belongs to another origin than the new address, so it is deleted. */
  | 'dropped'

/** Returns what saving the draft would do with the key. */
export function keyFate({ baseUrl, apiKey, removesKey }: ServerDraft, saved: ServerEntry | undefined): KeyChange {
  if (apiKey !== '') return 'given'
  if (!saved?.hasKey) return 'none'
  if (removesKey) return 'removed'
  const address = baseUrl.trim()
  // An incomplete address does not count as another origin.
  return !URL.canParse(address) || isSameOrigin(saved.baseUrl, address) ? 'kept' : 'dropped'
}

/** Returns the request body that saves the draft; `apiKey: null` deletes the key. */
export function serverInputOf(draft: ServerDraft, saved: ServerEntry | undefined) {
  const fate = keyFate(draft, saved)
  return {
    name: draft.name.trim(),
    baseUrl: draft.baseUrl.trim(),
    ...(fate === 'given' && { apiKey: draft.apiKey.trim() }),
    ...(fate === 'removed' && { apiKey: null }),
  }
}
