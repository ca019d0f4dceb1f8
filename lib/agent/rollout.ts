/**
 * Runs a Strands agent on a trajectory, token-in/token-out, and tells what happens as events. The loop, the tools and
 * their hooks are the SDK's; which ids go in, what is recorded and when the run ends is decided here.
 */
import {
  AfterToolCallEvent,
  Agent,
  BeforeToolCallEvent,
  type ContentBlock,
  NullConversationManager,
  Message as SdkMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  tool,
} from '@strands-agents/sdk'
import { responseText } from '#lib/core/conversation.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/core/events.ts'
import { toolCallsOf } from '#lib/core/tokens.ts'
import type { Message, Outcome, ResponseSegment, ToolCall, ToolResult, Trajectory } from '#lib/core/trajectory.ts'
import { createEventQueue } from './event-queue.ts'
import { limitReached } from './limits.ts'
import { type CallDependencies, type CallSettings, callModel } from './model-call.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { outcomeIn, RunEnded } from './run-ended.ts'
import { MALFORMED_CALL, TitoModel } from './tito-model.ts'
import type { AgentTool } from './tool.ts'

export interface RolloutStart {
  readonly rolloutId: string
  /** Empty, or one to be continued. */
  readonly trajectory: Trajectory
  /** What the user adds; may be empty when tool results wait to be read. */
  readonly messages: readonly Message[]
}

export interface RolloutDependencies extends CallDependencies {
  readonly tools: readonly AgentTool[]
}

/**
 * The events of one rollout, from `started` to `ended`. Aborting the signal, or ending the iteration, stops the server's
 * generation and the tools. Throws only when a promise of ours is broken.
 */
export async function* rollout(
  start: RolloutStart,
  settings: CallSettings,
  dependencies: RolloutDependencies,
  signal: AbortSignal,
): AsyncGenerator<RolloutEvent> {
  const consumer = new AbortController()
  const stop = AbortSignal.any([signal, consumer.signal])
  const queue = createEventQueue<RolloutEvent>()
  const recorder = createRecorder(start.rolloutId, start.trajectory, queue.push)
  const running = run(recorder, start, settings, dependencies, stop).then(
    () => queue.end(),
    (error) => queue.end(error),
  )
  try {
    yield* queue
  } finally {
    consumer.abort()
    await running
  }
}

/** What a continuation has to tell the model before anything else: the results of the last calls, if they were not read. */
export function unreadResults({ segments }: Trajectory): Message[] {
  const last = segments.at(-1)
  if (last?.kind !== 'response') return []
  return last.toolCalls.filter(({ result }) => result !== undefined).map(({ id }) => ({ role: 'tool', callId: id }))
}

async function run(
  recorder: Recorder,
  start: RolloutStart,
  settings: CallSettings,
  dependencies: RolloutDependencies,
  signal: AbortSignal,
): Promise<void> {
  const from = recorder.trajectory.segments.length
  const call = async (messages: readonly Message[]): Promise<ResponseSegment> => {
    const reason = limitReached(recorder.trajectory, from, settings.limits)
    const isFirstCall = recorder.trajectory.segments.length === from
    if (reason)
      throw new RunEnded({
        kind: 'ended',
        reason,
        ...(isFirstCall && start.messages.length > 0 && { unsent: start.messages }),
      })
    return callModel(recorder, messages, settings, dependencies, signal)
  }
  // A cancelled SDK leaves its model without waiting for it; what the call still records must come before the end.
  let lastCall: Promise<unknown> = Promise.resolve()
  const model = new TitoModel(recorder, [...unreadResults(start.trajectory), ...start.messages], (messages) => {
    const made = call(messages)
    lastCall = made
    return made
  })
  const agent = new Agent({
    model,
    tools: dependencies.tools.map((agentTool) => sdkTool(agentTool, signal)),
    messages: sdkHistory(start.trajectory),
    printer: false,
    // The default one drops messages after each run and retries with fewer: the trajectory would not be what was read.
    conversationManager: new NullConversationManager(),
    // Retries are the client's, before the first token.
    retryStrategy: null,
  })
  watchTools(agent, recorder, settings, dependencies, signal)
  const invocation = agent.invoke(sdkArguments(start), { cancelSignal: signal })
  await invocation.catch(() => {})
  const outcome = await outcomeOf([lastCall, invocation], signal)
  settleCalls(recorder, from, outcome)
  recorder.emit({ type: 'ended', outcome })
}

/** How the run ended, by the first of these that says so; an error of none of them is a broken promise of ours. */
async function outcomeOf(sources: readonly Promise<unknown>[], signal: AbortSignal): Promise<Outcome> {
  for (const source of sources) {
    const error = await source.then(
      () => undefined,
      (reason) => reason,
    )
    const outcome = outcomeIn(error)
    if (outcome) return outcome
    if (error !== undefined && !signal.aborted) throw error
  }
  return { kind: 'ended', reason: signal.aborted ? 'cancelled' : 'end_turn' }
}

function sdkTool({ spec, run: execute }: AgentTool, signal: AbortSignal) {
  return tool({
    name: spec.name,
    description: spec.description ?? spec.name,
    inputSchema: spec.inputSchema as never,
    callback: async (input) => unlessStopped(async () => execute(input as Record<string, unknown>, signal), signal),
  })
}

