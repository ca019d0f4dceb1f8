/** Runs an agent against a scripted server, with bytes for tokens, and draws what came out. For tests. */

import { hermes } from '#lib/parsers/json/hermes.ts'
import type { CallSettings } from '#lib/rollout/loop/model-call.ts'
import { type RolloutDependencies, rollout } from '#lib/rollout/loop/rollout.ts'
import type { Prompt } from '#lib/rollout/prompt/prompt.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import type { GenerateRequest } from '#lib/sglang/client/request.ts'
import type { Chunk } from '#lib/sglang/reply/reply.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/trajectory/events/events.ts'
import { FORMAT, type Message, type Outcome, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteId, byteTokenizer } from './byte-tokenizer.ts'
import { chatml } from './small-templates.ts'

export const END = byteId('<|im_end|>')
export const bytes = (text: string) => byteTokenizer.encode(text)
/** A tool call as Hermes writes it. */
export const call = (name: string, input: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`
export const user = (content: string): Message => ({ role: 'user', content })

/** What the server does with one request: a text, or its own way of answering. */
export type Script = string | ((request: GenerateRequest, signal: AbortSignal) => AsyncGenerator<Chunk>)

export const stop = (count: number) => ({
  finish: { kind: 'stop', matched: END } as const,
  usage: { completionTokens: count },
})

/** A reply token by token, each with a logprob. */
export async function* says(text: string, end: Chunk['end'] = stop(text.length + 1)): AsyncGenerator<Chunk> {
  const reply = [...bytes(text), ...(end?.finish.kind === 'stop' ? [END] : [])]
  for (const [index, id] of reply.entries())
    yield { tokens: { ids: [id], logprobs: [-0.5] }, problems: [], ...(index === reply.length - 1 && end && { end }) }
}

export const cut = (text: string, error: Error): Script =>
  async function* () {
    for (const id of bytes(text)) yield { tokens: { ids: [id], logprobs: [-0.5] }, problems: [] }
    throw error
  }

interface Played {
  readonly events: readonly RolloutEvent[]
  readonly trajectory: Trajectory
  readonly requests: readonly GenerateRequest[]
}

export const empty: Trajectory = {
  format: FORMAT,
  id: 't',
  createdAt: '2026-01-01T00:00:00.000Z',
  model: {
    tokenizer: { name: 'bytes', vocabularySize: byteTokenizer.vocabularySize, specialIds: [], endOfTurnId: END },
    template: { text: chatml, options: {} },
    tools: [],
    parser: 'hermes',
  },
  vocab: {},
  segments: [],
  outcome: { kind: 'running' },
  provenance: { kind: 'rollout', application: 'test' },
}

export interface Options {
  readonly scripts: readonly Script[]
  readonly tools?: readonly AgentTool[]
  readonly settings?: Partial<CallSettings>
  readonly on?: Trajectory
  readonly messages?: readonly Message[]
  readonly resumes?: true
  readonly given?: Prompt
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RolloutEvent) => void
  readonly template?: string
  readonly server?: RolloutDependencies['server']
  /** Wall clock. */
  readonly now?: () => Date
}

export async function runScripted({
  scripts,
  tools = [calculator],
  settings,
  on = empty,
  resumes,
  given,
  messages = resumes ? [] : [user('q')],
  signal,
  onEvent,
  template = chatml,
  server = { kind: 'server', incrementalStreaming: true },
  now = () => new Date(0),
}: Options): Promise<Played> {
  const requests: GenerateRequest[] = []
  const queue = [...scripts]
  let clock = 0
  const dependencies: RolloutDependencies = {
    generate(request, callSignal) {
      requests.push(request)
      const script = queue.shift()
      if (script === undefined) throw new Error('the script has no more replies')
      return typeof script === 'string' ? says(script) : script(request, callSignal)
    },
    serverName: 'scripted',
    server,
    codec: { tokenizer: byteTokenizer, template: chatTemplate(template, {}) },
    parser: hermes,
    tools,
    now,
    elapsedMs: () => clock++,
    newRequestId: () => String(requests.length).padStart(32, '0'),
  }
  const events: RolloutEvent[] = []
  const all = {
    sampling: { max_new_tokens: 1000 },
    limits: {},
    promptLogprobs: true,
    topLogprobs: 0,
    stream: true,
    ...settings,
  }
  for await (const event of rollout(
    { rolloutId: 'r', trajectory: on, messages, ...(resumes && { resumes }), ...(given && { given }) },
    all,
    dependencies,
    signal ?? new AbortController().signal,
  )) {
    events.push(event)
    onEvent?.(event)
  }
  const trajectory = events.reduce<LiveTrajectory | undefined>(applyEvent, undefined)
  if (!trajectory) throw new Error('no events')
  return { events, trajectory, requests }
}

/** Context in round brackets, trained tokens in square ones; ChatML's frame left out. */
export const draw = (trajectory: Trajectory): string =>
  trajectory.segments
    .map((segment) => {
      const text = textOf(segment.ids, trajectory.vocab)
        .replace(/<\|im_start\|>assistant\n|<\|im_start\|>|<\|im_end\|>|\n/g, ' ')
        .replace(/ +/g, ' ')
        .trim()
      return segment.kind === 'prompt' ? `(${text})` : `[${text}]`
    })
    .join(' ')

export const ended = (reason: string): Partial<Outcome> => ({ kind: 'ended', reason }) as Partial<Outcome>
