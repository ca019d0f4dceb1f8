/**
 * Runs a Strands agent on a trajectory, token-in/token-out or over a chat endpoint, and yields events. The SDK has the
 * loop, the tools and their hooks; this module decides what is sent, what is recorded and when the run ends.
 */
import { Agent, type AgentConfig, type InvokeArgs, NullConversationManager } from '@strands-agents/sdk'
import { type Prompt, startsWithRawPrompt } from '#lib/rollout/prompt/prompt.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Message, Outcome, ResponseSegment, ToolResult, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { type ChatDependencies, callChat } from '../chat/call.ts'
import { chatModel } from '../chat/chat-model.ts'
import { conversationOf } from '../chat/history.ts'
import { isAgentsCall } from '../chat/reply-message.ts'
import type { AgentTool } from '../tools/tool.ts'
import { STOPPED, sdkTool, toolCallLog, UntracedToolExecutor, watchTools } from '../tools/tool-calls.ts'
import type { AgentModel } from './agent-model.ts'
import { unsent } from './call-ending.ts'
import type { CallDependencies, CallSettings, PromptInput } from './call-input.ts'
import { limitReached } from './limits.ts'
import { callModel } from './model-call.ts'
import { createRecorder, type Recorder } from './recorder.ts'
import { outcomeIn, RunEnded } from './run-ended.ts'
import { sdkHistory, sdkQuestion, sdkResumption } from './sdk-history.ts'
import { answerUntraced, isTraced, shortenHistory } from './sdk-text.ts'
import { titoModel } from './tito-model.ts'

/** The input of a run. */
export interface RolloutStart {
  readonly rolloutId: string
  /** The trajectory to continue; empty for a new one. */
  readonly trajectory: Trajectory
  /** Messages of the user; may be empty if unread tool results remain. */
  readonly messages: readonly Message[]
  /** Text or ids of the user in place of messages, on an empty trajectory. Token-in/token-out only. */
  readonly prompt?: Prompt
  /** Continues from the trajectory's own ids: the last response, which was stopped, or the last prompt. Token-in/token-out only. */
  readonly resumes?: true
}

/** The dependencies of a run: with `generate` it is token-in/token-out; with `chat` the agent sends messages. */
export type RolloutDependencies = (CallDependencies | ChatDependencies) & { readonly tools: readonly AgentTool[] }

/**
 * Yields the events of one rollout, from `started` to `ended`; it begins when they are iterated, once. Aborting the
 * signal, or ending the iteration, stops the server's generation and the tools. Throws only for a bug of ours.
 */
export function rollout(
  start: RolloutStart,
  settings: CallSettings,
  dependencies: RolloutDependencies,
  signal: AbortSignal,
): AsyncIterable<RolloutEvent> {
  return { [Symbol.asyncIterator]: () => beginRecord(start, settings, dependencies, signal) }
}

function beginRecord(
  start: RolloutStart,
  settings: CallSettings,
  dependencies: RolloutDependencies,
  signal: AbortSignal,
): AsyncIterator<RolloutEvent, undefined> {
  const stop = new AbortController()
  const cancel = () => stop.abort(signal.reason)
  if (signal.aborted) cancel()
  signal.addEventListener('abort', cancel, { once: true })
  const queue = createEventQueue<RolloutEvent>()
  // The question is stored before the server reads it, so that a killed process loses none.
  const outcome = { kind: 'running', ...unsent(promptInputOf(start, start.messages)) } as const
  const recorder = createRecorder(
    start.rolloutId,
    { ...start.trajectory, outcome },
    dependencies.promptEncoder.tokenizer,
    queue.push,
  )
  const running = run(recorder, start, settings, dependencies, stop.signal)
    .finally(() => signal.removeEventListener('abort', cancel))
    .then(
      () => queue.end(),
      (error) => queue.end(error),
    )
  return {
    next: queue.next,
    async return() {
      stop.abort()
      await running
      return { done: true, value: undefined }
    },
  }
}

/** Returns the results of the last calls that the model has not read; a continuation sends them first. */
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
  // A resumed response belongs to the run.
  const from = recorder.trajectory.segments.length - (start.resumes ? 1 : 0)
  // A cancelled SDK does not wait for its model; the events of the call must still come before the end.
  let lastCall: Promise<unknown> = Promise.resolve()
  let isFirstCall = true
  const within = (call: () => Promise<ResponseSegment>): Promise<ResponseSegment> => {
    const limitedCall = withLimits(recorder, from, isFirstCall ? start : undefined, settings, call)
    isFirstCall = false
    lastCall = limitedCall
    return limitedCall
  }
  const { question, ...own } = agentOf(recorder, start, settings, dependencies, within, signal)
  const isTito = 'generate' in dependencies
  // Decided once, so that a tracer that is registered during the run does not change who executes the tools.
  const executesTools = isTito && !isTraced()
  const agent = new Agent({
    ...own,
    // The SDK copies its tools at every turn.
    tools: executesTools
      ? []
      : dependencies.tools.map((agentTool) => sdkTool(agentTool, recorder, settings.limits, signal)),
    printer: false,
    // The default one drops messages after each run and retries with fewer: the trajectory would not be what was read.
    conversationManager: new NullConversationManager(),
    // The client retries, and only before the first token.
    retryStrategy: null,
  })
  // The model chooses the names: `__proto__` would write the SDK's counts into the prototype of every object of the process.
  Object.setPrototypeOf(agent.metrics.toolMetrics, null)
  const calls = toolCallLog(recorder, settings.limits, dependencies, signal)
  if (isTito) {
    shortenHistory(agent)
    answerUntraced(agent, own.model)
  }
  if (executesTools)
    agent.toolExecutor = new UntracedToolExecutor(calls, recorder, settings.limits, dependencies.tools, signal)
  else watchTools(agent, calls)
  // The SDK would combine the signal with its own, which costs more than this listener. Each call and tool also has the signal.
  const cancel = () => agent.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  const invocation = agent.invoke(question, signal.aborted ? { cancelSignal: signal } : {})
  await invocation.catch(() => {})
  signal.removeEventListener('abort', cancel)
  const outcome = await outcomeOf([lastCall, invocation], signal).finally(() => closeAll(dependencies.tools))
  settleCalls(recorder, from, outcome)
  recorder.emit({ type: 'ended', outcome })
}

