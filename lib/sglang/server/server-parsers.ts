/**
 * The server's own parsers: /parse_function_call and /separate_reasoning. They need only the name of a parser, no model; the
 * router has neither path. Calls of unknown tools and broken JSON are dropped silently (SGLang 0.5.23).
 */
import type * as z from 'zod'
import { functionCallsReplySchema, separatedReplySchema } from './schema.ts'

/** The parsers of a server. */
export interface ServerParsers {
  /**
   * Finds tool calls. `tools` are `{type: "function", function: {…}}`. Throws UPSTREAM_REJECTED with status 404 if the server
   * lacks the path.
   */
  parseFunctionCalls(
    request: { readonly text: string; readonly tools: readonly unknown[]; readonly parser: string },
    signal: AbortSignal,
  ): Promise<FunctionCalls>
  /** Splits a text into reasoning and the rest. Throws like `parseFunctionCalls`. */
  separateReasoning(
    request: { readonly text: string; readonly parser: string },
    signal: AbortSignal,
  ): Promise<{ readonly reasoning: string; readonly text: string }>
}

interface FunctionCalls {
  readonly normalText: string
  /** `arguments` is JSON text as the server writes it. */
  readonly calls: readonly { readonly name: string | undefined; readonly arguments: string }[]
}

type Ask = <T>(path: string, json: unknown, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

/** Creates the parsers from a function that posts JSON. */
export function serverParsers(ask: Ask): ServerParsers {
  return {
    async parseFunctionCalls({ text, tools, parser }, signal) {
      const json = { text, tools, tool_call_parser: parser }
      const reply = await ask('/parse_function_call', json, functionCallsReplySchema, signal)
      return {
        normalText: reply.normal_text ?? '',
        calls: (reply.calls ?? []).map((call) => ({
          name: call.name ?? undefined,
          arguments: call.parameters ?? '',
        })),
      }
    },
    async separateReasoning({ text, parser }, signal) {
      const json = { text, reasoning_parser: parser }
      const reply = await ask('/separate_reasoning', json, separatedReplySchema, signal)
      return { reasoning: reply.reasoning_text ?? '', text: reply.text ?? '' }
    },
  }
}
