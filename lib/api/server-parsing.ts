/** Defines how an SGLang server parses a completion with its own tool-call parser and reasoning parser. */
import * as z from 'zod/mini'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { failedCallSchema } from './server-status.ts'

/** A completion that the server must parse. Omitted parsers are those that the server runs with. */
export interface ServerQuestion {
  readonly text: string
  readonly tools: readonly ToolSpec[]
  /** Names of the parsers in SGLang. */
  readonly toolCallParser?: string
  readonly reasoningParser?: string
  /** Rollscope’s parser, for a server that names none. */
  readonly parser?: string
}

const absent = z.object({
  state: withDescription(
    z.literal('absent'),
    'The server has no such endpoint: an older version, a router, or the built-in server.',
  ),
})
const notAsked = z.object({
  state: withDescription(
    z.literal('not-asked'),
    'The parser was not called: neither the request nor the server names one.',
  ),
})

/** The answer of POST /api/servers/{name}/parse. */
export const serverParsingSchema = z.object({
  toolCalls: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('answered'),
      parser: withDescription(z.string(), 'Name of the parser in SGLang.'),
      normalText: withDescription(z.string(), 'The remaining text.'),
      calls: z.readonly(
        z.array(
          z.object({
            name: withDescription(z.optional(z.string()), 'Omitted: the server reported no name.'),
            arguments: withDescription(z.string(), 'JSON, as written by the server.'),
          }),
        ),
      ),
    }),
    absent,
    notAsked,
    failedCallSchema,
  ]),
  reasoning: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('answered'),
      parser: z.string(),
      reasoning: z.string(),
      text: withDescription(z.string(), 'The remaining text.'),
    }),
    absent,
    notAsked,
    failedCallSchema,
  ]),
})
/** Results of both parsers of a server, or why there are none. */
export type ServerParsing = z.infer<typeof serverParsingSchema>
