/** From a request for a rollout to its stream of events: which server, tokenizer, template, parser and tools it means. */
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { limitsSchema } from '#lib/agent/limits.ts'
import { rollout, unreadResults } from '#lib/agent/rollout.ts'
import { mockToolSchema } from '#lib/core/mock-tool.ts'
import type { ServerDescription } from '#lib/core/server-status.ts'
import { tokenCount } from '#lib/core/tokens.ts'
import { FORMAT, type Message, schemas, type Trajectory } from '#lib/core/trajectory.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { DEFAULT_PARSER, parserNames, parserOfServer } from '#lib/parsers/registry.ts'
import { withKnownTokens } from '#lib/sglang/known-tokens.ts'
import { samplingSchema } from '#lib/sglang/sampling.ts'
import { RESERVED_OPTIONS } from '#lib/templates/chat-template.ts'
import type { Codec } from '#lib/tito/prompt.ts'
import { chosenCodec, recordedCodec } from './codec.ts'
import { parserOrProblem } from './parse.ts'
import { Problem } from './problem.ts'
import type { Run } from './runs.ts'
import type { Services } from './services.ts'
import { chosenTools, runnableTools } from './tools.ts'
import { storedTrajectory } from './trajectories.ts'

const settingsShape = {
  sampling: samplingSchema
    .exactOptional()
    .describe('With SGLang’s names. Omitted: SGLang’s defaults, but max_new_tokens 1024.'),
  limits: limitsSchema.exactOptional().describe('Omitted: none but the server’s context.'),
  promptLogprobs: z.boolean().exactOptional().describe('Ask for the logprobs of each new prompt. Default true.'),
  topLogprobs: z.int().min(0).max(20).exactOptional().describe('Alternatives kept for each token. Default 5.'),
  stream: z.boolean().exactOptional().describe('Show tokens as they arrive. Default true.'),
  detached: z
    .boolean()
    .exactOptional()
    .describe('Answer at once and go on after the connection is closed. Default false.'),
  server: z
    .string()
    .exactOptional()
    .describe('Name of a saved server. Default: that of SGLANG_BASE_URL, else the built-in one.'),
}

const templateOptions = z
  .record(z.string(), z.unknown())
  .refine((options) => Object.keys(options).every((key) => !RESERVED_OPTIONS.includes(key)), {
    message: `options other than ${RESERVED_OPTIONS.join(', ')}`,
  })

export const rolloutRequestSchema = z
  .strictObject({
    prompt: z.string().regex(/\S/, 'a question').exactOptional().describe('The question.'),
    messages: z
      .array(schemas.message)
      .min(1)
      .exactOptional()
      .describe('A conversation that ends with what the model shall answer.'),
    system: z.string().exactOptional().describe('System prompt, with `prompt`.'),
    tools: z
      .array(z.union([z.string(), mockToolSchema]))
      .max(128)
      .exactOptional()
      .describe('Names of tools that come with the application, and mock tools. Default: none.'),
    parser: z
      .string()
      .exactOptional()
      .describe(`One of ${parserNames.join(', ')}. Default: the server’s own, where it is one of these, else hermes.`),
    templateOptions: templateOptions.exactOptional().describe('For example {"enable_thinking": false}.'),
    tokenizer: z
      .string()
      .max(4096)
      .exactOptional()
      .describe(
        'Hub name, a folder under ROLLSCOPE_TOKENIZERS, or "server": the server’s own, over its /tokenize and /detokenize. ' +
          'Default: what the server says; its own where that is a path which this machine cannot read.',
      ),
    chatTemplate: z
      .string()
      .min(1)
      .max(200_000)
      .exactOptional()
      .describe('Chat template, Jinja. Default: the tokenizer’s.'),
    ...settingsShape,
  })
  .refine(({ prompt, messages }) => (prompt === undefined) !== (messages === undefined), {
    message: 'either "prompt" or "messages"',
  })
  .refine(({ messages }) => messages?.at(-1)?.role !== 'assistant', {
    message: '"messages" that end with what the model shall answer, not with an answer',
  })
export type RolloutRequest = z.infer<typeof rolloutRequestSchema>

export const continueRequestSchema = z.strictObject({
  prompt: z
    .string()
    .regex(/\S/, 'a question')
    .exactOptional()
    .describe('The next question. Omitted: only the results of the last calls, where they were not read yet.'),
  seenSegments: z
    .int()
    .min(0)
    .exactOptional()
    .describe('Segments that the asker has seen: refused when there are others by now. Omitted: whatever there is.'),
  ...settingsShape,
})
export type ContinueRequest = z.infer<typeof continueRequestSchema>

