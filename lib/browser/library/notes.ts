/** Stores single notes on the tokens of a trajectory, and shows all of them. */
import type { QueryClient } from '@tanstack/react-query'
import { tokenNotesAnswerSchema } from '#lib/api/trajectory-labels.ts'
import { changedLabels } from '#lib/trajectory/format/labels.ts'
import type { TokenNote } from '#lib/trajectory/format/token-notes.ts'
import { ApiError, CHANGE_MS, fetchJson } from '../api.ts'
import { TRAJECTORIES } from '../queries.ts'
import { revisionOptions } from './revision.ts'
import { showStoredLabels } from './shown-labels.ts'

/** Adds a note on tokens. Throws ApiError. */
export const addNote = (
  client: QueryClient,
  key: string,
  note: Pick<TokenNote, 'start' | 'end' | 'text'>,
): Promise<void> => storeNotes(client, key, '', { method: 'POST', json: note })

/**
 * Changes the text of a note on tokens, or deletes it. Throws ApiError, with the code NOTE_CHANGED if it has another text than `before`, or
 * NO_NOTE if it is deleted. The shown trajectory then has the notes as they are stored.
 */
export async function changeNote(
  client: QueryClient,
  key: string,
  id: string,
  change: { readonly text: string | null; readonly before: string },
): Promise<void> {
  try {
    await storeNotes(client, key, `/${encodeURIComponent(id)}`, { method: 'PATCH', json: change })
  } catch (error) {
    if (error instanceof ApiError && (error.code === 'NOTE_CHANGED' || error.code === 'NO_NOTE'))
      await client.fetchQuery(revisionOptions(key, true))
    throw error
  }
}

async function storeNotes(
  client: QueryClient,
  key: string,
  place: string,
  request: { readonly method: string; readonly json: unknown },
): Promise<void> {
  const path = `/api/trajectories/${encodeURIComponent(key)}/notes${place}`
  const { notes } = await fetchJson(path, tokenNotesAnswerSchema, { ...request, limitMs: CHANGE_MS })
  await showStoredLabels(client, key, (labels) => changedLabels(labels, { notes: notes.length > 0 ? notes : null }))
  // The library finds trajectories by the words of their notes.
  await client.invalidateQueries({ queryKey: TRAJECTORIES, refetchType: 'none' })
}
