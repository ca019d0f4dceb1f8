/** Names of files in folders: their order, and which of them contain no data of the user. */

const collator = new Intl.Collator('en', { numeric: true })

/** Compares two names for sorting, or two paths. Numbers in them count as numbers, so `rollout_10` is after `rollout_9`. */
export const compareNames = (a: string, b: string): number => collator.compare(a, b) || Number(a > b) - Number(a < b)

/** Names that operating systems add to folders. Those with a leading dot are hidden already. */
const ADDED_BY_SYSTEMS: ReadonlySet<string> = new Set(['__MACOSX', 'Thumbs.db', 'desktop.ini'])

/** Returns whether an operating system adds a file or folder with this name. */
export const isAddedBySystem = (name: string): boolean => ADDED_BY_SYSTEMS.has(name)

/** Returns why a file or folder with this name is passed over when its folder is opened; undefined if it is opened. */
export function whySkipped(name: string): string | undefined {
  if (name.startsWith('.')) return 'its name begins with a dot, so it is hidden'
  return isAddedBySystem(name) ? 'the operating system adds it to folders' : undefined
}
