/** What the user's data cannot be read from or written to: every failure of SQLite and of the files beside it, by name. */

/**
 * `DAMAGED` is of one trajectory, whose neighbours can be read; `SETTINGS_DAMAGED` of a file of settings;
 * `STORE_FAILED` is whatever else the disk or SQLite reports. The others say what they are.
 */
export type StoreErrorCode =
  | 'DAMAGED'
  | 'DATABASE_DAMAGED'
  | 'DATABASE_LOCKED'
  | 'DISK_FULL'
  | 'NEWER_DATABASE'
  | 'READ_ONLY'
  | 'SETTINGS_DAMAGED'
  | 'STORE_FAILED'

/** Something cannot be stored, or what is stored cannot be read. Message and hint are for people; `cause` is for the log. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** What to do. */
  readonly hint: string
  constructor(code: StoreErrorCode, message: string, hint: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
    this.hint = hint
  }
}

/** Whether one trajectory cannot be read while the store itself works. */
export const isDamagedRecord = (error: unknown): error is StoreError =>
  error instanceof StoreError && error.code === 'DAMAGED'

/** Any error of an action on `file`, which is one of the data folder. What is not of SQLite or of the disk is returned as it is. */
export function storeErrorOf(error: unknown, file: string): unknown {
  if (error instanceof StoreError || !(error instanceof Error)) return error
  const code = codeOf(error)
  if (code === undefined) return error
  const [what, hint] = TEXTS[code]
  const reason = code === 'STORE_FAILED' ? `: ${error.message}` : ''
  return new StoreError(code, `${what(file)}${reason}`, hint, { cause: error })
}

/** Runs the action. Throws its SQLite and disk errors as StoreError. */
export function withStoreErrors<T>(file: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw storeErrorOf(error, file)
  }
}

/** The same functions, whose SQLite and disk errors are StoreError. */
export function storeErrorsOf<Functions extends object>(functions: Functions, file: string): Functions {
  const guarded = Object.entries(functions).map(([name, action]) => [
    name,
    (...values: readonly unknown[]) => withStoreErrors(file, () => action(...values)),
  ])
  return Object.fromEntries(guarded) as Functions
}

type ReportedCode = Exclude<StoreErrorCode, 'DAMAGED' | 'NEWER_DATABASE' | 'SETTINGS_DAMAGED'>

/** By SQLite's primary result codes. */
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

const SYSTEM_CODES: Readonly<Record<string, ReportedCode>> = {
  EACCES: 'READ_ONLY',
  EPERM: 'READ_ONLY',
  EROFS: 'READ_ONLY',
  EDQUOT: 'DISK_FULL',
  ENOSPC: 'DISK_FULL',
}

function codeOf(error: Error & { readonly code?: unknown; readonly errcode?: unknown }): ReportedCode | undefined {
  if (error.code === 'ERR_SQLITE_ERROR') return SQLITE_CODES[Number(error.errcode) & 0xff]
  if (!('syscall' in error)) return undefined
  return SYSTEM_CODES[String(error.code)] ?? 'STORE_FAILED'
}

const TEXTS: Readonly<Record<ReportedCode, readonly [what: (file: string) => string, hint: string]>> = {
  DISK_FULL: [
    (file) => `there is no space left to write ${file}`,
    'What was stored before can be read. Make room on that disk, then try again.',
  ],
  READ_ONLY: [
    (file) => `${file} may not be written`,
    'What is stored can be read. Make the folder, its files and its disk writable for your user, or set ROLLSCOPE_DATA to another folder.',
  ],
  DATABASE_LOCKED: [
    (file) => `another program keeps ${file} locked`,
    'Close the program that has it open, such as a database browser or a backup, then try again.',
  ],
  DATABASE_DAMAGED: [
    (file) => `the database ${file} is damaged`,
    'Stop Rollscope and copy the data folder. Then restore a backup of it, or save what can be read: sqlite3 rollscope.db .recover | sqlite3 new.db',
  ],
  STORE_FAILED: [
    (file) => `${file} cannot be used`,
    'Check that its folder is there and that its disk works, or set ROLLSCOPE_DATA to another folder.',
  ],
}
