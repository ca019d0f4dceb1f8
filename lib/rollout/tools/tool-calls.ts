/**
 * Executes the tool calls of a run: decides which of them run, limits their time and records their results. The SDK runs the
 * calls of one response in parallel and returns their results in the order of the calls.
 */
import {
  AfterToolCallEvent,
  type Agent,
  BeforeToolCallEvent,
  type InvokableTool,
  TextBlock,
  type ToolContext,
  ToolResultBlock,
  tool,
} from '@strands-agents/sdk'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { ToolCall, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { cutText } from '#lib/util/text/cut-text.ts'
import { DEFAULT_TOOL_TIMEOUT_MS, type RunLimits } from '../loop/limits.ts'
import type { Recorder } from '../loop/recorder.ts'
import { isTraced } from '../loop/sdk-text.ts'
import { type AgentTool, type CallContext, ToolFailure } from './tool.ts'
import { createInputCheck, type InputCheck } from './tool-input.ts'

/** The tools of a run, and its clocks. */
export interface ToolDependencies {
  readonly tools: readonly AgentTool[]
  readonly now: () => Date
  /** Returns the milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
}

/** Creates the tool as the SDK calls it: with a timeout, and with the number of the call. */
export function sdkTool(
  { spec, run: execute }: AgentTool,
  recorder: Recorder,
  { toolTimeoutMs = DEFAULT_TOOL_TIMEOUT_MS }: RunLimits,
  signal: AbortSignal,
): InvokableTool<unknown, string> {
  return tool({
    name: spec.name,
    // The SDK requires a description; the model does not read it.
    description: spec.description || spec.name,
    // The SDK copies the schemas in every turn. Calls are checked before the SDK gets them.
    inputSchema: (isTraced() ? spec.inputSchema : { type: 'object' }) as never,
    callback: (input, context) =>
      inTime(toolTimeoutMs, signal, async (time) =>
        execute(input as Record<string, unknown>, {
          ...time,
          number: callNumber(recorder.trajectory, (context as ToolContext).toolUse.toolUseId),
        }),
      ),
  })
}

/** Returns the number of a call among the calls of its tool, from 1. */
function callNumber(trajectory: Trajectory, id: string): number {
  const calls = toolCallsOf(trajectory)
  const index = calls.findIndex((call) => call.id === id)
  return calls.slice(0, index + 1).filter(({ name }) => name === calls[index]?.name).length
}

/** Runs an action with a timeout. A tool may ignore its signal, so the run continues without it after a stop or a timeout. */
async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  action: (time: Pick<CallContext, 'signal' | 'hold' | 'untimed'>) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new Error(STOPPED)
  const { promise: givenUp, reject } = Promise.withResolvers<never>()
  const own = new AbortController()
  let soFar = () => ''
  const giveUp = (why: string) => {
    const held = soFar()
    // Rejecting first prevents the tool's reaction to its signal from becoming the result.
    reject(held === '' ? new Error(why) : new ToolFailure(`${held}\nError: ${why}`))
    own.abort()
  }
  const stop = () => giveUp(STOPPED)
  const timed = () => setTimeout(giveUp, ms, `no result within ${ms} ms. The call was given up.`)
  let timer = timed()
  const hold = (left: () => string) => {
    soFar = left
  }
  const untimed = async <U>(waiting: Promise<U>): Promise<U> => {
    clearTimeout(timer)
    try {
      return await waiting
    } finally {
      if (!own.signal.aborted) timer = timed()
    }
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([action({ signal: own.signal, hold, untimed }), givenUp])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The error of a call that a stop interrupted, as the model reads it. */
export const STOPPED = 'the run was stopped before this call was finished.'

/** Prevents calls that must not run, and records the result of each. */
export function watchTools(
  agent: Agent,
  recorder: Recorder,
  { maxParallelToolCalls = Infinity, maxResultCharacters = Infinity }: RunLimits,
  { tools, now, elapsedMs }: ToolDependencies,
  signal: AbortSignal,
): void {
  const checks = new Map(tools.map(({ spec }) => [spec.name, createInputCheck(spec.inputSchema)]))
  const started = new Map<string, { readonly at: string; readonly ms: number }>()
  agent.addHook(BeforeToolCallEvent, (event) => {
    const call = findCall(recorder.trajectory, event.toolUse.toolUseId)
    const why = call && refusal(call, recorder.trajectory, checks, maxParallelToolCalls)
    if (why !== undefined) {
      event.cancel = why
      return
    }
    const at = now().toISOString()
    started.set(event.toolUse.toolUseId, { at, ms: elapsedMs() })
    recorder.emit({ type: 'tool-started', callId: event.toolUse.toolUseId, startedAt: at })
  })
  agent.addHook(AfterToolCallEvent, (event) => {
    const { toolUse } = event
    const { status, error, content } = event.result
    const whole = error instanceof ToolFailure ? error.message : content.map(resultText).join('')
    const text = cutText(whole, maxResultCharacters)
    // Over a chat endpoint the model reads the SDK's result, so it is replaced.
    if (error instanceof ToolFailure || text !== whole)
      event.result = new ToolResultBlock({ toolUseId: toolUse.toolUseId, status, content: [new TextBlock(text)] })
    const begun = started.get(toolUse.toolUseId)
    recorder.emit({
      type: 'tool-ended',
      callId: toolUse.toolUseId,
      result: {
        status: signal.aborted && status === 'error' ? 'cancelled' : status,
        text,
        ...(text !== whole && { wholeLength: whole.length }),
        ...(begun && { startedAt: begun.at, elapsedMs: Math.max(0, elapsedMs() - begun.ms) }),
      },
    })
  })
}

/**
 * Returns why a call is not executed, or undefined if it is. The model reads this text. For unknown tools and for calls
 * beyond the limit, it has the words of strands-sglang, because models may have been trained on them. `checks` has the input
 * checks of all tools by name.
 */
function refusal(
  call: ToolCall,
  trajectory: LiveTrajectory,
  checks: ReadonlyMap<string, InputCheck>,
  maxParallel: number,
): string | undefined {
  if (call.kind === 'malformed') return `Error: malformed tool call: ${call.why}. It was not executed.`
  const response = trajectory.segments.at(-1)
  const position = response?.kind === 'response' ? response.toolCalls.indexOf(call) : 0
  if (position >= maxParallel)
    return `Max parallel tool calls (${maxParallel}) reached. This tool call was not executed.`
  const check = checks.get(call.name)
  if (!check) return `Unknown tool: ${call.name}`
  const why = check(call.input)
  return why && `Error: invalid arguments: ${why}. It was not executed.`
}

/** Returns the tool call with an id, or undefined. */
export const findCall = (trajectory: Trajectory, id: string): ToolCall | undefined =>
  toolCallsOf(trajectory).find((call) => call.id === id)

const resultText = (content: ToolResultBlock['content'][number]): string => {
  if (content.type === 'textBlock') return content.text
  return content.type === 'jsonBlock' ? JSON.stringify(content.json) : `[${content.type}]`
}
