/**
 * The parsers that a server has itself: /parse_function_call and /separate_reasoning. They need no model, only the name of
 * a parser; the router has neither. Calls of unknown tools and broken JSON are dropped without a word (SGLang 0.5.23).
 */
import type * as z from 'zod'
import { functionCallsReply, separatedReply } from './schema.ts'

export interface ServerParsers {
  /** `tools`: `{type: "function", function: {…}}` each. Throws UPSTREAM_REJECTED, status 404, where there is no such path. */
  parseFunctionCalls(
    request: { readonly text: string; readonly tools: readonly unknown[]; readonly parser: string },
    signal: AbortSignal,
  ): Promise<FunctionCalls>
  /** As above. */
  separateReasoning(
    request: { readonly text: string; readonly parser: string },
    signal: AbortSignal,
  ): Promise<{ readonly reasoning: string; readonly text: string }>
}

interface FunctionCalls {
  readonly normalText: string
  /** `arguments`: JSON as the server writes it. */
  readonly calls: readonly { readonly name: string | undefined; readonly arguments: string }[]
}

type Ask = <T>(path: string, json: unknown, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

export function serverParsers(ask: Ask): ServerParsers {
  return {
    async parseFunctionCalls({ text, tools, parser }, signal) {
      const json = { text, tools, tool_call_parser: parser }
      const reply = await ask('/parse_function_call', json, functionCallsReply, signal)
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
      const reply = await ask('/separate_reasoning', json, separatedReply, signal)
      return { reasoning: reply.reasoning_text ?? '', text: reply.text ?? '' }
    },
  }
}
