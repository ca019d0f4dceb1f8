/** Runs an agent over a minimal chat endpoint that renders, tokenizes (by bytes) and parses. For tests. */

import type { ChatAnswer, ChatRequest } from '#lib/engine/engine.ts'
import { hermes } from '#lib/parsers/json/hermes.ts'
import type { CallSettings } from '#lib/rollout/loop/call-input.ts'
import { type RolloutDependencies, rollout } from '#lib/rollout/loop/rollout.ts'
import { templateTools } from '#lib/rollout/prompt/prompt.ts'
import { calculator } from '#lib/rollout/tools/calculator.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { applyEvent, type LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { byteTokenizer } from './byte-tokenizer.ts'
import { bytes, END, empty, user } from './scripted-rollout.ts'
import { looksBack } from './small-templates.ts'

/** Text that the model writes, or a function that answers the request. */
type ChatScript = string | ((request: ChatRequest, signal: AbortSignal) => Promise<Partial<ChatAnswer>>)

/** Trajectory of a chat baseline without segments. */
export const emptyChat: Trajectory = {
  ...empty,
  model: { ...empty.model, name: 'scripted', template: { text: looksBack, options: {} } },
  provenance: { kind: 'rollout', application: 'test', endpoint: 'chat' },
}

/** Script and settings of a run over the chat endpoint. */
export interface ChatPlay {
  readonly scripts: readonly ChatScript[]
  readonly on?: Trajectory
  readonly messages?: readonly Message[]
  readonly tools?: readonly AgentTool[]
  readonly settings?: Partial<CallSettings>
  /** The tokenizer and the template of the record. Omitted: those of the endpoint. */
  readonly promptEncoder?: RolloutDependencies['promptEncoder']
  readonly signal?: AbortSignal
  readonly onEvent?: (event: RolloutEvent) => void
}

/** Runs the agent and returns its events, its trajectory and the requests. Throws Error if the script has too few replies. */
export async function runScriptedChat({
  scripts,
  on = emptyChat,
  messages = [user('q')],
  tools = [calculator],
  settings,
  promptEncoder = { tokenizer: byteTokenizer, template: chatTemplate(looksBack, {}) },
  signal = new AbortController().signal,
  onEvent,
}: ChatPlay) {
  const requests: ChatRequest[] = []
  const queue = [...scripts]
  let clock = 0
  const dependencies: RolloutDependencies = {
    async chat(request, callSignal) {
      requests.push(request)
      const script = queue.shift()
      if (script === undefined) throw new Error('the script has no more replies')
      const answer =
        typeof script === 'string' ? answerScriptedChat(request, script) : await script(request, callSignal)
      return { ...answerScriptedChat(request, ''), ...answer }
    },
    serverName: 'scripted',
    server: { kind: 'server' },
    promptEncoder,
    parser: hermes,
    tools,
    now: () => new Date(0),
    elapsedMs: () => clock++,
    newRequestId: () => String(requests.length).padStart(32, '0'),
  }
  const all: CallSettings = {
    sampling: { max_new_tokens: 1000 },
    limits: {},
    promptLogprobs: true,
    topLogprobs: 0,
    stream: true,
    ...settings,
  }
  const events: RolloutEvent[] = []
  const trajectory = { ...on, model: { ...on.model, tools: tools.map(({ spec }) => spec) } }
  for await (const event of rollout({ rolloutId: 'r', trajectory, messages }, all, dependencies, signal)) {
    events.push(event)
    onEvent?.(event)
  }
  const played = events.reduce<LiveTrajectory | undefined>(applyEvent, undefined)
  if (!played) throw new Error('no events')
  return { events, trajectory: played, requests }
}

/** Returns the endpoint's answer: the rendered prompt, and the reply after parsing, without thinking and with structured calls. */
export function answerScriptedChat(
  request: ChatRequest,
  text: string,
  ids: readonly number[] = [...bytes(text), END],
): ChatAnswer {
  const visible = text.slice(text.lastIndexOf('</think>') + 1).replace(/^\/think>/, '')
  const calls = hermes.parse(visible, [], request.tools).flatMap((call, index) =>
    call.kind === 'parsed' && request.tools.some(({ name }) => name === call.name)
      ? [
          {
            id: `call_of_${request.messages.length}_${index}`,
            function: { name: call.name, arguments: JSON.stringify(call.input) },
          },
        ]
      : [],
  )
  const content = visible.split('<tool_call>')[0]?.trim() ?? ''
  return {
    promptIds: renderIds(request),
    tokens: { ids, logprobs: ids.map(() => -0.5) },
    message: { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) },
    end: { finish: { kind: 'stop' }, usage: { promptTokens: 1, completionTokens: ids.length } },
    problems: [],
  }
}

function renderIds({ messages, tools, templateOptions }: ChatRequest): readonly number[] {
  const flat = messages.map((message) => {
    const {
      role,
      content,
      tool_calls: calls,
    } = message as {
      readonly role: string
      readonly content: string | readonly { readonly text: string }[]
      readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[]
    }
    const text = typeof content === 'string' ? content : content.map((part) => part.text).join(' ')
    const written = (calls ?? []).map(
      ({ function: called }) => `<tool_call>{"name":"${called.name}","arguments":${called.arguments}}</tool_call>`,
    )
    return { role, content: text + written.join('') }
  })
  return byteTokenizer.encode(
    chatTemplate(looksBack, {}).render({
      messages: flat,
      tools: tools.length > 0 ? templateTools(tools) : undefined,
      addGenerationPrompt: true,
      options: templateOptions,
    }),
  )
}
