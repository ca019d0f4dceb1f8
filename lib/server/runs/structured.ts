/**
 * Generates JSON that fits a schema after the tokens of a stored trajectory and a question, as strands-sglang's structured_output does. The
 * trajectory stays unchanged.
 */

import * as z from 'zod'
import { DEFAULT_MAX_NEW_TOKENS } from '#lib/api/run-request.ts'
import type { StructuredAnswer } from '#lib/api/structured.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { isObject } from '#lib/json/json-object.ts'
import { samplingWithin } from '#lib/rollout/loop/limits.ts'
import { unreadResults } from '#lib/rollout/loop/rollout.ts'
import { computeSettled, firstPrompt, nextPrompt, type PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { createInputCheck } from '#lib/rollout/tools/tool-input.ts'
import { samplingSchema, sentSampling } from '#lib/sglang/reply/sampling.ts'
import { checkToolSchema } from '#lib/tools/tool-schema.ts'
import type { Finish, Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import { ids as allIds } from '#lib/trajectory/tokens/tokens.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { HttpProblem } from '../http/problem.ts'
import { newRequestId } from '../http/request-id.ts'
import { storedTrajectory } from '../library/trajectories.ts'
import { checkCapabilities } from '../servers/capability-checks.ts'
import type { Services } from '../services.ts'
import { recordedPromptEncoder } from './prompt-encoder.ts'
import { continuingServer } from './rollouts.ts'
import { isChat } from './run-options.ts'

/** Schema of the body of a request for structured output. */
export const structuredRequestSchema = z.strictObject({
  prompt: z.string().regex(/\S/, 'a question').describe('The question.'),
  schema: z
    .record(z.string(), z.json())
    .describe('JSON Schema of an object that the answer must match. Sent as `json_schema`.'),
  sampling: samplingSchema
    .exactOptional()
    .describe(
      'Sampling parameters with SGLang’s names, without grammars. Omitted: SGLang’s defaults, except max_new_tokens, which is 1024.',
    ),
  server: continuingServer,
})
/** The body of a request for structured output, after its check. */
export type StructuredRequest = z.infer<typeof structuredRequestSchema>

const GRAMMARS = ['json_schema', 'regex', 'ebnf', 'structural_tag'] as const

/** Returns the reply with its value, or with the reason why it does not fit. Throws HttpProblem, EngineError or TemplateError. */
export async function structuredOutput(
  key: string,
  request: StructuredRequest,
  all: Services,
  signal: AbortSignal,
): Promise<StructuredAnswer> {
  const { schema, sampling = {} } = request
  checkRequest(schema, sampling)
  const stored = storedTrajectory(key, all)
  checkTrajectory(stored)
  const serverName = request.server ?? lastServer(stored) ?? all.servers.defaultName
  const client = all.servers.client(serverName)
  const server = await client.describe(signal)
  checkCapabilities(server, { sampling: { ...sampling, json_schema: JSON.stringify(schema) } })
  const promptEncoder = await recordedPromptEncoder(
    stored.model,
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  const inputIds = await promptIds(stored, request.prompt, promptEncoder, signal)
  const room = (server.contextLength ?? Number.POSITIVE_INFINITY) - inputIds.length
  const requestedTokens = sampling.max_new_tokens ?? DEFAULT_MAX_NEW_TOKENS
  const chunks = client.generate(
    {
      inputIds,
      sampling: {
        ...samplingWithin(sentSampling(sampling), Math.max(1, Math.min(requestedTokens, room))),
        json_schema: JSON.stringify(schema),
      },
      rid: newRequestId(),
      stream: false,
      topLogprobsNum: 0,
      vocabularySize: promptEncoder.tokenizer.vocabularySize,
      expected: server,
    },
    signal,
  )
  const ids: number[] = []
  for await (const { tokens, end } of chunks) {
    for (const id of tokens.ids) ids.push(id)
    if (!end) continue
    const text = await writtenText(ids, end.finish, promptEncoder, signal)
    return {
      ...readAnswer(text, end.finish, schema),
      promptTokens: inputIds.length,
      completionTokens: ids.length,
      ...(end.usage.cachedTokens !== undefined && { cachedTokens: end.usage.cachedTokens }),
    }
  }
  throw new EngineError('UPSTREAM_TRUNCATED', 'the server gave no reply')
}

function checkRequest(schema: object, sampling: object): void {
  const check = checkToolSchema(schema)
  if (!check.ok)
    throw new HttpProblem({
      status: 422,
      code: 'BAD_SCHEMA',
      detail: `the schema cannot be used: ${violationText(check.violation)}`,
      field: 'schema',
    })
  const grammar = GRAMMARS.find((name) => name in sampling)
  if (grammar)
    throw new HttpProblem({
      status: 422,
      code: 'TWO_GRAMMARS',
      detail: `sampling contains ${grammar}, but the schema is already a grammar`,
      field: `sampling.${grammar}`,
    })
}

function checkTrajectory(stored: Trajectory): void {
  if (stored.outcome.kind === 'running')
    throw new HttpProblem({
      status: 409,
      code: 'RUNNING',
      detail: 'a rollout of this trajectory is running',
      hint: 'Stop the rollout, or wait until it has ended.',
    })
  if (isChat(stored))
    throw new HttpProblem({
      status: 422,
      code: 'NOT_IN_CHAT',
      detail: 'this trajectory was run over a chat endpoint, and structured output continues from tokens',
    })
}

/** Returns the ids of the prompt. Thinking is off, because the grammar leaves no room for it; templates without that option ignore it. */
async function promptIds(
  stored: Trajectory,
  question: string,
  promptEncoder: PromptEncoder,
  signal: AbortSignal,
): Promise<readonly number[]> {
  const messages: readonly Message[] = [...unreadResults(stored), { role: 'user', content: question }]
  const { template } = stored.model
  const options = { ...template?.options, enable_thinking: false }
  const trajectory = template ? { ...stored, model: { ...stored.model, template: { ...template, options } } } : stored
  const prompt = await computeSettled(
    promptEncoder,
    () =>
      stored.segments.length > 0
        ? nextPrompt(trajectory, messages, promptEncoder)
        : firstPrompt(messages, { tools: stored.model.tools, options }, promptEncoder),
    signal,
  )
  return [...allIds(stored), ...prompt.ids]
}

async function writtenText(
  ids: readonly number[],
  finish: Finish,
  promptEncoder: PromptEncoder,
  signal: AbortSignal,
): Promise<string> {
  const isEnded = finish.kind === 'stop' && finish.matched === ids.at(-1)
  const written = isEnded ? ids.slice(0, -1) : ids
  const bytes = await computeSettled(
    promptEncoder,
    () => written.map((id) => promptEncoder.tokenizer.bytes(id)),
    signal,
  )
  return new TextDecoder().decode(Buffer.concat(bytes))
}

function readAnswer(
  text: string,
  finish: Finish,
  schema: object,
): Pick<StructuredAnswer, 'text' | 'value' | 'problem'> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    const why = finish.kind === 'length' ? 'the response was cut off: raise max_new_tokens' : 'the response is not JSON'
    return { text, problem: finish.kind === 'abort' ? 'the server aborted the request' : why }
  }
  const problem = isObject(value) ? createInputCheck(schema)(value) : 'the response is not an object'
  return { text, value: value as z.infer<ReturnType<typeof z.json>>, ...(problem !== undefined && { problem }) }
}
