/** Converts a request for a rollout to its stream of events: chooses server, tokenizer, template, parser and tools. */

import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { ServerDescription } from '#lib/api/server-status.ts'
import type { ToolParser } from '#lib/parsers/parser.ts'
import { parserNames } from '#lib/parsers/registry.ts'
import { suggestParser } from '#lib/parsers/suggest.ts'
import { limitsSchema } from '#lib/rollout/loop/limits.ts'
import { unreadResults } from '#lib/rollout/loop/rollout.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { LONGEST_PROMPT } from '#lib/sampling/dialects/text-limits.ts'
import { NOT_IN_CHAT } from '#lib/sampling/engine-parameters.ts'
import { samplingSchema } from '#lib/sglang/reply/sampling.ts'
import { refusedOption } from '#lib/templates/chat-template.ts'
import { FORMAT, type Message, schemas, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { readDataUrl } from '#lib/trajectory/images/data-url.ts'
import { imagePartsIn, imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import { lastServer } from '#lib/trajectory/messages/response-calls.ts'
import { resumeObstacle } from '#lib/trajectory/messages/resumable.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { HttpProblem } from '../http/problem.ts'
import { storedTrajectory } from '../library/trajectories.ts'
import { checkCapabilities, checkLogprobKind, meaningsOf } from '../servers/capability-checks.ts'
import type { Services } from '../services.ts'
import { parserOrProblem } from '../templates/parse.ts'
import { choosePromptEncoder, recordedPromptEncoder } from './prompt-encoder.ts'
import { promptOfRaw, rawPromptIn } from './raw-prompt.ts'
import { isChat, type RunConfiguration, runOptions } from './run-options.ts'
import type { Run } from './runs.ts'
import { checkTools, chosenTools, requestedToolSchema } from './tools.ts'

/** Sentence of the API description about runs without a reader. */
export const UNWATCHED =
  'A run without a client for 60 s is stopped: an open event stream counts all the time, a request for the trajectory or the group once.'

const adapterName = z.string().regex(/\S/, 'a name').max(500)

/** Settings of a run in the body of a request. */
export const settingsShape = {
  sampling: samplingSchema
    .exactOptional()
    .describe(
      'Sampling parameters with SGLang’s names. Omitted: SGLang’s defaults, except max_new_tokens, which is 1024.',
    ),
  limits: limitsSchema.exactOptional().describe('Limits of the run. Omitted: only the context length of the server.'),
  promptLogprobs: z
    .boolean()
    .exactOptional()
    .describe(
      'Request the logprobs of each new prompt during the run, which delays its first token. Default false: they can be requested later with /api/trajectories/{key}/prompt-logprobs.',
    ),
  topLogprobs: z.int().min(0).max(20).exactOptional().describe('Alternatives kept for each token. Default 5.'),
  stream: z.boolean().exactOptional().describe('Show tokens as they arrive. Default true.'),
  detached: z
    .boolean()
    .exactOptional()
    .describe(`Answer immediately and continue after the connection is closed. ${UNWATCHED} Default false.`),
  routedExperts: z
    .boolean()
    .exactOptional()
    .describe(
      'Record which experts of a mixture of experts read each token. Not with the endpoint chat. Default false.',
    ),
  adapter: adapterName
    .exactOptional()
    .describe('Name of a LoRA adapter that the server has loaded. Omitted: none, the server’s default.'),
  server: z
    .string()
    .exactOptional()
    .describe('Name of a saved server. Default: the server of SGLANG_BASE_URL, otherwise the built-in server.'),
}

/** The server of a request that continues a stored trajectory. */
export const continuingServer = settingsShape.server.describe(
  'Name of a saved server. Default: the server of the trajectory’s last call.',
)

const templateOptions = z.record(z.string(), z.unknown()).superRefine((options, context) => {
  for (const name of Object.keys(options)) {
    const why = refusedOption(name, 'run')
    if (why !== undefined) context.addIssue({ code: 'custom', message: why, path: [name] })
  }
})

const imagesSchema = z
  .array(
    z.string().superRefine((url, context) => {
      const read = readDataUrl(url)
      if (!read.ok) context.addIssue({ code: 'custom', message: `an image as a data URL. ${read.why}` })
    }),
  )
  .min(1)
  .max(LIMITS.images)
  .describe(
    'Images before the question, as data URLs in base64: PNG, JPEG, WebP or GIF. For another order, send `messages` with parts ' +
      '`{"type": "image", "image": …}`. The model of the server must read images.',
  )

const IMAGES_WITHOUT_QUESTION = '"images" only with "prompt"'

const promptText = z.string().max(LONGEST_PROMPT)

/** Returns the number of UTF-16 code units of messages as JSON. Images have their own limit, so they are not counted. */
const countCharacters = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + JSON.stringify(message, withoutImages).length, 0)

const withoutImages = (key: string, value: unknown): unknown => (key === 'image' ? '' : value)

/** Schema of the body of a request to start a rollout. */
export const rolloutRequestSchema = z
  .strictObject({
    prompt: promptText.regex(/\S/, 'a question').exactOptional().describe('The question.'),
    messages: z
      .array(schemas.message)
      .min(1)
      .exactOptional()
      .describe('A conversation. The model answers its last message.'),
    text: promptText
      .exactOptional()
      .describe(
        'The first prompt as text, without a chat template. The tokenizer encodes it, with the beginning-of-sequence ' +
          'token that some tokenizers add. Special tokens in the text become their ids.',
      ),
    ids: z
      .array(z.int().min(0))
      .min(1)
      .max(LIMITS.tokens)
      .exactOptional()
      .describe(
        'The ids of the first prompt, sent unchanged. They have priority over `text`, which is then only compared with them.',
      ),
    images: imagesSchema.exactOptional(),
    system: promptText.exactOptional().describe('System prompt, with `prompt` or `messages`.'),
    tools: z
      .array(requestedToolSchema)
      .max(128)
      .exactOptional()
      .describe(
        'Names of built-in tools, tools of MCP servers, and mock tools. Default: none. With `text` or `ids` and no tools, the run ends after ' +
          'the first response, and its calls are recorded but not executed.',
      ),
    parser: z
      .string()
      .exactOptional()
      .describe(
        `One of ${parserNames.join(', ')}. Default: the server’s parser if it is one of these, otherwise the parser for the calls of the ` +
          'chat template, otherwise hermes.',
      ),
    templateOptions: templateOptions
      .exactOptional()
      .describe(
        'Variables of the chat template, for example {"enable_thinking": false}. Other arguments of apply_chat_template are refused: ' +
          'a run always renders with a generation prompt, and cannot continue a message.',
      ),
    tokenizer: z
      .string()
      .max(4096)
      .exactOptional()
      .describe(
        'A name or folder under ROLLSCOPE_TOKENIZERS, a Hub name, or "server": the server’s own, over its /tokenize and /detokenize. ' +
          'Default: the tokenizer that the server reports, or "server" if that is a path that this machine cannot read.',
      ),
    chatTemplate: z
      .string()
      .min(1)
      .max(200_000)
      .exactOptional()
      .describe('Chat template, Jinja. Default: the tokenizer’s.'),
    endpoint: z
      .enum(['generate', 'chat'])
      .exactOptional()
      .describe(
        'generate: token-in/token-out. chat: the baseline. The agent keeps messages and sends them to the server’s ' +
          '/v1/chat/completions, as Strands’ OpenAI provider does. The trajectory records where the server read other ' +
          'tokens than were sampled. The server must return token ids. Replies are not streamed, and have no alternatives ' +
          'and no prompt logprobs. Default generate.',
      ),
    ...settingsShape,
  })
  .refine(({ endpoint, chatTemplate }) => endpoint !== 'chat' || chatTemplate === undefined, {
    message: 'no "chatTemplate" with the endpoint chat: the server renders with its own',
  })
  .refine(({ endpoint, sampling = {} }) => endpoint !== 'chat' || NOT_IN_CHAT.every((name) => !(name in sampling)), {
    message: `no ${NOT_IN_CHAT.join(', ')} with the endpoint chat`,
  })
  .refine(({ endpoint, routedExperts }) => endpoint !== 'chat' || routedExperts !== true, {
    message: 'no "routedExperts" with the endpoint chat',
  })
  .refine(
    ({ prompt, messages, text, ids }) =>
      [prompt, messages, text ?? ids].filter((opening) => opening !== undefined).length === 1,
    { message: 'exactly one of "prompt", "messages", "text" and "ids" ("text" is also allowed with "ids")' },
  )
  .refine(({ prompt, images }) => prompt !== undefined || images === undefined, { message: IMAGES_WITHOUT_QUESTION })
  .superRefine(({ messages = [] }, context) => {
    for (const [index, message] of messages.entries())
      for (const [part, { type, image }] of (typeof message.content === 'object' ? message.content : []).entries()) {
        const read = type === 'image' ? readDataUrl(image ?? '') : undefined
        if (read?.ok === false)
          context.addIssue({
            code: 'custom',
            message: `an image as a data URL. ${read.why}`,
            path: ['messages', index, 'content', part, 'image'],
          })
      }
  })
  .refine((request) => rawPromptIn(request) === undefined || request.endpoint !== 'chat', {
    message: 'no "text" or "ids" with the endpoint chat: it takes messages',
  })
  .refine((request) => rawPromptIn(request) === undefined || request.system === undefined, {
    message: 'no "system" with "text" or "ids": no chat template is used',
  })
  .refine(({ messages = [] }) => countCharacters(messages) <= LONGEST_PROMPT, {
    message: `messages of at most ${countText(LONGEST_PROMPT)} characters together`,
    path: ['messages'],
  })
  .refine(({ messages }) => messages?.at(-1)?.role !== 'assistant', {
    message: '"messages" that do not end with an assistant message',
  })
/** The body of a request to start a rollout, after its check. */
export type RolloutRequest = z.infer<typeof rolloutRequestSchema>

/** Schema of the body of a request to continue a trajectory. */
export const continueRequestSchema = z
  .strictObject({
    prompt: promptText
      .regex(/\S/, 'a question')
      .exactOptional()
      .describe(
        'The next question. Omitted: the run continues with the results of the last calls, which the model has not read yet.',
      ),
    images: imagesSchema.exactOptional(),
    resume: z
      .literal(true)
      .exactOptional()
      .describe(
        'Continue the last response if it was stopped, cut off, aborted or ended by its length. The server gets all ids so ' +
          'far, and the new tokens become part of that response. Not with `prompt`, and not if a grammar constrains the response.',
      ),
    seenSegments: z
      .int()
      .min(0)
      .exactOptional()
      .describe(
        'Number of segments that the client has seen. The request is refused if the trajectory has a different number. Omitted: not checked.',
      ),
    ...settingsShape,
    server: continuingServer,
  })
  .refine(({ prompt, images }) => prompt !== undefined || images === undefined, { message: IMAGES_WITHOUT_QUESTION })
  .refine(({ prompt, resume }) => prompt === undefined || resume === undefined, {
    message: 'no "prompt" with "resume": the response is continued before a further question',
  })
/** The body of a request to continue a trajectory, after its check. */
export type ContinueRequest = z.infer<typeof continueRequestSchema>

/** Stores a new trajectory and starts its run. Throws HttpProblem, EngineError or TemplateError. */
export async function startRollout(request: RolloutRequest, all: Services, signal: AbortSignal): Promise<Run> {
  const { trajectory, using } = await prepareRollout(request, all, signal)
  return startNew(trajectory, using, all)
}

/** Stores a trajectory that no run continues yet, and starts its run. Throws StoreError. */
export async function startNew(trajectory: Trajectory, using: RunConfiguration, all: Services): Promise<Run> {
  const options = runOptions(trajectory, using, all)
  return all.runs.start(options(await all.store.groupCommit(() => all.store.add(trajectory, { runsHere: true }))))
}

/** Returns what a running trajectory without tokens has from its server. `settings` are those of its model that the server does not report. */
export const withoutTokens = (
  { modelName, contextLength, ...server }: ServerDescription,
  settings: Omit<Trajectory['model'], 'name' | 'contextLength'>,
  { version }: Pick<Services, 'version'>,
) => ({
  format: FORMAT as typeof FORMAT,
  model: {
    ...(modelName !== undefined && { name: modelName }),
    ...(contextLength !== undefined && { contextLength }),
    ...settings,
  },
  ...meaningsOf(server),
  vocab: {},
  segments: [],
  outcome: { kind: 'running' as const },
  provenance: { kind: 'rollout' as const, application: `rollscope/${version}` },
})

/** Returns a trajectory that has not begun, and the settings of its run. Throws HttpProblem, EngineError or TemplateError. */
export async function prepareRollout(
  request: RolloutRequest,
  all: Services,
  signal: AbortSignal,
): Promise<{ readonly trajectory: Trajectory; readonly using: RunConfiguration }> {
  const serverName = request.server ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  const question = questionOf(request)
  checkCapabilities(server, { ...request, images: question.some(hasImages) })
  // The parser is checked before a tokenizer is downloaded.
  if (request.parser !== undefined) parserOrProblem(request.parser)
  const chosen = await chosenTools(request.tools ?? [], all, signal)
  await checkTools(chosen, all)
  const rawPrompt = rawPromptIn(request)
  const { promptEncoder, blocks } = await choosePromptEncoder(
    {
      tokenizer: request.tokenizer,
      chatTemplate: request.chatTemplate,
      options: request.templateOptions ?? {},
      hasTools: chosen.length > 0,
      needsTemplate: rawPrompt === undefined || chosen.length > 0,
    },
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  const parser = parserFor(request.parser, server, promptEncoder)
  const prompt = rawPrompt && (await promptOfRaw(rawPrompt, promptEncoder, all.servers.client(serverName), signal))
  const empty = withoutTokens(server, { ...blocks, tools: chosen, parser: parser.name }, all)
  const trajectory: Trajectory = {
    ...empty,
    id: randomUUID(),
    createdAt: new Date().toISOString(),
    provenance: {
      ...empty.provenance,
      ...(request.limits && { limits: request.limits as Record<string, number> }),
      ...(request.endpoint === 'chat' && { endpoint: 'chat' }),
    },
  }
  return {
    trajectory,
    using: {
      start: prompt ? { messages: [], prompt } : { messages: question },
      request,
      serverName,
      serverDescription: server,
      parser,
      promptEncoder,
    },
  }
}

/** Starts a further turn on a stored trajectory. Throws HttpProblem, EngineError or TemplateError. */
export async function continueRollout(
  key: string,
  request: ContinueRequest,
  all: Services,
  signal: AbortSignal,
): Promise<Run> {
  const found = storedTrajectory(key, all)
  if (request.resume) checkResume(found, request.sampling)
  else if (request.prompt === undefined && unreadResults(found).length === 0)
    throw new HttpProblem({
      status: 422,
      code: 'NOTHING_NEW',
      detail: 'the request has no prompt, and there are no tool results that the model has not read: send a prompt',
    })
  await checkTools(found.model.tools, all)
  const serverName = request.server ?? lastServer(found) ?? all.servers.defaultName
  const server = await all.servers.client(serverName).describe(signal)
  checkCapabilities(server, {
    ...request,
    endpoint: isChat(found) ? 'chat' : 'generate',
    images:
      request.images !== undefined || found.imageData !== undefined || found.segments.flatMap(imagePartsIn).length > 0,
  })
  checkLogprobKind(found, server)
  const promptEncoder = await recordedPromptEncoder(
    found.model,
    { name: serverName, tokenizerName: server.tokenizerName },
    all,
    signal,
  )
  // The trajectory is read again, because another rollout may have added to it in the meantime. No await follows before the start.
  const stored = storedTrajectory(key, all)
  if (all.store.runsElsewhere(key))
    throw new HttpProblem({
      status: 409,
      code: 'RUNNING',
      detail: 'another instance of Rollscope on this data folder runs a rollout on this trajectory',
      hint: 'Wait until that rollout has ended, or stop it in that instance.',
    })
  if (request.seenSegments !== undefined && request.seenSegments !== stored.segments.length)
    throw new HttpProblem({
      status: 409,
      code: 'CHANGED',
      detail: 'this trajectory has been continued elsewhere',
      hint: 'The page shows the current version. Check it, then send again.',
    })
  if (request.resume) checkResume(stored, request.sampling)
  if (isChat(stored)) checkChat(stored)
  const parser = parserFor(stored.model.parser, server, promptEncoder)
  const trajectory: Trajectory = {
    ...stored,
    model: {
      ...stored.model,
      ...(server.contextLength !== undefined && { contextLength: server.contextLength }),
      parser: parser.name,
    },
    ...(stored.segments.length === 0 && meaningsOf(server)),
    ...otherModel(stored, server),
    provenance:
      stored.provenance.kind === 'rollout' && request.limits
        ? { ...stored.provenance, limits: request.limits as Record<string, number> }
        : stored.provenance,
  }
  const question = request.prompt === undefined ? [] : [questionWith(request.prompt, request.images)]
  const start = request.resume
    ? { messages: [], resumes: true as const }
    : { messages: [...unsentSystem(stored), ...question] }
  const using = { start, request, serverName, serverDescription: server, parser, promptEncoder }
  return all.runs.start(runOptions(trajectory, using, all)(key))
}

function checkResume(trajectory: Trajectory, sampling: object = {}): void {
  const why = resumeObstacle(trajectory, sampling)
  if (why !== undefined)
    throw new HttpProblem({
      status: 422,
      code: 'NOT_RESUMABLE',
      detail: `the last response cannot be continued. ${why}`,
      hint: 'Send a next turn instead: the open turn is closed first.',
    })
}

/** Throws HttpProblem if a trajectory over a chat endpoint lacks a message of the server, which the run would continue from. */
function checkChat({ segments }: Trajectory): void {
  const without = segments.findIndex((segment) => segment.kind === 'response' && segment.message === undefined)
  if (without >= 0)
    throw new HttpProblem({
      status: 422,
      code: 'NO_MESSAGES',
      detail: `segment ${without} does not contain the message that the server parsed from it`,
      hint: 'A run over a chat endpoint can only continue from its messages. Start a new run.',
    })
}

/** Returns the problems with a note if the model changed, such as a later checkpoint, so that one name does not hide the change. */
export function otherModel(stored: Trajectory, { modelName }: ServerDescription): Pick<Trajectory, 'problems'> {
  const problems = stored.problems ?? []
  const last = problems.findLast(({ kind }) => kind === 'model')?.raw ?? stored.model.name
  if (last === undefined || modelName === undefined || last === modelName) return {}
  const message = `From token ${tokenCount(stored)} on the model is ${modelName}; before it was ${last}.`
  return { problems: [...problems, { kind: 'model', message, raw: modelName }] }
}

/** Returns the system messages of a first prompt whose first call failed, because they still have to be sent. */
function unsentSystem({ segments, outcome }: Trajectory): readonly Message[] {
  if (segments.length > 0 || outcome.kind === 'running') return []
  return (outcome.unsent ?? []).filter(({ role }) => role === 'system' || role === 'developer')
}

/** Returns a message of the user with the images before its text, as models with vision are trained. */
const questionWith = (prompt: string, images: readonly string[] = []): Message => ({
  role: 'user',
  content:
    images.length === 0
      ? prompt
      : [...images.map((image) => ({ type: 'image', image })), { type: 'text', text: prompt }],
})

const hasImages = (message: Message): boolean => imagePartsOf(message).length > 0

function questionOf({ prompt, messages, system, images }: RolloutRequest): Message[] {
  const rest: Message[] = messages ? ([...messages] as Message[]) : [questionWith(prompt ?? '', images)]
  return system === undefined || system === '' ? rest : [{ role: 'system', content: system }, ...rest]
}

/** Returns the chosen parser, or else the one that server, template and tokenizer suggest. Throws HttpProblem. */
export function parserFor(
  chosen: string | undefined,
  { toolCallParser }: Pick<ServerDescription, 'toolCallParser'>,
  { template, tokenizer }: PromptEncoder,
): ToolParser {
  const addedTokens = tokenizer.addedTokens.map(({ content }) => content)
  return parserOrProblem(
    chosen ?? suggestParser({ chatTemplate: template.text, serverParser: toolCallParser, addedTokens }).parser,
  )
}
