/** Defines named errors for every failure of SQLite and of the files next to it. */

/**
 * `DAMAGED` means one trajectory, while others can be read; `SETTINGS_DAMAGED` a settings file; `STORE_FAILED` any
 * other failure of the disk or SQLite.
 */
export type StoreErrorCode =
  | 'DAMAGED'
  | 'DATABASE_DAMAGED'
  | 'DATABASE_LOCKED'
  | 'DISK_FULL'
  | 'FOLDER_IN_USE'
  | 'NEWER_DATABASE'
  | 'READ_ONLY'
  | 'SETTINGS_DAMAGED'
  | 'STORE_FAILED'

/** Data could not be stored or read. Message and hint are for people; `cause` is for the log. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** What the user can do. */
  readonly hint: string
  constructor(code: StoreErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hint = hint
  }
}

/** Returns the error of a trajectory that cannot be read. */
export const damagedRecord = (key: string, why: string): StoreError =>
  new StoreError(
    'DAMAGED',
    `the stored trajectory ${key} is damaged: ${why}`,
    'The others are not affected. Delete this one, or restore the data folder from a backup.',
  )

/** Returns whether only one trajectory cannot be read. */
export const isDamagedRecord = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.code === 'DAMAGED'

/**
 * Converts an error of an action on `file`, which is in the data folder. Errors that are not of SQLite or the disk are
 * returned unchanged.
 */
export function storeErrorOf(error: unknown, file: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === undefined) return error
  const [what, hint] = TEXTS[code]
  const reason = code === 'STORE_FAILED' ? `: ${error.message}` : ''
  return new StoreError(code, `${what(file)}${reason}`, hint, { cause: error })
}

/** Runs the action and throws its SQLite and disk errors as StoreError. */
export function withStoreErrors<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw storeErrorOf(error, file)
  }
}

/** Wraps functions so that their SQLite and disk errors are StoreError, also those that their promises reject with. */
export function storeErrorsOf<Functions extends object>(functions: Functions, file: string): Functions {
  const rethrow = (error: unknown): never => {
    throw storeErrorOf(error, file)
  }
  const guarded = Object.entries(functions).map(([name, action]) => [
    name,
    (...values: readonly unknown[]) => {
      const result: unknown = withStoreErrors(file, () => action(...values))
      return result instanceof Promise ? result.catch(rethrow) : result
    },
  ])
  return Object.fromEntries(guarded) as Functions
}

type ReportedCode = Exclude<StoreErrorCode, 'DAMAGED' | 'FOLDER_IN_USE' | 'NEWER_DATABASE' | 'SETTINGS_DAMAGED'>

/** Names by SQLite's primary result codes. */
const SQLITE_CODES: Readonly<Record<number, ReportedCode>> = {
  3: 'READ_ONLY',
  5: 'DATABASE_LOCKED',
  6: 'DATABASE_LOCKED',
  8: 'READ_ONLY',
  10: 'STORE_FAILED',
  11: 'DATABASE_DAMAGED',
  13: 'DISK_FULL',
  14: 'STORE_FAILED',
  26: 'DATABASE_DAMAGED',
}

/** The extended code SQLITE_IOERR_SHMSIZE: the file of shared memory, which every start makes, cannot get its size. */
const NO_SHARED_MEMORY = 4874

const SYSTEM_CODES: Readonly<Record<string, ReportedCode>> = {
  EACCES: 'READ_ONLY',
  EPERM: 'READ_ONLY',
  EROFS: 'READ_ONLY',
  EDQUOT: 'DISK_FULL',
  ENOSPC: 'DISK_FULL',
}

function codeOf(error: Error & { readonly code?: unknown; readonly errcode?: unknown }): ReportedCode | undefined {
  if (error.code === 'ERR_SQLITE_ERROR')
    return error.errcode === NO_SHARED_MEMORY ? 'DISK_FULL' : SQLITE_CODES[Number(error.errcode) & 0xff]
  if (!('syscall' in error)) return undefined
  return SYSTEM_CODES[String(error.code)] ?? 'STORE_FAILED'
}

const TEXTS: Readonly<Record<ReportedCode, readonly [what: (file: string) => string, hint: string]>> = {
  DISK_FULL: [
    (file) => `there is no space left to write ${file}`,
    'Stored data can still be read. Free some space on that disk, then try again.',
  ],
  READ_ONLY: [
    (file) => `${file} is not writable`,
    'Stored data can still be read. Make the folder, its files and its disk writable for your user, or set ROLLSCOPE_DATA to another folder.',
  ],
  DATABASE_LOCKED: [
    (file) => `another program has locked ${file}`,
    'Close the program that has it open, such as a database browser or a backup, then try again.',
  ],
  DATABASE_DAMAGED: [
    (file) => `the database ${file} is damaged`,
    'Stop Rollscope and copy the data folder. Then restore a backup of it, or recover the readable data: sqlite3 rollscope.db .recover | sqlite3 new.db',
  ],
  STORE_FAILED: [
    (file) => `${file} cannot be used`,
    'Check that its folder exists and that its disk works, or set ROLLSCOPE_DATA to another folder.',
  ],
}
