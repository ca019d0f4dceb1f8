/** Downloads one file of the Hub into the local cache, atomically and checked. */
import { createHash, randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, rename, rm, stat, symlink } from 'node:fs/promises'
import path from 'node:path'
import { HubApiError } from '@huggingface/hub'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'

/** A file to download. */
export interface HubFile {
  readonly url: string
  readonly token: string | undefined
  /** Size in bytes, as the Hub lists it. */
  readonly size: number
  readonly checksum: { readonly kind: 'sha256' | 'git'; readonly hex: string }
  /** Path of the content, named by its checksum and shared by all commits with it. */
  readonly blob: string
  /** Path of the file in its snapshot. */
  readonly place: string
}

const IDLE_MS = 30_000

/** Downloads a file unless the cache has it. Throws TokenizerError, HubApiError or fetch's own errors, and then leaves no file. */
export async function downloadToCache(
  file: HubFile,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (await exists(file.place)) return
  await mkdir(path.dirname(file.blob), { recursive: true })
  await mkdir(path.dirname(file.place), { recursive: true })
  if (!(await exists(file.blob))) {
    // The name is unique to this download, because another process may be fetching the same file.
    const arriving = `${file.blob}.${randomUUID()}.incomplete`
    try {
      await receive(file, arriving, onBytes, signal)
      await rename(arriving, file.blob)
    } finally {
      await rm(arriving, { force: true })
    }
  }
  await put(file)
}

async function receive(
  { url, token, size, checksum, place }: HubFile,
  arriving: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const idle = new AbortController()
  const stalled = () => idle.abort(new Error(`nothing arrived for ${IDLE_MS / 1000} s`))
  let timer = setTimeout(stalled, IDLE_MS)
  const out = await open(arriving, 'wx')
  try {
    const response = await fetch(url, {
      headers: { 'accept-encoding': 'identity', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      signal: AbortSignal.any([signal, idle.signal]),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new HubApiError(url, response.status)
    }
    const hash = createHash(checksum.kind === 'git' ? 'sha1' : 'sha256')
    if (checksum.kind === 'git') hash.update(`blob ${size}\0`)
    let received = 0
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(stalled, IDLE_MS)
      received += chunk.byteLength
      if (received > size) break
      hash.update(chunk)
      await out.write(chunk)
      onBytes(received)
    }
    if (received !== size || hash.digest('hex') !== checksum.hex)
      throw new TokenizerError(
        'TOKENIZER_BROKEN',
        `${path.basename(place)} differs from the Hub’s listing (${received} of ${size} bytes), so it was deleted`,
        'Try again. If this happens again, a proxy or a mirror changes files.',
      )
  } finally {
    clearTimeout(timer)
    await out.close()
  }
}

/** Creates a link where the platform allows it, as Python does; otherwise a copy. */
async function put({ blob, place }: HubFile): Promise<void> {
  try {
    await symlink(path.relative(path.dirname(place), blob), place)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return
    await copyFile(blob, place)
  }
}

const exists = async (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  )