/** A tool need not heed the signal: the run goes on without it. */
async function unlessStopped<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw new Error(STOPPED)
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(new Error(STOPPED))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([action(), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

const STOPPED = 'the run was stopped before this call was finished.'

/** Keeps calls that must not run from running, and records what became of each. */
function watchTools(
  agent: Agent,
  recorder: Recorder,
  { limits }: CallSettings,
  { tools, now, elapsedMs }: RolloutDependencies,
  signal: AbortSignal,
): void {
  const started = new Map<string, { readonly at: string; readonly ms: number }>()
  agent.addHook(BeforeToolCallEvent, (event) => {
    const call = callWithId(recorder.trajectory, event.toolUse.toolUseId)
    const why = call && refusal(call, recorder.trajectory, tools, limits.maxParallelToolCalls ?? Infinity)
    if (why !== undefined) {
      event.cancel = why
      return
    }
    const at = now().toISOString()
    started.set(event.toolUse.toolUseId, { at, ms: elapsedMs() })
    recorder.emit({ type: 'tool-started', callId: event.toolUse.toolUseId, startedAt: at })
  })
  agent.addHook(AfterToolCallEvent, ({ toolUse, result }) => {
    const begun = started.get(toolUse.toolUseId)
    recorder.emit({
      type: 'tool-ended',
      callId: toolUse.toolUseId,
      result: {
        status: signal.aborted && result.status === 'error' ? 'cancelled' : result.status,
        text: result.content.map(resultText).join(''),
        ...(begun && { startedAt: begun.at, elapsedMs: Math.max(0, elapsedMs() - begun.ms) }),
      },
    })
  })
}

/**
 * Why a call is not executed; undefined when it is. The model reads this. For unknown tools and for calls beyond the
 * limit it reads what it would from strands-sglang: it may have been trained on those words.
 */
function refusal(
  call: ToolCall,
  trajectory: LiveTrajectory,
  tools: readonly AgentTool[],
  maxParallel: number,
): string | undefined {
  if (call.kind === 'malformed') return `Error: malformed tool call: ${call.why}. It was not executed.`
  const response = trajectory.segments.at(-1)
  const position = response?.kind === 'response' ? response.toolCalls.indexOf(call) : 0
  if (position >= maxParallel)
    return `Max parallel tool calls (${maxParallel}) reached. This tool call was not executed.`
  return tools.some(({ spec }) => spec.name === call.name) ? undefined : `Unknown tool: ${call.name}`
}

const callWithId = (trajectory: Trajectory, id: string): ToolCall | undefined =>
  toolCallsOf(trajectory).find((call) => call.id === id)

const resultText = (content: ToolResultBlock['content'][number]): string => {
  if (content.type === 'textBlock') return content.text
  return content.type === 'jsonBlock' ? JSON.stringify(content.json) : `[${content.type}]`
}

/** Calls that the stop overtook get a result that says so: a later turn has something to tell the model. */
function settleCalls(recorder: Recorder, from: number, outcome: Outcome): void {
  if (outcome.kind !== 'ended' || outcome.reason !== 'cancelled') return
  const response = recorder.trajectory.segments.slice(from).at(-1)
  if (response?.kind !== 'response' || response.finish?.kind !== 'stop') return
  const result: ToolResult = { status: 'cancelled', text: `Error: ${STOPPED}` }
  for (const call of response.toolCalls)
    if (!call.result) recorder.emit({ type: 'tool-ended', callId: call.id, result })
}

/** The conversation so far as the SDK holds it; nothing is rendered from it. */
function sdkHistory(trajectory: Trajectory): SdkMessage[] {
  return trajectory.segments.flatMap((segment): SdkMessage[] => {
    if (segment.kind === 'prompt') {
      const content = segment.messages.flatMap((message): ContentBlock[] => {
        if (message.role === 'tool' && message.callId !== undefined) return [resultBlock(message.callId, trajectory)]
        return message.role === 'user' ? [new TextBlock(textContent(message))] : []
      })
      return content.length > 0 ? [new SdkMessage({ role: 'user', content })] : []
    }
    const uses = segment.toolCalls
      .filter(({ result }) => result !== undefined)
      .map((call) => new ToolUseBlock({ name: call.name ?? MALFORMED_CALL, toolUseId: call.id, input: {} }))
    return [new SdkMessage({ role: 'assistant', content: [new TextBlock(responseText(segment, trajectory)), ...uses] })]
  })
}

function sdkArguments({ trajectory, messages }: RolloutStart): ContentBlock[] {
  const results = unreadResults(trajectory).flatMap((message) =>
    message.role === 'tool' && message.callId ? [resultBlock(message.callId, trajectory)] : [],
  )
  const texts = messages.filter(({ role }) => role === 'user').map((message) => new TextBlock(textContent(message)))
  return [...results, ...texts]
}

function resultBlock(callId: string, trajectory: Trajectory): ToolResultBlock {
  const result = callWithId(trajectory, callId)?.result
  return new ToolResultBlock({
    toolUseId: callId,
    status: result?.status === 'success' ? 'success' : 'error',
    content: [new TextBlock(result?.text ?? '')],
  })
}

const textContent = ({ content = '' }: Message): string =>
  typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('')
