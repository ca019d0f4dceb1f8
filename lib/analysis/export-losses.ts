/** What each file format would not say of a trajectory: told before one is chosen. */

import { writableFormats } from '#lib/formats/registry.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from './trajectory-task.ts'

interface FormatLosses {
  /** Of the format. */
  readonly name: string
  /** For a person. */
  readonly lost: readonly string[]
}

/** In the order of the registry; each is told as soon as it is known. */
export const exportLosses: InspectTask<null, FormatLosses, readonly FormatLosses[]> = function* (_, view) {
  const trajectory = unpack(view)
  const losses: FormatLosses[] = []
  for (const { name, write } of writableFormats) {
    const known = { name, lost: write(trajectory).lost }
    losses.push(known)
    yield known
  }
  return losses
}
