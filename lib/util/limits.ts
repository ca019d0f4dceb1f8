/**
 * Limits of the files that Rollscope opens and stores, shared by the page, the server and the command line.
 * docs/limits.md documents them.
 */
export interface Limits {
  /** Maximum bytes of a stored file. */
  readonly fileBytes: number
  /** Maximum bytes of one record: a line of JSON lines, an element of a list, or any other whole file. */
  readonly recordBytes: number
  /** Maximum number of trajectories in one file. */
  readonly records: number
  /** Maximum number of segments of one trajectory. A file with more has an alternating mask, not a run. */
  readonly segments: number
  /** Maximum number of tokens of one trajectory. */
  readonly tokens: number
  /** Largest token id. The columns of pages have 32 bits. */
  readonly tokenId: number
  /** Maximum number of entries of one list or object in a record, counted before parsing. */
  readonly entries: number
  /** Maximum levels of nesting in JSON. */
  readonly depth: number
  /** Maximum bytes of all containers of a file together after decompression. */
  readonly unpackedBytes: number
  /** Maximum ratio of these bytes to the compressed ones, above 64 MiB. */
  readonly unpackedRatio: number
  /** Maximum levels of nesting of containers. */
  readonly containers: number
  /** Maximum number of files that are opened at once. */
  readonly files: number
  /** Maximum levels of folders in an opened folder. */
  readonly folders: number
  /** Maximum bytes of one image that is shown or sent. */
  readonly imageBytes: number
  /** Maximum pixels of one image: few bytes can unpack to more memory than a page may have. */
  readonly imagePixels: number
  /** Maximum number of images that one question of a run may have. */
  readonly images: number
  /** Maximum bytes of a request that starts or continues a run, with its images. */
  readonly runBytes: number
}

/** The limits in use. */
export const LIMITS: Limits = {
  fileBytes: 2 * 2 ** 30,
  recordBytes: 128 * 2 ** 20,
  records: 100_000,
  segments: 10_000,
  tokens: 2_000_000,
  tokenId: 2 ** 31 - 1,
  entries: 2_000_000,
  depth: 100,
  unpackedBytes: 2 * 2 ** 30,
  unpackedRatio: 100,
  containers: 2,
  files: 2_000,
  folders: 20,
  imageBytes: 16 * 2 ** 20,
  imagePixels: 100_000_000,
  images: 32,
  runBytes: 64 * 2 ** 20,
}

/** Writes a size for people, such as "128 MiB". */
export function bytesText(bytes: number): string {
  const unit = UNITS.find(([size]) => bytes >= size && bytes % size === 0)
  return unit ? `${bytes / unit[0]} ${unit[1]}` : `${bytes} bytes`
}

const UNITS = [
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
] as const
