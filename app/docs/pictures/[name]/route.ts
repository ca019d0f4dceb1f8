/** Serves the pictures of the documentation from docs/pictures. */
import { readPicture } from '../../doc-files.ts'

interface PictureContext {
  readonly params: Promise<{ readonly name: string }>
}

/** Answers with a PNG file, or with 404 if no such picture exists. */
export async function GET(_request: Request, { params }: PictureContext): Promise<Response> {
  const picture = await readPicture((await params).name)
  return picture === undefined
    ? new Response('Picture not found.\n', { status: 404 })
    : new Response(picture, { headers: { 'content-type': 'image/png', 'cache-control': 'no-cache' } })
}
