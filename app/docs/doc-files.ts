/** The files of the documentation, which came with this copy of the application. They need no network. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { docName, pictureHref } from '#components/docs/doc-pages.ts'
import type { PictureSizes } from '#components/docs/doc-text.tsx'

/** A page of the documentation. */
interface Doc {
  readonly name: string
  /** Its Markdown. */
  readonly text: string
  readonly sizes: PictureSizes
}

/** Returns the document with an address below /docs; undefined if there is none. */
export async function readDoc(address: readonly string[]): Promise<Doc | undefined> {
  const name = docName(address)
  const file = name === undefined ? undefined : await readDocFile(`${name}.md`)
  if (name === undefined || file === undefined) return undefined
  const text = file.toString()
  return { name, text, sizes: await readSizes(text) }
}

/** Reads the sizes of the pictures of a page from their PNG headers. */
async function readSizes(text: string): Promise<PictureSizes> {
  const sizes: Record<string, PictureSizes[string]> = {}
  for (const [, link = ''] of text.matchAll(/\]\((pictures\/[^)]+)\)/g)) {
    const header = pictureHref(link) === undefined ? undefined : await readDocFile(link)
    if (header) sizes[link] = { width: header.readUInt32BE(16), height: header.readUInt32BE(20) }
  }
  return sizes
}

/** Returns the bytes of a picture in docs/pictures; undefined if there is none. */
export async function readPicture(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const link = `pictures/${name}`
  const file = pictureHref(link) === undefined ? undefined : await readDocFile(link)
  return file && new Uint8Array(file)
}

async function readDocFile(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path.join(process.cwd(), 'docs', file))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
