/** Opens the private folder of the user's trajectories and settings. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** The data folder cannot be used. The message names the folder and says what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError'
}

/** Returns the platform's folder for application data. Throws the error of `home`, which returns the home folder of the user. */
export function defaultDataFolder(
  platform: NodeJS.Platform,
  home: () => string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (platform === 'win32')
    return path.win32.join(environment.LOCALAPPDATA ?? path.win32.join(home(), 'AppData', 'Local'), 'rollscope')
  if (platform === 'darwin') return path.posix.join(home(), 'Library', 'Application Support', 'rollscope')
  return path.posix.join(environment.XDG_DATA_HOME ?? path.posix.join(home(), '.local', 'share'), 'rollscope')
}

/**
 * Rollscope's own files. Writing through a link would replace it by a file, write keys elsewhere, or delete files of
 * another folder.
 */
const OWN_NAMES: ReadonlySet<string> = new Set([
  'rollscope.db',
  'rollscope.db-wal',
  'rollscope.db-shm',
  'servers.json',
  'mcp-servers.json',
  'instances',
  'python',
  'tokenizers',
])

/**
 * Creates the folder if needed. Throws DataFolderError if it cannot be created or written, is a link, a file or another
 * user's folder, or has a link in place of one of Rollscope's files.
 */
export function openDataFolder(folder: string): string {
  const refuse = (why: string): never => {
    throw new DataFolderError(`the data folder ${folder} ${why}; set ROLLSCOPE_DATA to another one`)
  }
  try {
    createFolder(folder)
  } catch (error) {
    refuse(`could not be created: ${(error as Error).message}`)
  }
  const found = lstatSync(folder)
  if (found.isSymbolicLink()) refuse('is a symbolic link')
  if (!found.isDirectory()) refuse('is not a folder')
  // Windows has no user ids. In a container, a user may have an id and no name.
  const user = process.getuid?.()
  if (user !== undefined && found.uid !== user) refuse('belongs to another user')
  try {
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    refuse(`is not writable: ${(error as Error).message}`)
  }
  const link = readdirSync(folder, { withFileTypes: true }).find(
    (entry) => entry.isSymbolicLink() && OWN_NAMES.has(entry.name),
  )
  if (link)
    throw new DataFolderError(
      `${path.join(folder, link.name)} is a symbolic link: put the file or folder itself there, or set ROLLSCOPE_DATA to another folder`,
    )
  return folder
}

/**
 * Creates a folder with its missing parents. Node's recursive creation never returns where the system refuses a folder as not found,
 * as it does in /proc.
 */
function createFolder(folder: string): void {
  if (existsSync(folder)) return
  createFolder(path.dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
