/**
 * Packed definitions of tokenizers in a folder. Parsing the tokenizer.json of a large vocabulary takes a second and 150 MB;
 * reading its packed form takes a few milliseconds and 10 MB. A file begins with its CRC-32, and its name is the hash of the
 * files that it was made from.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { definitionBytes, readDefinitionBytes } from '#lib/tokenizer/files/definition-bytes.ts'
import type { TokenizerDefinition } from '#lib/tokenizer/files/tokenizer-files.ts'

/** The most files in the folder; each of a vocabulary of 150,000 tokens has 8 MB. */
const MOST_FILES = 8
const SUFFIX = '.packed'
/** The bytes of the checksum. */
const SUM_BYTES = 4

/** Returns the definition that was stored under a hash; undefined if there is none, or if it is damaged. */
export async function readPackedDefinition(folder: string, hash: string): Promise<TokenizerDefinition | undefined> {
  const file = await readFile(path.join(folder, hash + SUFFIX)).catch(() => undefined)
  if (file === undefined || file.length < SUM_BYTES) return undefined
  const bytes = file.subarray(SUM_BYTES)
  return crc32(bytes) === file.readUInt32LE() ? readDefinitionBytes(bytes) : undefined
}

/** Stores a definition with a packed vocabulary under a hash, and removes the oldest files if there are too many. */
export async function storePackedDefinition(
  folder: string,
  hash: string,
  definition: TokenizerDefinition,
): Promise<void> {
  const bytes = definitionBytes(definition)
  if (bytes === undefined) return
  const sum = Buffer.alloc(SUM_BYTES)
  sum.writeUInt32LE(crc32(bytes))
  const place = path.join(folder, hash + SUFFIX)
  // Another process may store the same definition at the same time.
  const arriving = `${place}.${randomUUID()}.incomplete`
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(arriving, [sum, bytes], { mode: 0o600 })
    await rename(arriving, place)
    await removeOldest(folder)
  } catch {
    // Without the file, for example on a full disk, the next start parses tokenizer.json again.
    await rm(arriving, { force: true }).catch(() => {})
  }
}

async function removeOldest(folder: string): Promise<void> {
  const names = await readdir(folder)
  const files = await Promise.all(
    names.map(async (name) => ({ place: path.join(folder, name), ms: (await stat(path.join(folder, name))).mtimeMs })),
  )
  const old = files.sort((a, b) => b.ms - a.ms).slice(MOST_FILES)
  await Promise.all(old.map(({ place }) => rm(place, { force: true })))
}
