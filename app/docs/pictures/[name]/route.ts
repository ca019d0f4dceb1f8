/** Serves the pictures of the documentation from docs/pictures. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { pictureHref } from '#components/docs/doc-pages.ts'

interface PictureContext {
  readonly params: Promise<{ readonly name: string }>
}

/** Answers with a PNG file, or with 404 if no such picture exists. */
export async function GET(_request: Request, { params }: PictureContext): Promise<Response> {
  const link = `pictures/${(await params).name}`
  const picture = pictureHref(link) === undefined ? undefined : await readPicture(link)
  return picture === undefined
    ? new Response('Picture not found.\n', { status: 404 })
    : new Response(picture, { headers: { 'content-type': 'image/png', 'cache-control': 'no-cache' } })
}

async function readPicture(link: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path.join(process.cwd(), 'docs', link)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
