/** The body of /v1/chat/completions as Rollscope sends it, and as a recorded request says that it was sent. */
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

export type ChatMessage = Readonly<Record<string, unknown>>

export interface ChatCall {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ToolSpec[]
  /** By the names of this endpoint. */
  readonly sampling: Readonly<Record<string, unknown>>
  readonly templateOptions: Readonly<Record<string, unknown>>
  readonly rid?: string | undefined
}

/** As an OpenAI client sends it, and what SGLang takes besides: the ids and logprobs of what was read and written. */
export function chatBody(call: ChatCall): Record<string, unknown> {
  return {
    model: call.model,
    messages: call.messages,
    ...(call.tools.length > 0 && { tools: chatTools(call.tools) }),
    ...call.sampling,
    ...(Object.keys(call.templateOptions).length > 0 && { chat_template_kwargs: call.templateOptions }),
    stream: false,
    logprobs: true,
    return_token_ids: true,
    rid: call.rid,
  }
}

/** A description is never missing: Strands refuses tools without one. */
const chatTools = (tools: readonly ToolSpec[]): readonly object[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description: description || name, parameters: inputSchema },
  }))

/** The messages of the last chat request among these segments; each request holds only what it adds to the one before. */
export function sentMessages(segments: readonly SegmentView[]): readonly ChatMessage[] {
  return segments.reduce<readonly ChatMessage[]>((sent, segment) => {
    const chat = segment.kind === 'response' ? segment.request?.chat : undefined
    return chat ? [...sent.slice(0, chat.kept), ...chat.messages] : sent
  }, [])
}

/** With how many of the same messages two bodies begin. */
export function commonMessages(a: readonly ChatMessage[], b: readonly ChatMessage[]): number {
  const differs = a.findIndex((message, index) => JSON.stringify(message) !== JSON.stringify(b[index]))
  return differs < 0 ? a.length : differs
}
