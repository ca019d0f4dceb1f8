/**
 * What the SDK is told of texts in a token-in/token-out run. It copies and writes out its whole history at every turn, for its
 * middleware and its traces, while the model here reads none of it: the text is in the trajectory. Only where OpenTelemetry is
 * registered is it handed over, for then somebody reads the traces.
 */
import { type Agent, InvokeModelStage, MessageAddedEvent, TextBlock, ToolResultBlock } from '@strands-agents/sdk'
import type { AgentModel } from './agent-model.ts'

/** In place of a text. Not empty: the SDK drops blank texts. */
const ELSEWHERE = '(in the trajectory)'

export const sdkText = (text: () => string): string => (isTraced() ? text() : ELSEWHERE)

/** The results of tools come into the history from the SDK itself; of that it keeps a reply and what answers it. */
export function shortenHistory(agent: Agent): void {
  agent.addHook(MessageAddedEvent, ({ message: { content } }) => {
    if (isTraced()) return
    agent.messages.splice(0, agent.messages.length - 2)
    for (const [index, block] of content.entries())
      if (block.type === 'toolResultBlock') {
        const { toolUseId, status } = block
        content[index] = new ToolResultBlock({ toolUseId, status, content: [new TextBlock(ELSEWHERE)] })
      }
  })
}

/** Around the model the SDK writes a span and copies its state; where nobody reads that, the model is asked directly. */
export function answerUntraced(agent: Agent, model: AgentModel): void {
  agent.addMiddleware(InvokeModelStage, async function* (context, next) {
    return isTraced() ? yield* next(context) : { result: await model.answer(context.messages) }
  })
}

/** Where @opentelemetry/api keeps what was registered: the SDK may have a copy of that package of its own. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1')

export const isTraced = (): boolean =>
  (globalThis as { readonly [REGISTRY]?: { readonly trace?: unknown } })[REGISTRY]?.trace !== undefined
