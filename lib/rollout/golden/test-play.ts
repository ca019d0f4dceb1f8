/** Plays a scenario through lib/rollout and lib/sglang, against a scripted server. */
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import path from 'node:path'
import { parserNamed } from '#lib/parsers/registry.ts'
import type { PromptEncoder } from '#lib/rollout/prompt/prompt.ts'
import { createClient } from '#lib/sglang/client/client.ts'
import { samplingSchema } from '#lib/sglang/reply/sampling.ts'
import { type LoadedTokenizer, loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { applyEvent, type LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { emptyTrajectory } from '#testing/simulated-rollout.ts'
import { loadedTokenizer } from '#testing/tokenizers.ts'
import { rollout } from '../loop/rollout.ts'
import type { AgentTool } from '../tools/tool.ts'
import {
  type AgentRecord,
  goldenFolder,
  type ReplyScript,
  type Request,
  type Scenario,
  script,
  type TokenizerEntry,
} from './test-scenarios.ts'

/** The record of a played scenario, with its trajectory. */
export interface Played extends AgentRecord {
  readonly trajectory: Trajectory
  /** Names of the fields of the requests. */
  readonly fields: readonly string[]
}

/** Plays each scenario once, against one server. */
export interface Player {
  play(scenario: Scenario): Promise<Played>
  promptEncoder(scenario: Scenario): PromptEncoder
  close(): Promise<void>
}

/** The fields of every request. strands-sglang sends them too, except those that Rollscope adds. */
interface GenerateBody {
  readonly input_ids: readonly number[]
  readonly logprob_start_len: number
  readonly sampling_params: Readonly<Record<string, unknown>> & { readonly max_new_tokens: number }
}

/** Starts the server. Tokenizers are loaded when a scenario needs them. */
export async function createPlayer(): Promise<Player> {
  const load = promptEncoderLoader()
  const promptEncoderOf = ({ tokenizer }: Scenario): PromptEncoder => load(tokenizer)
  const server = await scriptedServer()
  return {
    play: memoizeByIdentity((scenario: Scenario) => play(scenario, promptEncoderOf(scenario), server)),
    promptEncoder: promptEncoderOf,
    close: () => server.close(),
  }
}

function entryOf(tokenizer: string): TokenizerEntry {
  const entry = script.tokenizers[tokenizer]
  if (!entry) throw new Error(`scenarios.json has no tokenizer "${tokenizer}"`)
  return entry
}

/** Caches tokenizers: several entries share one with different templates, and a large one takes a second to load. */
function promptEncoderLoader(): (name: string) => PromptEncoder {
  const promptEncoders = new Map<string, PromptEncoder>()
  const read = (folder: string, file: string) => readFileSync(path.join(folder, file), 'utf8')
  const loadWith = (folder: string, addedTokens: readonly string[]): LoadedTokenizer => {
    const { vocabularySize } = loadedTokenizer(folder).tokenizer
    const more = addedTokens.map((content, index) => ({
      id: vocabularySize + index,
      content,
      special: true,
      normalized: false,
      single_word: false,
      lstrip: false,
      rstrip: false,
    }))
    const definition = JSON.parse(read(folder, 'tokenizer.json'))
    return loadTokenizerFiles(folder, {
      tokenizerJson: JSON.stringify({ ...definition, added_tokens: [...definition.added_tokens, ...more] }),
      tokenizerConfigJson: read(folder, 'tokenizer_config.json'),
    })
  }
  const make = ({ folder, addedTokens = [], template, templatePrefix = '' }: TokenizerEntry): PromptEncoder => {
    const loaded = addedTokens.length > 0 ? loadWith(folder, addedTokens) : loadedTokenizer(folder)
    const text = template
      ? readFileSync(path.join(goldenFolder, 'templates', template), 'utf8')
      : (loaded.template(true)?.text ?? '')
    return { tokenizer: loaded.tokenizer, template: loaded.compile(templatePrefix + text) }
  }
  return (name) => {
    const promptEncoder = promptEncoders.get(name) ?? make(entryOf(name))
    promptEncoders.set(name, promptEncoder)
    return promptEncoder
  }
}

async function play(scenario: Scenario, promptEncoder: PromptEncoder, server: ScriptedServer): Promise<Played> {
  server.play(scenario, promptEncoder.tokenizer)
  const client = createClient({
    baseUrl: server.url,
    apiKey: undefined,
    retry: { firstMs: 0 },
  })
  const toolRuns: [string, unknown][] = []
  const tools = (scenario.tools ?? []).map((name) => toolOf(name, toolRuns))
  const options = scenario.thinking === undefined ? {} : { enable_thinking: scenario.thinking }
  const begun = emptyTrajectory(promptEncoder, {
    tools: tools.map(({ spec }) => spec),
    options,
    parser: scenario.parser ?? 'hermes',
  })
  const { contextLength } = scenario
  let trajectory = { ...begun, model: { ...begun.model, ...(contextLength !== undefined && { contextLength }) } }
  const outcomes: string[] = []
  let requests = 0
  for (const question of scenario.questions) {
    const userMessage: Message = {
      role: 'user',
      content: typeof question === 'string' ? question : question.map((text) => ({ type: 'text', text })),
    }
    const before: Message[] = outcomes.length > 0 ? [] : [...systemOf(scenario), ...(scenario.history ?? [])]
    let state: LiveTrajectory | undefined
    for await (const event of rollout(
      { rolloutId: 'r', trajectory, messages: [...before, userMessage] },
      {
        sampling: samplingSchema.parse(scenario.sampling ?? { temperature: 1, max_new_tokens: 500 }),
        limits: scenario.limits ?? {},
        promptLogprobs: true,
        topLogprobs: 0,
        stream: false,
      },
      {
        generate: client.generate,
        serverName: 'scripted',
        server: {},
        promptEncoder,
        parser: parserNamed(scenario.parser ?? 'hermes') ?? unknownParser(scenario),
        tools,
        now: () => new Date(0),
        elapsedMs: () => 0,
        newRequestId: () => String(requests++).padStart(32, '0'),
      },
      new AbortController().signal,
    ))
      state = applyEvent(state, event)
    if (!state) throw new Error('a rollout without events')
    trajectory = state
    outcomes.push(outcomeText(trajectory))
  }
  await client.close()
  return {
    trajectory,
    requests: server.requests.map(({ body, status }) => ({
      inputIds: body.input_ids,
      logprobStartLen: body.logprob_start_len,
      maxNewTokens: body.sampling_params.max_new_tokens,
      status,
    })),
    fields: Object.keys(server.requests[0]?.body ?? {}),
    samplingParams: server.requests[0]?.body.sampling_params ?? null,
    tokenIds: ids(trajectory),
    lossMask: lossMask(trajectory),
    logprobs: logprobs(trajectory),
    segments: trajectory.segments.map((segment) => [segment.kind === 'response' ? 1 : 0, segment.ids.length]),
    toolRuns,
    outcomes,
  }
}

const unknownParser = ({ parser }: Scenario): never => {
  throw new Error(`there is no parser "${parser}"`)
}

const systemOf = ({ system }: Scenario): Message[] =>
  system === undefined ? [] : [{ role: 'system', content: system }]

const outcomeText = ({ outcome }: Trajectory): string => {
  if (outcome.kind === 'running') return 'running'
  return outcome.kind === 'ended' ? outcome.reason : outcome.code
}

function toolOf(name: string, runs: [string, unknown][]): AgentTool {
  const entry = script.tools[name]
  if (!entry) throw new Error(`scenarios.json has no tool "${name}"`)
  return {
    spec: { name, description: entry.description, inputSchema: entry.inputSchema },
    async run(input) {
      runs.push([name, input])
      if (typeof input.delayMs === 'number') await new Promise((resolve) => setTimeout(resolve, Number(input.delayMs)))
      if (entry.raises !== undefined) throw new Error(entry.raises)
      return (entry.returns ?? '').replace(/\{(\w+)\}/g, (_, argument: string) => String(input[argument] ?? ''))
    },
  }
}

interface ScriptedServer {
  readonly url: string
  readonly requests: readonly { readonly body: GenerateBody; readonly status: Request['status'] }[]
  play(scenario: Scenario, tokenizer: Tokenizer): void
  close(): Promise<void>
}

/** Starts a /generate of SGLang that answers with the scenario's replies in turn. */
async function scriptedServer(): Promise<ScriptedServer> {
  let answer = (_: GenerateBody): Answer => ({ status: 500, body: 'no scenario' })
  let requests: { body: GenerateBody; status: number }[] = []
  const http: Server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part) => parts.push(part))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString())
      const { status, body: reply } = answer(body)
      requests.push({ body, status })
      response.writeHead(status, { 'content-type': 'application/json' }).end(reply)
    })
  })
  return {
    url: await listeningUrl(http),
    get requests() {
      return requests
    },
    play({ replies, tokenizer: name }, tokenizer) {
      requests = []
      const left = [...replies]
      const { stop } = entryOf(name)
      answer = (body) => answerOf(left.shift() ?? NO_MORE, body, tokenizer, stop)
    },
    close: () => closeServer(http),
  }
}

