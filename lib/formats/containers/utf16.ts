/** Turns text in UTF-16, as Windows programs write it, into UTF-8. */
import { type Budget, type ByteSource, ContainerError, piecesOf } from './container.ts'

/** Yields the text as UTF-8, without its byte order mark. Throws ContainerError for half of a pair. */
export async function* utf8Of(bytes: ByteSource, budget: Budget): AsyncGenerator<Uint8Array> {
  const [first, second] = await bytes.read(0, 2)
  // The mark is FE FF; without one, JSON begins with an ASCII character, whose high byte is 0.
  const isBig = first === 0xfe || (first === 0 && second !== 0)
  const decoder = new TextDecoder(isBig ? 'utf-16be' : 'utf-16le', { fatal: true })
  const decode = (piece?: Uint8Array) => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined })
    } catch {
      throw new ContainerError('whole text in UTF-16', 'half of a pair in it', 'Write the file again in UTF-8.')
    }
  }
  const encoder = new TextEncoder()
  for await (const piece of piecesOf(bytes)) {
    const text = encoder.encode(decode(piece))
    budget.count(text.length, piece.length)
    yield text
  }
  yield encoder.encode(decode())
}
