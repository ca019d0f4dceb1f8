/**
 * The server's own parsers: /parse_function_call and /separate_reasoning. They need only the name of a parser, no model; the
 * router has neither path. Calls of unknown tools and broken JSON are dropped silently (SGLang 0.5.23).
 */
import type { PostForReply } from '#lib/engine/connection.ts'
import type { ServerParsers } from '#lib/engine/engine.ts'
import { functionCallsReplySchema, separatedReplySchema } from './schema.ts'

/** Creates the parsers from a function that posts JSON. */
export function serverParsers(ask: PostForReply): ServerParsers {
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
