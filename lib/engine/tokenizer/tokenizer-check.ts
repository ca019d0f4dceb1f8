import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { EngineError } from '../http/errors.ts'
import type { ServerTokenizer } from './server-tokenizer.ts'

/**
 * Compares a tokenizer with the server's own, in one request: training on ids that mean other texts to the model is worse
 * than no run. Does nothing if the server has no /tokenize or cannot use it. Throws TOKENIZER_MISMATCH.
 */
export async function checkTokenizer(
  tokenizer: Tokenizer,
  server: ServerTokenizer,
  signal: AbortSignal,
): Promise<void> {
  const texts = [...TEXTS, ...someAddedTokens(tokenizer)]
  const theirs = await server.tokenize(texts, signal).catch((error: unknown) => {
    if (error instanceof EngineError) return undefined
    throw error
  })
  if (!theirs) return
  for (const [index, text] of texts.entries()) {
    const own = tokenizer.encode(text)
    const other = theirs[index] ?? []
    const at = own.findIndex((id, i) => id !== other[i])
    if (at < 0 && own.length === other.length) continue
    const from = Math.max(0, at < 0 ? own.length : at)
    throw new EngineError(
      'TOKENIZER_MISMATCH',
      `the tokenizer ${tokenizer.name} is not the server’s: it encodes ${JSON.stringify(text)} as ${excerpt(own, from)}, the server as ${excerpt(other, from)}`,
    )
  }
}

/** Words, digits, code, spaces and scripts, which no two vocabularies split in the same way. */
const TEXTS: readonly string[] = [
  'The quick brown fox jumps over 13 lazy dogs: 31415926535, don’t.',
  '  def f(x):\n\t\treturn {"name": [x, -1.5e-3]}\n\n',
  'Größe жизнь 日本語 한국어 العربية 🙂',
]

const MOST_ADDED = 32

/** Returns the first and the last added tokens, because delimiters distinguish the versions of a model family. */
function someAddedTokens({ addedTokens }: Tokenizer): readonly string[] {
  const contents = addedTokens.map(({ content }) => content)
  return contents.length <= MOST_ADDED
    ? contents
    : [...contents.slice(0, MOST_ADDED / 2), ...contents.slice(-MOST_ADDED / 2)]
}

const SHOWN = 6

function excerpt(ids: readonly number[], from: number): string {
  const start = Math.max(0, from - 1)
  const excerpt = ids.slice(start, start + SHOWN)
  return `[${start > 0 ? '… ' : ''}${excerpt.join(', ')}${start + SHOWN < ids.length ? ' …' : ''}]`
}
