/**
 * Retokenizes as a pipeline does that keeps text instead of ids: the ids are decoded, and the text is encoded again.
 */
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { elementAt } from '#lib/util/element-at.ts'

/**
 * Returns encode(decode(ids)), with special and added tokens by their texts. Bytes that are not a character become
 * U+FFFD, as in every decoder.
 */
export function retokenize(ids: ArrayLike<number>, tokenizer: Tokenizer): number[] {
  return tokenizer.encode(withoutFirstSpace(decodedText(ids, tokenizer), tokenizer))
}

/** Removes the space that SentencePiece puts before the first word, as decoders do. */
export const withoutFirstSpace = (text: string, tokenizer: Tokenizer): string =>
  text.startsWith(' ') && putsSpaceFirst(tokenizer) ? text.slice(1) : text

/** Returns the exact bytes of ids, requesting each once from the tokenizer. */
export function knownBytes(tokenizer: Tokenizer): (id: number) => Uint8Array {
  const known = new Map<number, Uint8Array>()
  return (id) => {
    const found = known.get(id) ?? tokenizer.bytes(id)
    known.set(id, found)
    return found
  }
}

/** Returns the text of ids. Bytes that are not a character become U+FFFD. */
export function decodedText(ids: ArrayLike<number>, tokenizer: Tokenizer): string {
  const bytes = knownBytes(tokenizer)
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let text = ''
  for (let index = 0; index < ids.length; index++)
    text += decoder.decode(bytes(elementAt(ids, index)), { stream: true })
  return text + decoder.decode()
}

function putsSpaceFirst(tokenizer: Tokenizer): boolean {
  const [first = -1] = tokenizer.encode('a')
  return tokenizer.bytes(first)[0] === 0x20
}
