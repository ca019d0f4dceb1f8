/** The text above the first trajectory of a file with several. */
import type { StoredCounts, Storing } from './opened-file.ts'

/**
 * Returns how many of the file's trajectories are stored: all or none. `stored` is known afterwards, `storing` before. Both are undefined
 * for the address of a stored trajectory, which exists only after all were stored.
 */
export function storedWords(
  inFile: number,
  storing: Storing | undefined,
  stored: Omit<StoredCounts, 'failed'> | undefined,
): string {
  if (stored) {
    const { all, existing } = stored
    if (existing === 0) return `All ${all} are stored.`
    if (existing === all) return `All ${all} were in the library before.`
    return `All ${all} are stored; ${existing} of them ${existing === 1 ? 'was' : 'were'} in the library before.`
  }
  if (!storing) return `All ${inFile} were stored when it was opened.`
  return storing.kind === 'failed' ? 'None of them is stored.' : 'Storing them…'
}
