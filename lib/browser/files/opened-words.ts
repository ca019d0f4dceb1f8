/** What is said above the first trajectory of a file with several. */
import type { StoredCounts, Storing } from './opened-file.ts'

/**
 * How many of the file's trajectories are stored, which is never some: `stored` once they are, `storing` before. An address that names
 * a stored trajectory, of which neither is known, was given when all had been stored.
 */
export function storedWords(inFile: number, storing: Storing | undefined, stored: StoredCounts | undefined): string {
  if (stored) {
    const { all, existing } = stored
    if (existing === 0) return `All ${all} are stored.`
    if (existing === all) return `All ${all} were in the library before.`
    return `All ${all} are stored; ${existing} of them ${existing === 1 ? 'was' : 'were'} in the library before.`
  }
  if (!storing) return `All ${inFile} were stored when it was opened.`
  return storing.kind === 'failed' ? 'None of them is stored.' : 'They are being stored …'
}
