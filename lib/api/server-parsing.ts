/** Defines how an SGLang server parses a completion with its own tool-call parser and reasoning parser. */
import * as z from 'zod'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
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
  state: z
    .literal('absent')
    .describe('The server has no such endpoint: an older version, a router, or the built-in server.'),
})
const notAsked = z.object({
  state: z.literal('not-asked').describe('The parser was not called: neither the request nor the server names one.'),
})

/** The answer of POST /api/servers/{name}/parse. */
export const serverParsingSchema = z.object({
  toolCalls: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('answered'),
      parser: z.string().describe('Name of the parser in SGLang.'),
      normalText: z.string().describe('The remaining text.'),
      calls: z
        .array(
          z.object({
            name: z.string().optional().describe('Omitted: the server reported no name.'),
            arguments: z.string().describe('JSON, as written by the server.'),
          }),
        )
        .readonly(),
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
      text: z.string().describe('The remaining text.'),
    }),
    absent,
    notAsked,
    failedCallSchema,
  ]),
})
/** Results of both parsers of a server, or why there are none. */
export type ServerParsing = z.infer<typeof serverParsingSchema>
