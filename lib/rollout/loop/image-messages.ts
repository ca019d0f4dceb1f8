/**
 * The conversation of a call for servers that take images in messages only. Such a server renders and encodes replies again, so a call
 * is sent only if that gives the recorded ids.
 */
import type { ImageConversation, RequestImages } from '#lib/engine/images.ts'
import {
  computeSettled,
  type RenderedConversation,
  renderWholeConversation,
  startsWithRawPrompt,
} from '#lib/rollout/prompt/prompt.ts'
import { engineSubject } from '#lib/sampling/engine-names.ts'
import { TemplateError, type TemplateMessage } from '#lib/templates/chat-template.ts'
import { toEngineInput } from '#lib/trajectory/images/engine-input.ts'
import { imagePartsIn, imagePartsOf } from '#lib/trajectory/images/image-boxes.ts'
import type { ChatMessage } from '#lib/trajectory/messages/chat-call.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { unsent } from './call-ending.ts'
import type { ModelDependencies, PromptInput } from './call-input.ts'
import type { Recorder } from './recorder.ts'
import { RunEnded } from './run-ended.ts'

interface Call {
  readonly recorder: Recorder
  readonly promptInput: PromptInput
  /** All ids of the call. */
  readonly inputIds: readonly number[]
  readonly images: RequestImages
}

/** Returns the conversation. Throws RunEnded if it has no messages, or if its render has other ids. */
export async function conversationOfCall(
  { recorder: { trajectory }, promptInput, inputIds, images }: Call,
  { promptEncoder, server }: Pick<ModelDependencies, 'promptEncoder' | 'server'>,
  signal: AbortSignal,
): Promise<ImageConversation> {
  const refuse = (why: string): RunEnded =>
    new RunEnded({
      kind: 'failed',
      code: 'IMAGES_IN_MESSAGES',
      message: `${engineSubject(server.capabilities?.engine ?? 'vllm')} takes images in messages only here. ${why}`,
      hint: 'Start vLLM with --enable-scale-out, so that it takes images beside ids, or choose a server with SGLang.',
      ...unsent(promptInput),
    })
  const messages = promptInput.kind === 'messages' ? promptInput.messages : []
  const parts = [...trajectory.segments.flatMap(imagePartsIn), ...messages.flatMap(imagePartsOf)]
  if (promptInput.kind !== 'messages' || startsWithRawPrompt(trajectory) || parts.length !== images.urls.length)
    throw refuse('This prompt is not made of messages alone, so its ids cannot be sent.')
  const rendered = await computeSettled(
    promptEncoder,
    () => {
      try {
        return renderWholeConversation(trajectory, messages, promptEncoder)
      } catch (error) {
        if (error instanceof TemplateError) return error
        throw error
      }
    },
    signal,
  )
  if (rendered instanceof TemplateError) throw refuse(`Its whole conversation does not render: ${rendered.message}`)
  const sent = toEngineInput({ inputIds, images }).inputIds
  const same = commonIds(rendered.ids, sent)
  if (same < sent.length || same < rendered.ids.length)
    throw refuse(
      `It would render and encode the conversation again, with the token id ${rendered.ids[same] ?? 'of the end'} in place of ${sent[same] ?? 'the end'} at position ${same}, so the run would not be token-in/token-out.`,
    )
  return {
    messages: withImages(rendered, images.urls),
    tools: trajectory.model.tools,
    templateOptions: trajectory.model.template?.options ?? {},
  }
}

/** Returns the messages in the form of chat requests: images as addresses of their data, arguments of calls as JSON. */
function withImages({ messages }: RenderedConversation, urls: readonly string[]): readonly ChatMessage[] {
  const next = urls[Symbol.iterator]()
  return messages.map(
    ({ content, tool_calls: calls, ...message }: TemplateMessage): ChatMessage => ({
      ...message,
      content: Array.isArray(content)
        ? content.map((part) =>
            part?.type === 'image' ? { type: 'image_url', image_url: { url: next.next().value } } : part,
          )
        : content,
      ...(Array.isArray(calls) && { tool_calls: calls.map(withJsonArguments) }),
    }),
  )
}

const withJsonArguments = (call: { readonly function: { readonly name: string; readonly arguments: unknown } }) => ({
  ...call,
  function: { ...call.function, arguments: JSON.stringify(call.function.arguments) },
})
