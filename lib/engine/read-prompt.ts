/** Scores a prompt with a call of its own, before the call that samples the reply. */
import type { ClockAndRandom } from './http/clock-and-random.ts'
import { EngineError } from './http/errors.ts'
import type { Chunk } from './reply.ts'
import type { GenerateRequest } from './request.ts'

/** The result of a call that scores the prompt and samples nothing; the whole reply if the server aborted it. */
export type ReadPrompt =
  | { readonly kind: 'read'; readonly known: Pick<Chunk, 'prompt'> & Required<Pick<Chunk, 'scoring'>> }
  | { readonly kind: 'aborted'; readonly chunk: Chunk }

/** Sends the call that scores a prompt, and measures its time. */
export async function readPrompt(
  generateOne: (call: GenerateRequest) => AsyncGenerator<Chunk>,
  scoring: GenerateRequest,
  { nowMs }: Pick<ClockAndRandom, 'nowMs'>,
): Promise<ReadPrompt> {
  const sentAt = nowMs()
  const chunk = await onlyChunk(generateOne(scoring))
  if (chunk.end?.finish.kind === 'abort') return { kind: 'aborted', chunk }
  const { cachedTokens } = chunk.end?.usage ?? {}
  return {
    kind: 'read',
    known: {
      ...(chunk.prompt && { prompt: chunk.prompt }),
      scoring: {
        rid: chunk.rid ?? scoring.rid,
        elapsedMs: nowMs() - sentAt,
        ...(cachedTokens !== undefined && { cachedTokens }),
      },
    },
  }
}

/** Returns the only chunk of a call that scores the prompt and samples nothing. */
async function onlyChunk(chunks: AsyncGenerator<Chunk>): Promise<Chunk> {
  for await (const chunk of chunks) {
    if (chunk.tokens.ids.length === 0) return chunk
    throw new EngineError(
      'INCONSISTENT',
      `the server wrote ${chunk.tokens.ids.length} tokens although the request asked for prompt scoring only`,
    )
  }
  throw new Error('a plain reply is one chunk')
}

/** Yields a reply whose first chunk carries the prompt's scores. */
export async function* afterReading(read: ReadPrompt, write: () => AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  if (read.kind === 'aborted') {
    yield read.chunk
    return
  }
  let rest: Partial<Chunk> = read.known
  for await (const chunk of write()) {
    yield { ...chunk, ...rest }
    rest = {}
  }
}
