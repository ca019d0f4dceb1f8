/** Builds the document of an offline page in a worker, because it may have megabytes. */

import {
  type Characters,
  charactersOf,
  type OfflineParts,
  type OfflineViewState,
  offlineDocument,
} from '#lib/share/offline/document.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from './trajectory-task.ts'

interface OfflineRequest {
  readonly view: OfflineViewState
  readonly parts: OfflineParts
}

/** What an offline page needs: its title, its document, and the characters that its fonts must contain. */
export interface OfflineFile {
  readonly title: string
  /** JSON text of an OfflineDocument. */
  readonly json: string
  readonly characters: Characters
}

/** Task that writes the offline document of the trajectory, with the parts that were chosen. */
export const offlineFile: InspectTask<OfflineRequest, undefined, OfflineFile> = function* (
  { view, parts },
  trajectory,
) {
  const document = offlineDocument(unpack(trajectory), view, parts)
  yield
  return {
    title: document.trajectory.title ?? `Trajectory ${trajectory.id}`,
    json: JSON.stringify(document),
    characters: charactersOf(document.trajectory),
  }
}
