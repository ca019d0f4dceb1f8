/** The folder that holds trajectories and settings: the user's own, closed to others. */
import { accessSync, chmodSync, constants, lstatSync, mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

export class DataFolderError extends Error {
  override readonly name = 'DataFolderError'
}

/** Where applications keep data on this platform. */
export function defaultDataFolder(
  platform: NodeJS.Platform,
  home: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  if (platform === 'win32')
    return path.win32.join(environment.LOCALAPPDATA ?? path.win32.join(home, 'AppData', 'Local'), 'rollscope')
  if (platform === 'darwin') return path.posix.join(home, 'Library', 'Application Support', 'rollscope')
  return path.posix.join(environment.XDG_DATA_HOME ?? path.posix.join(home, '.local', 'share'), 'rollscope')
}

/** Makes it if it is not there. Throws DataFolderError when it cannot be made or written, is a link, a file, or somebody else's. */
export function openDataFolder(folder: string): string {
  const refuse = (why: string): never => {
    throw new DataFolderError(`the data folder ${folder} ${why}; set ROLLSCOPE_DATA to another one`)
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') refuse(`cannot be made: ${(error as Error).message}`)
  }
  const found = lstatSync(folder)
  if (found.isSymbolicLink()) refuse('is a symbolic link')
  if (!found.isDirectory()) refuse('is not a folder')
  const user = os.userInfo().uid
  // Windows has no user ids: -1 there.
  if (user >= 0 && found.uid !== user) refuse('belongs to another user')
  try {
    if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
    accessSync(folder, constants.W_OK)
  } catch (error) {
    refuse(`may not be written: ${(error as Error).message}`)
  }
  return folder
}
