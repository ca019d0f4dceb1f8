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

const refused = (name: string) => (): never => throwAccessError(`fs.${name}`)

/** Emscripten's file systems call the functions below. They refuse with EACCES, so that the interpreter does not break. */
export const chmodSync = refused('chmodSync')
export const closeSync = refused('closeSync')
export const existsSync = refused('existsSync')
export const fchmodSync = refused('fchmodSync')
export const fstatSync = refused('fstatSync')
export const fsyncSync = refused('fsyncSync')
export const ftruncateSync = refused('ftruncateSync')
export const futimesSync = refused('futimesSync')
export const lstatSync = refused('lstatSync')
export const mkdirSync = refused('mkdirSync')
export const openSync = refused('openSync')
export const readSync = refused('readSync')
export const readdirSync = refused('readdirSync')
export const readlinkSync = refused('readlinkSync')
export const renameSync = refused('renameSync')
export const rmdirSync = refused('rmdirSync')
export const statSync = refused('statSync')
export const statfsSync = refused('statfsSync')
export const symlinkSync = refused('symlinkSync')
export const truncateSync = refused('truncateSync')
export const unlinkSync = refused('unlinkSync')
export const utimesSync = refused('utimesSync')
export const writeFileSync = refused('writeFileSync')
export const writeSync = refused('writeSync')
