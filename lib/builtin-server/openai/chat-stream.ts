/**
 * Streams a chat completion chunk for chunk as SGLang 0.5.23 does: the role, then reasoning, text and calls as soon as they can be
 * separated, then the end of each reply, with ids and counts if requested.
 */
import type { IndexedReply } from '#lib/builtin-server/generate/generate-endpoint.ts'
import type { ReplyJson } from '#lib/builtin-server/generate/reply.ts'
import type { StreamRequest } from '#lib/builtin-server/http/body-fields.ts'
import { serverSentEvent } from '#lib/builtin-server/http/event-stream.ts'
import { type CallDelta, type CallStream, callStream } from '#lib/builtin-server/messages/call-stream.ts'
import { newCallId } from '#lib/builtin-server/messages/chat-message.ts'
import { QWEN3, type ReasoningStream, reasoningStream } from '#lib/builtin-server/messages/reasoning.ts'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { type ChatBody, calledTools } from './chat-body.ts'
import { type Counts, chatLogprobs, createdSeconds, totalUsage, usage } from './openai-reply.ts'

/** The parts of a request on which its answer depends. */
export interface Chat {
  readonly body: ChatBody
  readonly promptIds: readonly number[]
  readonly vocabulary: Vocabulary
  /** Returns a counter of one reply's reasoning tokens: it receives ids piece by piece and returns the count so far. */
  readonly count: () => (ids: readonly number[]) => number
}

/** Yields the events of a chat completion without the last one that every stream has. */
export async function* chatEvents(
  growing: AsyncIterable<IndexedReply>,
  chat: Chat,
  streamRequest: StreamRequest,
): AsyncGenerator<string> {
  const { body, promptIds } = chat
  const write = chunkWriter(body.model)
  const choices = new Map<number, GrowingChoice>()
  let id = ''
  for await (const { index, reply } of growing) {
    id = reply.meta_info.id
    const begun = choices.get(index)
    const choice = begun ?? growingChoice(chat, index)
    if (!begun) {
      choices.set(index, choice)
      yield write.text(id, index, { role: 'assistant', content: '' })
    }
    yield* choice.chunks(reply, write, streamRequest)
  }
  const all = [...choices.values()].sort((a, b) => a.index - b.index)
  for (const choice of choices.values()) yield write.text(id, choice.index, {}, choice.ending())
  const { extensionInputIds, extensionOutputIds } = body.returns
  if (extensionInputIds || extensionOutputIds) {
    const sglext = {
      ...(extensionInputIds && { input_ids: promptIds }),
      ...(extensionOutputIds && { output_ids: all.map(({ ids }) => ids) }),
    }
    yield write.whole(id, [], { usage: null, sglext })
  }
  if (streamRequest.includesUsage) {
    const counts = all.map((choice) => choice.counts())
    yield write.whole(id, [], { usage: totalUsage(counts, body.count) })
  }
}

interface ChunkWriter {
  /** Returns a chunk with reasoning and text; an absent text is omitted, an absent reasoning is null. */
  text(id: string, index: number, delta: TextDelta, own?: object): string
  /** Returns a chunk with calls and the text beside them; absent fields are null. */
  whole(id: string, choices: readonly object[], own: object): string
}

interface TextDelta {
  readonly role?: 'assistant'
  readonly reasoning?: string
  readonly content?: string
}

function chunkWriter(model: string): ChunkWriter {
  const head = { object: 'chat.completion.chunk', created: createdSeconds(), model }
  return {
    text(id, index, { reasoning = null, ...delta }, { usage: counts, ...own }: { usage?: object } = {}) {
      const choice = { index, delta: { reasoning_content: reasoning, ...delta }, ...NO_END, ...own }
      return serverSentEvent({ id, ...head, choices: [choice], ...(counts && { usage: counts }) })
    },
    whole: (id, choices, own) => serverSentEvent({ id, ...head, choices, ...own }),
  }
}

const NO_END = { logprobs: null, finish_reason: null, matched_stop: null }

interface GrowingChoice {
  readonly index: number
  /** All ids so far. */
  readonly ids: readonly number[]
  counts(): Counts
  chunks(reply: ReplyJson, write: ChunkWriter, streamRequest: StreamRequest): Generator<string>
  ending(): object
}

function growingChoice({ body, promptIds, vocabulary, count }: Chat, index: number): GrowingChoice {
  const reasoning: ReasoningStream | undefined =
    body.reasoning === 'kept' ? undefined : reasoningStream(QWEN3, body.reasoning === 'begun', !body.streamsReasoning)
  const tools = calledTools(body)
  const calls: CallStream | undefined = tools && callStream(tools)
  const counted = count()
  const ids: number[] = []
  let reasoningTokens = 0
  let hasCalls = false
  let last: ReplyJson | undefined
  const counts = (): Counts => ({ prompt: promptIds.length, completion: ids.length, reasoning: reasoningTokens })

  return {
    index,
    ids,
    counts,
    *chunks(reply, write, streamRequest) {
      last = reply
      ids.push(...reply.output_ids)
      reasoningTokens = counted(reply.output_ids)
      const { id, finish_reason: finish } = reply.meta_info
      const usagePart = streamRequest.includesUsageEach ? { usage: usage(counts()) } : {}
      // Logprobs are in the first chunk of the step, whatever it contains.
      let logprobs: object | undefined =
        body.returnsLogprobs && reply.output_ids.length > 0 ? chatLogprobs(reply, vocabulary) : undefined
      const text = (delta: TextDelta): string => {
        const chunk = write.text(id, index, delta, { ...(logprobs && { logprobs }), ...usagePart })
        logprobs = undefined
        return chunk
      }
      const ends = finish !== null && finish.type !== 'abort'
      const read = reasoning?.read(reply.text) ?? { reasoning: '', rest: reply.text }
      const lastPart = ends ? reasoning?.end() : undefined
      const thought = read.reasoning + (lastPart?.reasoning ?? '')
      const rest = read.rest + (lastPart?.rest ?? '')
      if (thought !== '') yield text({ reasoning: thought })
      if (calls) {
        const found = calls.read(rest)
        const unsent = finish ? calls.end() : undefined
        if (found.content !== '') yield write.whole(id, [beside(index, { content: found.content })], usageOr(usagePart))
        for (const call of found.calls) {
          hasCalls = true
          yield write.whole(id, [beside(index, { tool_calls: [toolCall(call)] })], usageOr(usagePart))
        }
        if (unsent) yield write.whole(id, [beside(index, { tool_calls: [toolCall(unsent)] })], { usage: null })
      } else if (rest !== '') yield text({ content: rest })
      if (logprobs) yield text({})
    },
    ending() {
      const finish = last?.meta_info.finish_reason
      const type = hasCalls && finish?.type === 'stop' ? 'tool_calls' : (finish?.type ?? null)
      // SGLang streams the matched stop even beside a call, although a complete reply omits it.
      return { finish_reason: type, matched_stop: finish?.type === 'stop' ? finish.matched : null }
    },
  }
}

const usageOr = ({ usage: chunkUsage }: { readonly usage?: object }): object => ({ usage: chunkUsage ?? null })

const beside = (index: number, { content = null, ...delta }: { content?: string | null; tool_calls?: object[] }) => ({
  index,
  delta: { role: null, content, reasoning_content: null, ...delta },
  ...NO_END,
})

const toolCall = ({ index, name, arguments: written }: CallDelta): object => ({
  id: name === undefined ? null : newCallId(),
  index,
  type: 'function',
  function: { name: name ?? null, arguments: written },
})
