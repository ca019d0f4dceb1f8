/** What goes into an offline page of the trajectory: where it disturbs nobody, it may be megabytes. */

import {
  type Characters,
  charactersOf,
  type OfflineParts,
  type OfflineView,
  offlineDocument,
} from '#lib/share/offline/document.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from './trajectory-task.ts'

interface OfflineRequest {
  readonly view: OfflineView
  readonly parts: OfflineParts
}

export interface OfflineFile {
  readonly title: string
  /** An OfflineDocument. */
  readonly json: string
  readonly characters: Characters
}

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