async function closeAll(tools: readonly AgentTool[]): Promise<void> {
  await Promise.all(tools.map((agentTool) => agentTool.close?.()))
}

/**
 * Runs the call unless a limit forbids it. `start` is set for the first call, whose messages are then unsent. Throws
 * RunEnded.
 */
async function withLimits(
  recorder: Recorder,
  from: number,
  start: RolloutStart | undefined,
  { limits }: CallSettings,
  call: () => Promise<ResponseSegment>,
): Promise<ResponseSegment> {
  // A resumed response passed the limits when it began.
  const reason = start?.resumes ? undefined : limitReached(recorder.trajectory, from, limits)
  if (reason) throw new RunEnded({ kind: 'ended', reason, ...(start && unsent(promptInputOf(start, start.messages))) })
  return call()
}

/** Creates the agent with the model of its endpoint and the SDK's conversation. */
function agentOf(
  recorder: Recorder,
  start: RolloutStart,
  settings: CallSettings,
  dependencies: RolloutDependencies,
  within: (call: () => Promise<ResponseSegment>) => Promise<ResponseSegment>,
  signal: AbortSignal,
): Pick<AgentConfig, 'messages' | 'systemPrompt'> & { readonly model: AgentModel; readonly question: InvokeArgs } {
  const { trajectory, messages, prompt } = start
  const newMessages = [...unreadResults(trajectory), ...messages]
  if ('generate' in dependencies) {
    const isCompletion = dependencies.tools.length === 0 && (prompt !== undefined || startsWithRawPrompt(trajectory))
    const model = titoModel(
      recorder,
      promptInputOf(start, newMessages),
      isCompletion ? 'one response' : 'calls are run',
      (added) => within(() => callModel(recorder, added, settings, dependencies, signal)),
    )
    return start.resumes
      ? { model, ...sdkResumption(trajectory) }
      : { model, messages: sdkHistory(trajectory), question: sdkQuestion(newMessages, trajectory) }
  }
  const model = chatModel(recorder, newMessages, (added, sent) =>
    within(() => callChat(recorder, added, sent, settings, dependencies, signal)),
  )
  const { system, messages: all } = conversationOf(trajectory, newMessages)
  return {
    model,
    ...(system !== undefined && { systemPrompt: system }),
    messages: all.slice(0, -1),
    question: all.slice(-1),
  }
}

const promptInputOf = ({ prompt, resumes }: RolloutStart, messages: readonly Message[]): PromptInput => {
  if (resumes) return { kind: 'resume' }
  return prompt ? { kind: 'given', prompt } : { kind: 'messages', messages }
}

/** Returns how the run ended, by the first source that reports it; an error of no source is a bug of ours. */
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

/** Gives calls that a stop interrupted a result that says so, which a later turn can send. */
function settleCalls(recorder: Recorder, from: number, outcome: Outcome): void {
  if (outcome.kind !== 'ended' || outcome.reason !== 'cancelled') return
  const response = recorder.trajectory.segments.slice(from).at(-1)
  if (response?.kind !== 'response' || response.finish?.kind !== 'stop') return
  const result: ToolResult = { status: 'cancelled', text: `Error: ${STOPPED}` }
  for (const call of response.toolCalls)
    if (!call.result && isAgentsCall(call, response)) recorder.emit({ type: 'tool-ended', callId: call.id, result })
}

/** Passes values from a producer that pushes to one consumer that iterates. Nothing is dropped. */
interface EventQueue<T> {
  push(value: T): void
  /** Ends the iteration after the pushed values, or throws the error. */
  end(error?: unknown): void
  /** Waits for the next value; after the end there is none. Only one wait may run at a time. */
  next(): Promise<IteratorResult<T, undefined>>
}

const DONE = { done: true, value: undefined } as const

// It is written by hand because a generator would add two waits for each value.
function createEventQueue<T>(): EventQueue<T> {
  const values: T[] = []
  let state: { readonly ended: boolean; readonly error?: unknown } = { ended: false }
  let wake = () => {}
  return {
    push(value) {
      values.push(value)
      wake()
    },
    end(error) {
      state = { ended: true, error }
      wake()
    },
    async next() {
      if (values.length === 0 && !state.ended)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (values.length > 0) return { done: false, value: values.shift() as T }
      const { error } = state
      state = { ended: true }
      if (error !== undefined) throw error
      return DONE
    },
  }
}