interface Answer {
  readonly status: number
  readonly body: string
}

const NO_MORE = { status: 404, body: { error: { message: 'the script has no more replies' } } }

function answerOf(given: string | ReplyScript, sent: GenerateBody, tokenizer: Tokenizer, stop: string): Answer {
  const reply = typeof given === 'string' ? { pieces: [given] } : given
  if ('status' in reply) return { status: reply.status, body: JSON.stringify(reply.body) }
  if ('raw' in reply) return { status: 200, body: reply.raw }
  const text = reply.pieces.flatMap((piece) => tokenizer.encode(piece))
  const written = text.slice(0, text.length - (reply.dropped ?? 0))
  const stopIds = reply.finish || reply.stopString !== undefined ? [] : tokenizer.encode(reply.stop ?? stop)
  const output = [...written, ...stopIds]
  const start = sent.logprob_start_len
  const meta: Record<string, unknown> = {
    id: 'x',
    finish_reason: finishReason(reply, output),
    prompt_tokens: sent.input_ids.length,
    completion_tokens: output.length,
    cached_tokens: start,
    e2e_latency: 0.25,
    input_token_logprobs: sent.input_ids
      .slice(start)
      .map((id, i) => (i === 0 ? [null, id, null] : scored(id, start + i))),
    output_token_logprobs: output.map((id, i) => scored(id, sent.input_ids.length + i)),
  }
  for (const key of reply.without ?? []) delete meta[key]
  return {
    status: 200,
    body: JSON.stringify({ text: textOfIds(output, tokenizer), output_ids: output, meta_info: meta }),
  }
}

function finishReason(reply: Extract<ReplyScript, { pieces: unknown }>, output: readonly number[]): object {
  if (reply.finish === 'length') return { type: 'length', length: output.length }
  if (reply.finish === 'abort') return { type: 'abort' }
  return { type: 'stop', matched: reply.stopString ?? output.at(-1) }
}

const scored = (id: number, index: number) => [scriptedLogprob(id, index), id, null]

/** Returns a logprob that is exact in binary and depends on the token and its index. make.py has the same function. */
export const scriptedLogprob = (id: number, index: number): number => -(((id * 31 + index * 7) % 2000) + 1) / 512

/** Returns the decoded bytes of ids; invalid UTF-8 becomes U+FFFD. */
export const textOfIds = (of: readonly number[], tokenizer: Tokenizer): string =>
  new TextDecoder().decode(Uint8Array.from(of.flatMap((id) => Array.from(tokenizer.bytes(id)))))
