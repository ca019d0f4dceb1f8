/** The loop of an agent without the Strands SDK: it shows what the rest of Rollscope costs. Its replies only call known tools. */

import type { CallDependencies, CallSettings, PromptInput } from '#lib/rollout/loop/call-input.ts'
import { callModel } from '#lib/rollout/loop/model-call.ts'
import { createRecorder } from '#lib/rollout/loop/recorder.ts'
import type { RolloutStart } from '#lib/rollout/loop/rollout.ts'
import type { AgentTool } from '#lib/rollout/tools/tool.ts'
import { createInputCheck } from '#lib/rollout/tools/tool-input.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { ToolCall } from '#lib/trajectory/format/trajectory.ts'

/** Runs a rollout to the end of its turn, and returns the events that `rollout` yields for it. */
export async function rolloutWithoutSdk(
  { rolloutId, trajectory, messages }: RolloutStart,
  settings: CallSettings,
  dependencies: CallDependencies & { readonly tools: readonly AgentTool[] },
  signal: AbortSignal,
): Promise<readonly RolloutEvent[]> {
  const events: RolloutEvent[] = []
  const recorder = createRecorder(rolloutId, trajectory, dependencies.promptEncoder.tokenizer, (event) =>
    events.push(event),
  )
  const checks = new Map(
    dependencies.tools.map((tool) => [tool.spec.name, { tool, check: createInputCheck(tool.spec.inputSchema) }]),
  )
  const { now, elapsedMs } = dependencies
  const run = async (call: ToolCall): Promise<void> => {
    const found = checks.get(call.name ?? '')
    if (call.kind !== 'parsed' || !found || found.check(call.input) !== undefined) throw new Error('an unexpected call')
    const startedAt = now().toISOString()
    const started = elapsedMs()
    recorder.emit({ type: 'tool-started', callId: call.id, startedAt })
    const text = await found.tool.run(call.input, { signal, number: 1, hold() {}, untimed: (waiting) => waiting })
    const result = { status: 'success', text, startedAt, elapsedMs: elapsedMs() - started } as const
    recorder.emit({ type: 'tool-ended', callId: call.id, result })
  }
  let input: PromptInput = { kind: 'messages', messages }
  for (;;) {
    const { toolCalls } = await callModel(recorder, input, settings, dependencies, signal)
    if (toolCalls.length === 0) break
    await Promise.all(toolCalls.map(run))
    input = { kind: 'messages', messages: toolCalls.map(({ id }) => ({ role: 'tool', callId: id })) }
  }
  recorder.emit({ type: 'ended', outcome: { kind: 'ended', reason: 'end_turn' } })
  return events
}
