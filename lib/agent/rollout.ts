/**
 * Runs a Strands agent on a trajectory, token-in/token-out, and tells what happens as events. The loop, the tools and
 * their hooks are the SDK's; which ids go in, what is recorded and when the run ends is decided here.
 */
import {
  Agent,
  type ContentBlock,
  NullConversationManager,
  Message as SdkMessage,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '@strands-agents/sdk'
import { responseText } from '#lib/core/conversation.ts'
import type { RolloutEvent } from '#lib/core/events.ts'
import type { Message, Outcome, ResponseSegment, ToolResult, Trajectory } from '#lib/core/trajectory.ts'
import { createEventQueue } from './event-queue.ts'
import { limitReached } from './limits.ts'
import { type CallDependencies, type CallSettings, callModel } from './model-call.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { outcomeIn, RunEnded } from './run-ended.ts'
import { MALFORMED_CALL, TitoModel } from './tito-model.ts'
import type { AgentTool } from './tool.ts'
import { callWithId, STOPPED, sdkTool, watchTools } from './tool-calls.ts'

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
    tools: dependencies.tools.map((agentTool) => sdkTool(agentTool, recorder, settings.limits, signal)),
    messages: sdkHistory(start.trajectory),
    printer: false,
    // The default one drops messages after each run and retries with fewer: the trajectory would not be what was read.
    conversationManager: new NullConversationManager(),
    // Retries are the client's, before the first token.
    retryStrategy: null,
  })
  watchTools(agent, recorder, settings.limits, dependencies, signal)
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
