/** The files of the documentation, which came with this copy of the application. They need no network. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { docName, pictureHref } from '#components/docs/doc-pages.ts'

/** A page of the documentation. */
interface Doc {
  readonly name: string
  /** Its Markdown. */
  readonly text: string
}

/** Returns the document with an address below /docs; undefined if there is none. */
export async function readDoc(address: readonly string[]): Promise<Doc | undefined> {
  const name = docName(address)
  const file = name === undefined ? undefined : await readDocFile(`${name}.md`)
  return name === undefined || file === undefined ? undefined : { name, text: file.toString() }
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
