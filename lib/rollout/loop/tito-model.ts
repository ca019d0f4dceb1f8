/**
 * A Strands model that runs token-in/token-out. The trajectory is the record: the SDK's messages only show that it is
 * the model's turn and which tools to call (sdk-text.ts).
 */

import { MALFORMED_CALL } from '#lib/rollout/prompt/prompt.ts'
import type { Message, ResponseSegment, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { responseText } from '#lib/trajectory/messages/conversation.ts'
import { AgentModel, type ToolUse } from './agent-model.ts'
import type { PromptInput } from './call-input.ts'
import type { Recorder } from './recorder.ts'
import { sdkText } from './sdk-text.ts'

/** Sends the new input and returns the recorded response; throws RunEnded. */
export type CallModel = (promptInput: PromptInput) => Promise<ResponseSegment>

/**
 * Creates the model. `question` is the input of its first call; later calls add the results of earlier calls. With 'one
 * response' the SDK receives no calls: they are recorded, and no tool runs.
 */
export function titoModel(
  recorder: Recorder,
  question: PromptInput,
  mode: 'calls are run' | 'one response',
  call: CallModel,
): AgentModel {
  let promptInput = question
  return new AgentModel(recorder, async () => {
    const response = await call(promptInput)
    const calls = mode === 'calls are run' ? response.toolCalls : []
    promptInput = { kind: 'messages', messages: calls.map(({ id }): Message => ({ role: 'tool', callId: id })) }
    return {
      response,
      text: sdkText(() => responseText(response, recorder.trajectory)),
      calls: calls.map(toolUse),
    }
  })
}

/** Names a tool that the SDK can look up even for a malformed call: the hook before the tool prevents its execution. */
const toolUse = (call: ToolCall): ToolUse =>
  call.kind === 'parsed'
    ? { id: call.id, name: call.name, input: call.input }
    : { id: call.id, name: call.name ?? MALFORMED_CALL, input: {} }
