/** Returns how a server's own parsers read a text. The request names a saved server, never an address. */
import * as z from 'zod'
import type { ServerParsing } from '#lib/api/server-parsing.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { serverParserFor } from '#lib/parsers/registry.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'

const parserName = z.string().regex(/^[\w.-]{1,64}$/, 'the name of an SGLang parser, such as qwen25')

/** Schema of the body of a request to parse a text on a server. */
export const serverParsingRequestSchema = z.strictObject({
  text: z.string().describe('The completion of a model.'),
  tools: z
    .array(schemas.toolSpec)
    .exactOptional()
    .describe('The defined tools. SGLang drops calls of other tools. Omitted: none.'),
  toolCallParser: parserName
    .exactOptional()
    .describe('SGLang’s name. Omitted: the parser that the server runs with, otherwise the one for `parser`.'),
  reasoningParser: parserName.exactOptional().describe('SGLang’s name. Omitted: the parser that the server runs with.'),
  parser: z.string().exactOptional().describe('Parser of Rollscope. SGLang’s parser for the same format is used.'),
})
type ServerParsingRequest = z.infer<typeof serverParsingRequestSchema>

/** Returns the results of both parsers; failures of the server are values. Throws any other error. */
export async function serverParsing(
  client: Pick<EngineClient, 'describe' | 'parseFunctionCalls' | 'separateReasoning'>,
  request: ServerParsingRequest,
  signal: AbortSignal,
): Promise<ServerParsing> {
  const { text, tools = [], parser: own } = request
  const named = await namedByServer(client, request, signal)
  const toolCallParser =
    request.toolCallParser ?? named?.toolCallParser ?? (own === undefined ? undefined : serverParserFor(own))
  const reasoningParser = request.reasoningParser ?? named?.reasoningParser
  const [toolCalls, reasoning] = await Promise.all([
    toolCallParser === undefined
      ? notAsked
      : answerOf(async () => ({
          parser: toolCallParser,
          ...(await client.parseFunctionCalls({ text, tools: templateTools(tools), parser: toolCallParser }, signal)),
        })),
    reasoningParser === undefined
      ? notAsked
      : answerOf(async () => ({
          parser: reasoningParser,
          ...(await client.separateReasoning({ text, parser: reasoningParser }, signal)),
        })),
  ])
  return { toolCalls, reasoning }
}

const notAsked = { state: 'not-asked' } as const

/** Returns the parsers that the server runs with; undefined if the request names both, or the server does not answer. */
async function namedByServer(
  client: Pick<EngineClient, 'describe'>,
  { toolCallParser, reasoningParser }: ServerParsingRequest,
  signal: AbortSignal,
) {
  if (toolCallParser !== undefined && reasoningParser !== undefined) return undefined
  try {
    return await client.describe(signal)
  } catch (error) {
    // The parser's own request will fail as well and report the error.
    if (error instanceof EngineError) return undefined
    throw error
  }
}

/** Statuses of versions and routers that lack the path. */
const NO_SUCH_PATH: readonly (number | undefined)[] = [404, 405]

async function answerOf<T extends object>(ask: () => Promise<T>) {
  try {
    return { state: 'answered' as const, ...(await ask()) }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (NO_SUCH_PATH.includes(error.status)) return { state: 'absent' as const }
    const { code, message, hint } = error
    return { state: 'failed' as const, code, message, ...(hint !== undefined && { hint }) }
  }
}
