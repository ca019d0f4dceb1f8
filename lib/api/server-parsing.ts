/** What an SGLang server itself makes of a completion: its tool-call parser and its reasoning parser. */
import * as z from 'zod'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { failedCallSchema } from './server-status.ts'

/** What a server is asked; left out: what it runs with itself. */
export interface ServerQuestion {
  readonly text: string
  readonly tools: readonly ToolSpec[]
  /** SGLang’s names. */
  readonly toolCallParser?: string
  readonly reasoningParser?: string
  /** Ours, for a server that names none. */
  readonly parser?: string
}

const absent = z.object({
  state: z.literal('absent').describe('The server has no such endpoint: an older version, a router, the built-in one.'),
})
const notAsked = z.object({
  state: z.literal('not-asked').describe('No parser was named, and the server names none either.'),
})

export const serverParsingSchema = z.object({
  toolCalls: z.discriminatedUnion('state', [
    z.object({
      state: z.literal('answered'),
      parser: z.string().describe('SGLang’s name.'),
      normalText: z.string().describe('What it leaves.'),
      calls: z
        .array(
          z.object({
            name: z.string().optional().describe('Omitted: it told none.'),
            arguments: z.string().describe('JSON, as the server writes it.'),
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
      text: z.string().describe('What it leaves.'),
    }),
    absent,
    notAsked,
    failedCallSchema,
  ]),
})
export type ServerParsing = z.infer<typeof serverParsingSchema>
