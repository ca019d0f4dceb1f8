/** Reads, checks and stores a file, a few records at a time. */

import { createHash } from 'node:crypto'
import { type FailedRecord, type ImportResult, MOST_FAILED_RECORDS } from '#lib/api/imported.ts'
import { descriptorBytes, keepInFolder } from '#lib/files/descriptor-bytes.ts'
import { sqliteTablesIn } from '#lib/files/sqlite-tables.ts'
import { type ByteSource, CHUNK } from '#lib/formats/containers/container.ts'
import { type OpenedTrajectory, openFile } from '#lib/formats/reading/open.ts'
import { formats } from '#lib/formats/registry.ts'
import type { ImportedFile, ImportStore } from '#lib/store/import-store.ts'
import { storeErrorOf } from '#lib/store/store-error.ts'
import type { TokenizerLoader } from '#lib/tokenizer/hub/load.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { HttpProblem } from '../http/problem.ts'
import type { ImportQuestion } from './import-answer.ts'
import { completeImported, completionSource } from './import-texts.ts'

interface Deps {
  readonly store: Pick<ImportStore, 'add' | 'publish' | 'discard'>
  readonly tokenizers: Pick<TokenizerLoader, 'load'>
  /** Folder for decompressed content, on the disk of the library. */
  readonly folder: string
  readonly limits?: typeof LIMITS
  /** Weight of the trajectories that one transaction stores. */
  readonly batch?: number
}

/**
 * Returns the weight of a trajectory in tokens; its rows add a constant. A batch takes some ten milliseconds, for which other writers wait.
 */
const weightOf = ({ segments }: Trajectory): number => segments.reduce((sum, { ids }) => sum + ids.length, 500)
const BATCH = 50_000

/** Imports a file. Throws HttpProblem, TokenizerError or StoreError; nothing is stored then. */
export async function runImportRequest(
  { descriptor, size, name, format: formatName, tokenizer, parser }: ImportQuestion,
  { store, tokenizers, folder, limits = LIMITS, batch = BATCH }: Deps,
): Promise<ImportResult> {
  const as = formats.find((format) => format.name === formatName)
  const completion =
    tokenizer === undefined
      ? undefined
      : await completionSource({ tokenizer, parser }, tokenizers, new AbortController().signal)
  const bytes = descriptorBytes(descriptor, size)
  const { file, newId } = importedFile(await fileDigest(bytes, name), completion !== undefined)
  const source = { file: name, now: new Date().toISOString(), newId }

  const keys: string[] = []
  const added: string[] = []
  const lacked = new Set<string>()
  const failed: FailedRecord[] = []
  let failedCount = 0
  let waiting: Trajectory[] = []
  let weight = 0
  let first: ImportResult['first'] | undefined
  let found = ''
  const storeWaiting = () => {
    for (const { key, isNew } of store.add(waiting, file)) {
      keys.push(key)
      if (isNew) added.push(key)
    }
    waiting = []
    weight = 0
  }
  const add = (one: OpenedTrajectory) => {
    if (!one.ok) {
      const { message, hint } = one.error
      if (one.scope === 'file') throw new HttpProblem({ status: 422, code: 'BAD_FILE', detail: message, hint })
      failedCount++
      if (failed.length < MOST_FAILED_RECORDS) failed.push(one.error)
      return
    }
    const { provenance } = one.trajectory
    if (provenance.kind === 'import') for (const what of provenance.lacked) lacked.add(what)
    const trajectory = completion ? completeImported(one.trajectory, completion) : one.trajectory
    found = one.format.name
    first ??= { id: trajectory.id, createdAt: trajectory.createdAt }
    waiting.push(trajectory)
    weight += weightOf(trajectory)
    if (weight >= batch) storeWaiting()
  }
  const tools = { keep: keepInFolder(folder), sqlite: sqliteTablesIn(folder) }
  try {
    // A suspended function keeps its last values, so the trajectories exist only in `add` and in the list.
    for await (const one of openFile(bytes, source, { as, limits, tools })) add(one)
    storeWaiting()
    const [key, ...others] = keys
    if (!first || key === undefined) throw new Error('a file that opens has a trajectory')
    store.publish(keys)
    const existing = keys.length - added.length
    return {
      format: found,
      trajectories: [key, ...others],
      existing,
      first,
      failed: { count: failedCount, first: failed },
      lacked: [...lacked],
    }
  } catch (error) {
    store.discard(added)
    // The disk may be full when a file is unpacked.
    throw storeErrorOf(error, folder)
  }
}

/** Returns the SHA-256 of the name and the bytes of a file. */
async function fileDigest({ size, read }: ByteSource, name: string | undefined): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify(name ?? null))
  for (let start = 0; start < size; start += CHUNK) hash.update(await read(start, Math.min(start + CHUNK, size)))
  return hash.digest('hex')
}

/** Returns a file, and a function that returns ids for its records. The same file gets the same ids again, so its records are found. */
function importedFile(
  digest: string,
  isCompleted: boolean,
): { readonly file: ImportedFile; readonly newId: () => string } {
  const derivedIds = new Set<string>()
  const newId = () => {
    const id = createHash('sha256').update(`${digest} ${derivedIds.size}`).digest('hex').slice(0, ID_LENGTH)
    derivedIds.add(id)
    return id
  }
  return { file: { digest, derivedIds, isCompleted }, newId }
}

/** Hexadecimal digits of an id: 128 bits, so that no two records get the same. */
const ID_LENGTH = 32
