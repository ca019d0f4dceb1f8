/** Runs an agent against a scripted server, with bytes as tokens, and returns the result as text. For tests. */

import type { Chunk } from '#lib/engine/reply.ts'
import type { GenerateRequest } from '#lib/engine/request.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import type { CallSettings } from '#lib/rollout/loop/call-input.ts'
import { type RolloutDependencies, rollout } from '#lib/rollout/loop/rollout.ts'
import type { Prompt } from '#lib/rollout/prompt/prompt.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/trajectory/events/events.ts'
import { FORMAT, type Message, type Outcome, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteId, byteTokenizer } from './byte-tokenizer.ts'
import { chatml } from './small-templates.ts'

/** Id of the token that ends a turn. */
export const END = byteId('<|im_end|>')
/** Returns the ids of a text. */
export const bytes = (text: string) => byteTokenizer.encode(text)
/** Returns a tool call in the format of Hermes. */
export const call = (name: string, input: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`
/** Returns a message of a user. */
export const user = (content: string): Message => ({ role: 'user', content })

/** Answer of the server to one request: a text, or a function that returns chunks. */
export type Script = string | ((request: GenerateRequest, signal: AbortSignal) => AsyncGenerator<Chunk>)

/** Returns the end of a reply of `count` tokens that stopped at `END`. */
export const stop = (count: number) => ({
  finish: { kind: 'stop', matched: END } as const,
  usage: { completionTokens: count },
})

/** Yields a reply token by token, each with the logprob −0.5. */
export async function* says(text: string, end: Chunk['end'] = stop(text.length + 1)): AsyncGenerator<Chunk> {
  const reply = [...bytes(text), ...(end?.finish.kind === 'stop' ? [END] : [])]
  for (const [index, id] of reply.entries())
    yield { tokens: { ids: [id], logprobs: [-0.5] }, problems: [], ...(index === reply.length - 1 && end && { end }) }
}

/** Returns a script that sends a text and then fails with the error. */
export const failAfterText = (text: string, error: Error): Script =>
  async function* () {
    for (const id of bytes(text)) yield { tokens: { ids: [id], logprobs: [-0.5] }, problems: [] }
    throw error
  }

interface Played {
  readonly events: readonly RolloutEvent[]
  readonly trajectory: Trajectory
  readonly requests: readonly GenerateRequest[]
}

/** Trajectory without segments, with which a run begins. */
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

/** Script and settings of a run. */
export interface Options {
  readonly scripts: readonly Script[]
  readonly tools?: readonly AgentTool[]
  readonly settings?: Partial<CallSettings>
  readonly on?: Trajectory
  readonly messages?: readonly Message[]
  readonly resumes?: true
  readonly prompt?: Prompt
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RolloutEvent) => void
  readonly template?: string
  readonly server?: RolloutDependencies['server']
  /** Returns the wall-clock time. */
  readonly now?: () => Date
}

/** Runs the agent and returns its events, its trajectory and the requests. Throws Error if the script has too few replies. */
export async function runScripted({
  scripts,
  tools = [calculator],
  settings,
  on = empty,
  resumes,
  prompt: ownPrompt,
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
    promptEncoder: { tokenizer: byteTokenizer, template: chatTemplate(template, {}) },
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
    { rolloutId: 'r', trajectory: on, messages, ...(resumes && { resumes }), ...(ownPrompt && { prompt: ownPrompt }) },
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

/** Returns a trajectory as text: context in round brackets and trained tokens in square ones, without the tokens of ChatML. */
export const drawMask = (trajectory: Trajectory): string =>
  trajectory.segments
    .map((segment) => {
      const text = textOf(segment.ids, trajectory.vocab)
        .replace(/<\|im_start\|>assistant\n|<\|im_start\|>|<\|im_end\|>|\n/g, ' ')
        .replace(/ +/g, ' ')
        .trim()
      return segment.kind === 'prompt' ? `(${text})` : `[${text}]`
    })
    .join(' ')

/** Returns an outcome that ended for a reason. */
export const endedOutcome = (reason: string): Partial<Outcome> => ({ kind: 'ended', reason }) as Partial<Outcome>
