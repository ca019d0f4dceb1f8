/** Computes what each file format leaves out of a trajectory, so that the page can show it before a format is chosen. */

import { writableFormats } from '#lib/formats/registry.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import type { InspectTask } from './trajectory-task.ts'

interface FormatLosses {
  /** Name of the format. */
  readonly name: string
  /** What the format leaves out, in sentences for a person. */
  readonly lost: readonly string[]
}

/** Task that returns the losses of all writable formats in the order of the registry. Yields each one as soon as it is known. */
export const exportLosses: InspectTask<null, FormatLosses, readonly FormatLosses[]> = function* (_, view) {
  const trajectory = unpack(view)
  const losses: FormatLosses[] = []
  for (const { name, write } of writableFormats) {
    const known = { name, lost: write(trajectory).losses }
    losses.push(known)
    yield known
  }
  return losses
}
