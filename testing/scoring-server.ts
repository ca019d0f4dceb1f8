/** A server that scores as SGLang does, as part of the services of the routes. For tests. */

import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import type { Services } from '#lib/server/services.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizer } from './byte-tokenizer.ts'

/** Behaviour of the scoring server. */
export interface ScoringScript {
  readonly contextLength?: number
  readonly hasFiles?: boolean
  readonly tokenizer?: Tokenizer
  readonly detokenized?: () => Promise<readonly string[]>
  readonly answer?: (chunk: Chunk, call: number) => Chunk
}

/** Returns services and a log of the calls. The server gives position n the logprob −n, and null to the first requested one. */
export function scoringServer({
  contextLength = 10_000,
  hasFiles = true,
  tokenizer = byteTokenizer,
  detokenized = async () => ['x'],
  answer = (chunk) => chunk,
}: ScoringScript = {}) {
  const calls: GenerateRequest[] = []
  const client = {
    describe: async () => ({
      kind: 'server',
      modelName: 'm',
      tokenizerName: 't',
      weightVersion: '7',
      contextLength,
      latencyMs: 1,
    }),
    detokenize: detokenized,
    async *generate(request: GenerateRequest) {
      calls.push(request)
      const from = request.logprobStartLen as number
      const chunk: Chunk = {
        tokens: { ids: [] },
        problems: [],
        prompt: {
          logprobs: Array.from({ length: request.inputIds.length - from }, (_, n) => (n === 0 ? null : -(from + n))),
          problems: [],
        },
        end: {
          finish: { kind: 'length' },
          usage: { cachedTokens: from },
          weightVersions: [{ version: '7', start: 0, end: 0 }],
        },
      }
      yield answer(chunk, calls.length)
    },
  }
  const services = {
    servers: { defaultName: 's', client: () => client },
    tokenizers: {
      load: async () => {
        if (hasFiles) return { tokenizer }
        throw new TokenizerError('TOKENIZER_NOT_FOUND', 'there is none')
      },
    },
  } as unknown as Services
  return { calls, services }
}
