/**
 * Executes the tool calls of a run: decides which of them run, limits their time and records their results. The SDK runs the
 * calls of one response in parallel and returns their results in the order of the calls.
 */
import {
  AfterToolCallEvent,
  type Agent,
  BeforeToolCallEvent,
  ConcurrentToolExecutor,
  type InvokableTool,
  TextBlock,
  type ToolContext,
  ToolResultBlock,
  type ToolUseBlock,
  tool,
} from '@strands-agents/sdk'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { ToolCall, ToolResult, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { callsById } from '#lib/trajectory/messages/tool-calls.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { cutText } from '#lib/util/text/cut-text.ts'
import { DEFAULT_TOOL_TIMEOUT_MS, type RunLimits } from '../loop/limits.ts'
import type { Recorder } from '../loop/recorder.ts'
import { isTraced, sdkText } from '../loop/sdk-text.ts'
import { type AgentTool, type ToolCallContext, ToolFailure } from './tool.ts'
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
  agentTool: AgentTool,
  recorder: Recorder,
  limits: RunLimits,
  signal: AbortSignal,
): InvokableTool<unknown, string> {
  const { spec } = agentTool
  return tool({
    name: spec.name,
    // The SDK requires a description, and copies all specifications in every turn. The model reads none of them.
    description: (isTraced() && spec.description) || spec.name,
    // Calls are checked before the SDK gets them.
    inputSchema: (isTraced() ? spec.inputSchema : { type: 'object' }) as never,
    callback: (input, context) =>
      resultOf(agentTool, input, (context as ToolContext).toolUse.toolUseId, recorder, limits, signal),
  })
}

