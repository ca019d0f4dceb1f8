/** The stand-in for node:fs and node:fs/promises: Pyodide reads its own files during its start, and nothing afterwards. */
import * as fs from 'node:fs'
import { refuseWhenLocked, throwAccessError } from '../lock.ts'

/** The constants of the real node:fs. */
export const { constants } = fs

/** Reads a file during the start of Pyodide; throws EACCES afterwards. */
export function readFileSync(file: fs.PathLike, options: fs.ObjectEncodingOptions = {}): string | Buffer {
  refuseWhenLocked('reading a file')
  return fs.readFileSync(file, options)
}

/** Reads a file during the start of Pyodide; rejects with EACCES afterwards. */
export async function readFile(file: fs.PathLike, options: fs.ObjectEncodingOptions = {}): Promise<string | Buffer> {
  refuseWhenLocked('reading a file')
  return fs.promises.readFile(file, options)
}

const refuseAccess = (name: string) => (): never => throwAccessError(`fs.${name}`)

/** Emscripten's file systems call the functions below. They refuse with EACCES, so that the interpreter does not break. */
export const chmodSync = refuseAccess('chmodSync')
export const closeSync = refuseAccess('closeSync')
export const existsSync = refuseAccess('existsSync')
export const fchmodSync = refuseAccess('fchmodSync')
export const fstatSync = refuseAccess('fstatSync')
export const fsyncSync = refuseAccess('fsyncSync')
export const ftruncateSync = refuseAccess('ftruncateSync')
export const futimesSync = refuseAccess('futimesSync')
export const lstatSync = refuseAccess('lstatSync')
export const mkdirSync = refuseAccess('mkdirSync')
export const openSync = refuseAccess('openSync')
export const readSync = refuseAccess('readSync')
export const readdirSync = refuseAccess('readdirSync')
export const readlinkSync = refuseAccess('readlinkSync')
export const renameSync = refuseAccess('renameSync')
export const rmdirSync = refuseAccess('rmdirSync')
export const statSync = refuseAccess('statSync')
export const statfsSync = refuseAccess('statfsSync')
export const symlinkSync = refuseAccess('symlinkSync')
export const truncateSync = refuseAccess('truncateSync')
export const unlinkSync = refuseAccess('unlinkSync')
export const utimesSync = refuseAccess('utimesSync')
export const writeFileSync = refuseAccess('writeFileSync')
export const writeSync = refuseAccess('writeSync')
