import type { EngineClient } from '#lib/engine/engine.ts'
import type { Chunk } from '#lib/engine/reply.ts'
import { computeSettled, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'

/**
 * Passes on each chunk of a reply when the encoder knows the bytes of all its ids. Meanwhile it reads on, so that a
 * slow encoder fetches many chunks at once.
 */
export function withKnownTokens(
  generate: EngineClient['generate'],
  promptEncoder: PromptEncoder,
): EngineClient['generate'] {
  if (!promptEncoder.fetchesBytes) return generate
  return async function* (request, signal) {
    const stop = new AbortController()
    const arrived: Chunk[] = []
    let arrival = Promise.withResolvers<void>()
    let isOver = false
    const reading = (async () => {
      try {
        for await (const chunk of generate(request, AbortSignal.any([signal, stop.signal]))) {
          arrived.push(chunk)
          arrival.resolve()
        }
      } finally {
        isOver = true
        arrival.resolve()
      }
    })()
    // It is awaited at the end; until then its failure waits for the chunks before it.
    reading.catch(() => {})
    try {
      for (;;) {
        const chunks = arrived.splice(0)
        if (chunks.length > 0) {
          await computeSettled(
            promptEncoder,
            () => chunks.flatMap(idsIn).map((id) => promptEncoder.tokenizer.bytes(id)),
            signal,
          )
          yield* chunks
        } else if (isOver) break
        else {
          await arrival.promise
          arrival = Promise.withResolvers()
        }
      }
      await reading
    } finally {
      stop.abort()
      await reading.catch(() => {})
    }
  }
}

function idsIn({ tokens, prompt }: Chunk): readonly number[] {
  const alternatives = [...(tokens.topLogprobs?.ids ?? []), ...(prompt?.topLogprobs?.ids ?? [])]
  return [...tokens.ids, ...alternatives.filter((id) => id >= 0)]
}
