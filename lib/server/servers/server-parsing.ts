/** What a server's own parsers make of a text: asked by the server's name, never by an address. */
import * as z from 'zod'
import type { ServerParsing } from '#lib/api/server-parsing.ts'
import { serverParserFor } from '#lib/parsers/registry.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import type { SglangClient } from '#lib/sglang/client/client.ts'
import { SglangError } from '#lib/sglang/client/errors.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'

const parserName = z.string().regex(/^[\w.-]{1,64}$/, 'the name of a parser of SGLang, such as qwen25')

export const serverParsingRequestSchema = z.strictObject({
  text: z.string().describe('What a model wrote.'),
  tools: z
    .array(schemas.toolSpec)
    .exactOptional()
    .describe('SGLang drops calls of tools that are not among them. Omitted: none.'),
  toolCallParser: parserName
    .exactOptional()
    .describe('SGLang’s name. Omitted: the one that the server runs with, else that of `parser`.'),
  reasoningParser: parserName.exactOptional().describe('SGLang’s name. Omitted: the one that the server runs with.'),
  parser: z.string().exactOptional().describe('Ours: SGLang’s for the same format is asked for.'),
})
type ServerParsingRequest = z.infer<typeof serverParsingRequestSchema>

/** Throws what is no failure of the server. */
export async function serverParsing(
  client: Pick<SglangClient, 'describe' | 'parseFunctionCalls' | 'separateReasoning'>,
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

/** Which parsers the server runs with, asked where the request leaves one open. */
async function namedByServer(
  client: Pick<SglangClient, 'describe'>,
  { toolCallParser, reasoningParser }: ServerParsingRequest,
  signal: AbortSignal,
) {
  if (toolCallParser !== undefined && reasoningParser !== undefined) return undefined
  try {
    return await client.describe(signal)
  } catch (error) {
    // What failed will fail the question itself as well, and is told there.
    if (error instanceof SglangError) return undefined
    throw error
  }
}

/** Versions and routers say in two ways that they have no such path. */
const NO_SUCH_PATH: readonly (number | undefined)[] = [404, 405]

async function answerOf<T extends object>(ask: () => Promise<T>) {
  try {
    return { state: 'answered' as const, ...(await ask()) }
  } catch (error) {
    if (!(error instanceof SglangError)) throw error
    if (NO_SUCH_PATH.includes(error.status)) return { state: 'absent' as const }
    const { code, message, hint } = error
    return { state: 'failed' as const, code, message, ...(hint !== undefined && { hint }) }
  }
}
