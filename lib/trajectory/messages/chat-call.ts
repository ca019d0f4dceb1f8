/** The body of /v1/chat/completions as Rollscope sends it and as a recorded request reports it. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

/** A message of a chat request. */
export type ChatMessage = Readonly<Record<string, unknown>>

/** The parameters of a chat request. */
export interface ChatCall {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ToolSpec[]
  /** Sampling parameters by the names of this endpoint. */
  readonly sampling: Readonly<Record<string, unknown>>
  readonly templateOptions: Readonly<Record<string, unknown>>
  /** Name of the LoRA adapter. Omitted: none. */
  readonly adapter?: string | undefined
  readonly rid?: string | undefined
}

/** Returns the body of an OpenAI client with SGLang's extensions: ids and logprobs of the prompt and the reply. */
export function chatBody(call: ChatCall): Record<string, unknown> {
  return {
    model: call.model,
    messages: call.messages,
    ...(call.tools.length > 0 && { tools: chatTools(call.tools) }),
    ...call.sampling,
    ...(Object.keys(call.templateOptions).length > 0 && { chat_template_kwargs: call.templateOptions }),
    ...(call.adapter !== undefined && { lora_path: call.adapter }),
    stream: false,
    logprobs: true,
    return_token_ids: true,
    rid: call.rid,
  }
}

/** A description is always present, because Strands refuses tools without one. */
const chatTools = (tools: readonly ToolSpec[]): readonly object[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description: description || name, parameters: inputSchema },
  }))

/**
 * Returns the messages of the last chat request of these segments; each request stores only what it adds to the
 * previous one.
 */
export function sentMessages(segments: readonly SegmentView[]): readonly ChatMessage[] {
  return segments.reduce<readonly ChatMessage[]>((sent, segment) => {
    const chat = segment.kind === 'response' ? segment.request?.chat : undefined
    return chat ? [...sent.slice(0, chat.kept), ...chat.messages] : sent
  }, [])
}

/** Returns how many messages two bodies have in common at their beginning. */
export function commonMessages(a: readonly ChatMessage[], b: readonly ChatMessage[]): number {
  const differs = a.findIndex((message, index) => JSON.stringify(message) !== JSON.stringify(b[index]))
  return differs < 0 ? a.length : differs
}
