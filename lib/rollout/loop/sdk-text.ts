/**
 * Keeps texts out of the SDK in a token-in/token-out run. It copies and serializes its whole history at every turn, for
 * its middleware and its traces, while this model reads none of it: the text is in the trajectory. Texts are only
 * passed if OpenTelemetry is registered, because then traces are read.
 */
import { type Agent, InvokeModelStage, MessageAddedEvent, TextBlock, ToolResultBlock } from '@strands-agents/sdk'
import type { AgentModel } from './agent-model.ts'

/** The placeholder of a text. It is not empty because the SDK drops blank texts. */
const ELSEWHERE = '(in the trajectory)'

/** Returns the text for the SDK: the real one if traces are read, otherwise a placeholder. */
export const sdkText = (text: () => string): string => (isTraced() ? text() : ELSEWHERE)

/** Shortens the history, which the SDK fills with tool results itself: only the newest message remains. */
export function shortenHistory(agent: Agent): void {
  agent.addHook(MessageAddedEvent, ({ message: { content } }) => {
    if (isTraced()) return
    agent.messages.splice(0, agent.messages.length - 1)
    for (const [index, block] of content.entries())
      if (block.type === 'toolResultBlock') {
        const { toolUseId, status } = block
        content[index] = new ToolResultBlock({ toolUseId, status, content: [new TextBlock(ELSEWHERE)] })
      }
  })
}

/** Calls the model directly in an untraced run, without the span and the state that the SDK would write around it. */
export function answerUntraced(agent: Agent, model: AgentModel): void {
  agent.addMiddleware(InvokeModelStage, async function* (context, next) {
    return isTraced() ? yield* next(context) : { result: await model.answer(context.messages) }
  })
}

/** The key under which @opentelemetry/api registers: the SDK may have its own copy of that package. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

/** Returns whether OpenTelemetry is registered, so that traces of the SDK are read. */
export const isTraced = (): boolean =>
  (globalThis as { readonly [REGISTRY]?: { readonly trace?: unknown } })[REGISTRY]?.trace !== undefined