/** Executes a tool with a timeout. */
const resultOf = (
  { run: execute }: AgentTool,
  input: unknown,
  callId: string,
  { trajectory }: Recorder,
  { toolTimeoutMs = DEFAULT_TOOL_TIMEOUT_MS }: RunLimits,
  signal: AbortSignal,
): Promise<string> =>
  inTime(toolTimeoutMs, signal, async (time) =>
    execute(input as Record<string, unknown>, { ...time, number: callNumber(trajectory, callId) }),
  )

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
  action: (time: Pick<ToolCallContext, 'signal' | 'hold' | 'untimed'>) => Promise<T>,
): Promise<T> {
  if (signal.aborted) throw new Error(STOPPED)
  const { promise: abandonment, reject } = Promise.withResolvers<never>()
  const own = new AbortController()
  let soFar = () => ''
  const abandon = (why: string) => {
    const partialResult = soFar()
    // Rejecting first prevents the tool's reaction to its signal from becoming the result.
    reject(partialResult === '' ? new Error(why) : new ToolFailure(`${partialResult}\nError: ${why}`))
    own.abort()
  }
  const stop = () => abandon(STOPPED)
  const timed = () => setTimeout(abandon, ms, `no result within ${ms} ms. The call was given up.`)
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
    return await Promise.race([action({ signal: own.signal, hold, untimed }), abandonment])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The error of a call that a stop interrupted, as the model reads it. */
export const STOPPED = 'the run was stopped before this call was finished.'

/** The calls of a run, from their start to their recorded result. */
export interface ToolCallLog {
  /**
   * Records the start of a call. Returns the text of a call that must not run, which is not recorded as started: the error, or the result
   * that it had before a branch.
   */
  start(callId: string): string | undefined
  /** Records the result of a call, and returns it as it was recorded. A result from before a branch stays. */
  end(callId: string, result: Pick<ToolResult, 'status' | 'text'>): ToolResult
}

/** Creates the record of a run's calls. */
export function toolCallLog(
  recorder: Recorder,
  { maxParallelToolCalls = Infinity, maxResultCharacters = Infinity }: RunLimits,
  { tools, now, elapsedMs }: ToolDependencies,
  signal: AbortSignal,
): ToolCallLog {
  const checks = new Map(tools.map(({ spec }) => [spec.name, createInputCheck(spec.inputSchema)]))
  const started = new Map<string, { readonly at: string; readonly ms: number }>()
  return {
    start(callId) {
      const call = findCall(recorder.trajectory, callId)
      const why = call?.result?.text ?? (call && refusal(call, recorder.trajectory, checks, maxParallelToolCalls))
      if (why !== undefined) return why
      const at = now().toISOString()
      started.set(callId, { at, ms: elapsedMs() })
      recorder.emit({ type: 'tool-started', callId, startedAt: at })
      return undefined
    },
    end(callId, { status, text: whole }) {
      const known = findCall(recorder.trajectory, callId)?.result
      if (known) return known
      const text = cutText(whole, maxResultCharacters)
      const begun = started.get(callId)
      const result: ToolResult = {
        status: signal.aborted && status === 'error' ? 'cancelled' : status,
        text,
        ...(text !== whole && { wholeLength: whole.length }),
        ...(begun && { startedAt: begun.at, elapsedMs: Math.max(0, elapsedMs() - begun.ms) }),
      }
      recorder.emit({ type: 'tool-ended', callId, result })
      return result
    },
  }
}

/** Prevents calls that must not run, and records the result of each call that the SDK executes. */
export function watchTools(agent: Agent, calls: ToolCallLog): void {
  agent.addHook(BeforeToolCallEvent, (event) => {
    const why = calls.start(event.toolUse.toolUseId)
    if (why !== undefined) event.cancel = why
  })
  agent.addHook(AfterToolCallEvent, (event) => {
    const { toolUseId } = event.toolUse
    const { status, error, content } = event.result
    const whole = error instanceof ToolFailure ? error.message : content.map(resultText).join('')
    const { text } = calls.end(toolUseId, { status: status === 'success' ? status : 'error', text: whole })
    // Over a chat endpoint the model reads the SDK's result, so it is replaced.
    if (error instanceof ToolFailure || text !== whole)
      event.result = new ToolResultBlock({ toolUseId, status, content: [new TextBlock(text)] })
  })
}

/**
 * Executes the calls of an untraced token-in/token-out run as the SDK does, at the same time and with the results in the order
 * of the calls. It omits the SDK's six generators, copies and spans around each call.
 */
export class UntracedToolExecutor extends ConcurrentToolExecutor {
  readonly #run: (block: ToolUseBlock) => Promise<ToolResultBlock>

  constructor(
    calls: ToolCallLog,
    recorder: Recorder,
    limits: RunLimits,
    agentTools: readonly AgentTool[],
    signal: AbortSignal,
  ) {
    super()
    const tools = new Map(agentTools.map((agentTool) => [agentTool.spec.name, agentTool]))
    this.#run = async ({ toolUseId, name, input }) => {
      const why = calls.start(toolUseId)
      const agentTool = why === undefined ? tools.get(name) : undefined
      // A tool gets its own copy of the input, which it may change.
      const result = agentTool
        ? await settledResult(resultOf(agentTool, copyOfJson(input), toolUseId, recorder, limits, signal))
        : ({ status: 'error', text: why ?? `Unknown tool: ${name}` } as const)
      const { status } = calls.end(toolUseId, result)
      const content = [new TextBlock(sdkText(() => result.text))]
      return new ToolResultBlock({ toolUseId, status: status === 'success' ? status : 'error', content })
    }
  }

  override async *execute(
    ...[, { toolUseBlocks, toolResultBlocks }]: Parameters<ConcurrentToolExecutor['execute']>
  ): ReturnType<ConcurrentToolExecutor['execute']> {
    toolResultBlocks.push(...(await Promise.all(toolUseBlocks.map(this.#run))))
    yield* NO_EVENTS
  }
}

/** No part of a result is reported before its end. */
const NO_EVENTS: readonly never[] = []

/** Copies a value that JSON.parse has made, several times faster than structuredClone. */
function copyOfJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOfJson)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, copyOfJson(field)]))
}

/** Returns the result of a call as the model reads it; an error becomes a result with its message. */
const settledResult = (running: Promise<string>): Promise<Pick<ToolResult, 'status' | 'text'>> =>
  running.then(
    (text) => ({ status: 'success', text }),
    (error) => ({
      status: 'error',
      text: error instanceof ToolFailure ? error.message : `Error: ${error instanceof Error ? error.message : error}`,
    }),
  )

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
export const findCall = ({ segments }: Trajectory, id: string): ToolCall | undefined =>
  callsById(segments).get(id)?.call

const resultText = (content: ToolResultBlock['content'][number]): string => {
  if (content.type === 'textBlock') return content.text
  return content.type === 'jsonBlock' ? JSON.stringify(content.json) : `[${content.type}]`
}
