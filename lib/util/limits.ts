/**
 * Limits of the files that Rollscope opens and stores: one table for the page, the server and the command line. docs/limits.md
 * is the same table for readers.
 */
export interface Limits {
  /** Bytes of a file that is stored. */
  readonly fileBytes: number
  /** Bytes of one record: a line of JSON lines, an element of a list, or a whole file that is neither. */
  readonly recordBytes: number
  /** Trajectories in one file. */
  readonly records: number
  /** Segments of one trajectory: more of them are a mask that alternates, not a run. */
  readonly segments: number
  /** Tokens of one trajectory. */
  readonly tokens: number
  /** Entries of one list or object in a record, counted before it is parsed. */
  readonly entries: number
  /** Levels of nesting in JSON. */
  readonly depth: number
}

export const LIMITS: Limits = {
  fileBytes: 2 * 2 ** 30,
  recordBytes: 128 * 2 ** 20,
  records: 100_000,
  segments: 10_000,
  tokens: 2_000_000,
  entries: 2_000_000,
  depth: 100,
}

/** For a sentence, such as "128 MiB". */
export function bytesText(bytes: number): string {
  const unit = UNITS.find(([size]) => bytes >= size && bytes % size === 0)
  return unit ? `${bytes / unit[0]} ${unit[1]}` : `${bytes} bytes`
}

const UNITS = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
] as const