export async function startRollout(request: RolloutRequest, all: Services, signal: AbortSignal): Promise<Run> {
  const serverName = request.server ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  const parser = parserFor(request.parser, server)
  const chosen = chosenTools(request.tools ?? [])
  const { codec, tokenizer, template } = await chosenCodec(
    {
      tokenizer: request.tokenizer,
      chatTemplate: request.chatTemplate,
      options: request.templateOptions ?? {},
      hasTools: chosen.length > 0,
    },
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  const trajectory: Trajectory = {
    format: FORMAT,
    id: randomUUID(),
    createdAt: new Date().toISOString(),
    model: {
      ...(server.modelName !== undefined && { name: server.modelName }),
      ...(server.contextLength !== undefined && { contextLength: server.contextLength }),
      tokenizer,
      template,
      tools: chosen,
      parser: parser.name,
    },
    vocab: {},
    segments: [],
    outcome: { kind: 'running' },
    provenance: {
      kind: 'rollout',
      application: `rollscope/${all.version}`,
      ...(request.limits && { limits: request.limits as Record<string, number> }),
    },
  }
  return run(
    trajectory,
    all.store.add(trajectory, { runsHere: true }),
    questionOf(request),
    { ...request, server: serverName, told: server, parser },
    codec,
    all,
  )
}

export async function continueRollout(
  key: string,
  request: ContinueRequest,
  all: Services,
  signal: AbortSignal,
): Promise<Run> {
  const found = storedTrajectory(key, all)
  if (request.prompt === undefined && unreadResults(found).length === 0)
    throw new Problem({
      status: 422,
      code: 'NOTHING_NEW',
      detail: 'there is nothing new to tell the model: give a prompt',
    })
  const serverName = request.server ?? lastServer(found) ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  const codec = await recordedCodec(found.model, { name: serverName, tokenizerName: server.tokenizerName }, all, signal)
  // Read again: another rollout may have added to it while the server was asked. From here to its start nothing waits.
  const stored = storedTrajectory(key, all)
  if (request.seenSegments !== undefined && request.seenSegments !== stored.segments.length)
    throw new Problem({
      status: 409,
      code: 'CHANGED',
      detail: 'this trajectory has been continued elsewhere',
      hint: 'It is shown as it is now: look at it, and send again.',
    })
  const parser = parserFor(stored.model.parser, server)
  const trajectory: Trajectory = {
    ...stored,
    model: {
      ...stored.model,
      ...(server.contextLength !== undefined && { contextLength: server.contextLength }),
      parser: parser.name,
    },
    ...otherModel(stored, server),
    provenance:
      stored.provenance.kind === 'rollout' && request.limits
        ? { ...stored.provenance, limits: request.limits as Record<string, number> }
        : stored.provenance,
  }
  const question: Message[] = request.prompt === undefined ? [] : [{ role: 'user', content: request.prompt }]
  return run(
    trajectory,
    key,
    [...unsentSystem(stored), ...question],
    { ...request, server: serverName, told: server, parser },
    codec,
    all,
  )
}

/** A trajectory may go on with another model, a later checkpoint; that it did is noted, not hidden behind one name. */
function otherModel(stored: Trajectory, { modelName }: ServerDescription): Pick<Trajectory, 'problems'> {
  const problems = stored.problems ?? []
  const last = problems.findLast(({ kind }) => kind === 'model')?.raw ?? stored.model.name
  if (last === undefined || modelName === undefined || last === modelName) return {}
  const message = `From token ${tokenCount(stored)} on the model is ${modelName}; before it was ${last}.`
  return { problems: [...problems, { kind: 'model', message, raw: modelName }] }
}

/** Where the first call failed, nothing of the first prompt was read: its system messages still have to be. */
function unsentSystem({ segments, outcome }: Trajectory): readonly Message[] {
  if (segments.length > 0 || outcome.kind === 'running') return []
  return (outcome.unsent ?? []).filter(({ role }) => role === 'system' || role === 'developer')
}

function run(
  trajectory: Trajectory,
  key: string,
  messages: readonly Message[],
  request: Omit<ContinueRequest, 'prompt'> & {
    readonly server: string
    readonly told: ServerDescription
    readonly parser: ToolParser
  },
  codec: Codec,
  all: Services,
): Run {
  const rolloutId = randomUUID()
  const client = all.servers.client(request.server)
  const runnable = runnableTools(trajectory.model.tools)
  return all.runs.start({
    rolloutId,
    key,
    detached: request.detached ?? false,
    save: (record, from) => all.store.update(key, record, from),
    events: (signal) =>
      rollout(
        { rolloutId, trajectory, messages },
        {
          sampling: request.sampling ?? {},
          limits: request.limits ?? {},
          promptLogprobs: request.promptLogprobs ?? true,
          topLogprobs: request.topLogprobs ?? 5,
          stream: request.stream ?? true,
        },
        {
          generate: withKnownTokens(client.generate, codec),
          serverName: request.server,
          server: request.told,
          codec,
          parser: request.parser,
          tools: runnable,
          now: () => new Date(),
          elapsedMs: () => performance.now(),
          newRequestId: () => randomUUID().replaceAll('-', ''),
        },
        signal,
      ),
  })
}

function questionOf({ prompt, messages, system }: RolloutRequest): Message[] {
  const rest: Message[] = messages ? ([...messages] as Message[]) : [{ role: 'user', content: prompt ?? '' }]
  return system === undefined || system === '' ? rest : [{ role: 'system', content: system }, ...rest]
}

/** The one named, else the server's own, else the default. */
function parserFor(chosen: string | undefined, server: { readonly toolCallParser?: string | undefined }): ToolParser {
  return parserOrProblem(chosen ?? parserOfServer(server.toolCallParser) ?? DEFAULT_PARSER)
}

const lastServer = ({ segments }: Trajectory): string | undefined =>
  segments.findLast((segment) => segment.kind === 'response')?.request?.server
