/**
 * Joins the calls of one run to trajectories. A call whose prompt begins with all tokens so far continues them. If the same
 * conversation was encoded again with other tokens, it begins a trajectory of its own, which names the one it continues.
 */
import type { JsonObject } from '#lib/json/json-object.ts'
import { inputHash } from '#lib/trajectory/format/input-hash.ts'
import type {
  ColumnMeaning,
  ForkedFrom,
  Message,
  Outcome,
  ResponseSegment,
  Segment,
  Trajectory,
  Vocab,
} from '#lib/trajectory/format/trajectory.ts'
import { commonMessages } from '#lib/trajectory/messages/chat-call.ts'
import { assistantMessage, readForeignMessage } from '#lib/trajectory/messages/foreign-message.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { hasLogprobs } from '../columns.ts'
import { foreignTrajectory } from '../foreign-trajectory.ts'
import type { RecordSource } from '../format.ts'
import type { ModelCall, ReplyEngine } from './model-call.ts'

/** What a file says about a run besides its calls. */
export interface RunFacts {
  readonly format: string
  readonly reward?: number | undefined
  readonly group?: Trajectory['group']
  /** Omitted: as the last call ended. */
  readonly outcome?: Outcome | undefined
  readonly lacked?: readonly string[]
  readonly rest?: JsonObject | undefined
}

/** Returns the trajectories of a run's calls, in the order in which they begin. */
export function trajectoriesOfCalls(
  calls: readonly ModelCall[],
  run: RunFacts,
  source: RecordSource,
): readonly Trajectory[] {
  const chains: Chain[] = []
  for (const call of calls) {
    const before = chains.findLast((chain) => continues(call, chain))
    if (before) addTo(before, call)
    else chains.push(newChain(call, forkOf(call, chains), source.newId()))
  }
  return chains.map((chain) => trajectoryOf(chain, run, source))
}

/** Calls in which each prompt begins with all tokens, or all messages, before it. */
interface Chain {
  readonly id: string
  readonly calls: ModelCall[]
  /** All ids so far; undefined if those of any prompt are unknown. */
  ids: number[] | undefined
  /** Number of ids of the last prompt. */
  promptLength: number
  readonly forkedFrom: ForkedFrom | undefined
}

function newChain(call: ModelCall, forkedFrom: ForkedFrom | undefined, id: string): Chain {
  const chain: Chain = { id, calls: [], ids: [], promptLength: 0, forkedFrom }
  addTo(chain, call)
  return chain
}

function addTo(chain: Chain, call: ModelCall): void {
  chain.calls.push(call)
  chain.promptLength = call.prompt?.ids.length ?? 0
  chain.ids = chain.ids && call.prompt ? [...call.prompt.ids, ...call.response.ids] : undefined
}

/** Calls without ids continue by their messages. */
function continues(call: ModelCall, chain: Chain): boolean {
  const last = elementAt(chain.calls, chain.calls.length - 1)
  if (chain.ids && call.prompt)
    return chain.ids.length > 0 && commonIds(chain.ids, call.prompt.ids) === chain.ids.length
  return !chain.ids && !call.prompt && !hasIds(last) && !hasIds(call) && continuedMessages(call, last) > 0
}

const hasIds = ({ response }: ModelCall): boolean => response.ids.length > 0

/** Returns the number of messages of the earlier request and its reply if the later request begins with them; 0 otherwise. */
function continuedMessages({ messages }: ModelCall, { messages: before }: ModelCall): number {
  if (!messages || !before || messages.length <= before.length) return 0
  const isContinued =
    commonMessages(before, messages) === before.length && elementAt(messages, before.length).role === 'assistant'
  return isContinued ? before.length + 1 : 0
}

/** Finds the trajectory whose conversation a call continues although its tokens do not. */
function forkOf(call: ModelCall, chains: readonly Chain[]): ForkedFrom | undefined {
  const { prompt } = call
  if (!prompt) return undefined
  const candidates = chains.flatMap((chain) => {
    const last = elementAt(chain.calls, chain.calls.length - 1)
    if (!chain.ids) return []
    const token = commonIds(chain.ids, prompt.ids)
    const isKnown = call.messages !== undefined && last.messages !== undefined
    // Without messages only a prompt that contains the whole earlier prompt certainly continues it.
    const isLater = isKnown ? continuedMessages(call, last) > 0 : token > 0 && token >= chain.promptLength
    return isLater ? [{ chain, token }] : []
  })
  const most = Math.max(...candidates.map(({ token }) => token))
  const best = candidates.find(({ token }) => token === most)
  return best && { trajectory: best.chain.id, token: best.token, kind: 'rendered_again' }
}

function trajectoryOf(chain: Chain, run: RunFacts, source: RecordSource): Trajectory {
  const { calls, forkedFrom, id } = chain
  const segments = calls.flatMap((call, index) => segmentsOf(call, calls[index - 1]))
  const first = elementAt(calls, 0)
  const vocab: Vocab = Object.assign({}, ...calls.toReversed().map((call) => call.vocab))
  const meaning = meaningOf(calls)
  const tools = calls.findLast((call) => call.tools.length > 0)?.tools ?? []
  const name = calls.find(({ model }) => model !== undefined)?.model
  const rests = calls.map(({ rest, sampling, prompt }) => ({
    ...rest,
    ...(sampling && !prompt && Object.keys(sampling).length > 0 && { request: sampling }),
  }))
  const rest = {
    ...run.rest,
    ...(rests.some((one) => Object.keys(one).length > 0) && { calls: rests }),
  }
  const isAsked = calls.some(({ sampling, messages }) => sampling !== undefined || messages !== undefined)
  const isScored = hasLogprobs(segments.filter(({ kind }) => kind === 'response'))
  return foreignTrajectory(
    {
      format: run.format,
      segments,
      outcome: run.outcome ?? outcomeOfReply(elementAt(calls, calls.length - 1).response),
      reward: run.reward,
      lacked: [...new Set([...calls.flatMap(({ lacked }) => lacked), ...(run.lacked ?? [])])],
      ...(isScored && { columnMeanings: { logprobs: meaning } }),
      ...(run.group && { group: run.group }),
      forkedFrom,
      modelName: name,
      tools: isAsked ? tools : undefined,
      hasSampling: isAsked,
      vocab,
      createdAt: first.createdAt,
      rest: Object.keys(rest).length > 0 ? rest : undefined,
    },
    source,
    id,
  )
}

/** Returns the new part of a prompt and the response. */
function segmentsOf(call: ModelCall, before: ModelCall | undefined): readonly Segment[] {
  const sharedLength = before?.prompt ? before.prompt.ids.length + before.response.ids.length : 0
  const messages = newMessages(call, before)
  const { ids = [], logprobs, topLogprobs, problems, derivation } = call.prompt ?? {}
  const part = {
    ids: sharedLength === 0 ? ids : ids.slice(sharedLength),
    ...(logprobs && { logprobs: logprobs.slice(sharedLength) }),
    ...(topLogprobs && {
      topLogprobs: {
        k: topLogprobs.k,
        ids: topLogprobs.ids.slice(sharedLength * topLogprobs.k),
        logprobs: topLogprobs.logprobs.slice(sharedLength * topLogprobs.k),
      },
    }),
  }
  const isEmpty = part.ids.length === 0 && messages.length === 0
  return [
    ...(isEmpty
      ? []
      : [
          {
            kind: 'prompt' as const,
            ...part,
            messages,
            ...(derivation && part.ids.length > 0 && { derivation }),
            ...(problems && { problems }),
          },
        ]),
    { ...call.response, ...requestOf(call, before) },
  ]
}

/** Returns the messages after those of the earlier request and its reply; all of them if it is not continued. */
function newMessages(call: ModelCall, before: ModelCall | undefined): readonly Message[] {
  if (!call.messages) return []
  const from = before ? continuedMessages(call, before) : 0
  if (before && from === 0) return []
  return call.messages.slice(from).flatMap((message) => readForeignMessage(message) ?? [])
}

/** A request is known if the file has it with the ids of its prompt. */
function requestOf(call: ModelCall, before: ModelCall | undefined): Pick<ResponseSegment, 'request'> {
  const { prompt, sampling, messages, model } = call
  if (!prompt || !sampling) return {}
  const sharedMessages = commonMessages(before?.messages ?? [], messages ?? [])
  return {
    request: {
      ...(messages && {
        endpoint: 'chat' as const,
        chat: { model: model ?? '', kept: sharedMessages, messages: messages.slice(sharedMessages) },
      }),
      samplingParams: sampling,
      inputLength: prompt.ids.length,
      inputHash: inputHash(prompt.ids),
      streamed: false,
    },
  }
}

/** Returns how a run ended with this reply. After a call of a tool this is unknown: the file does not say what happened next. */
export function outcomeOfReply({ finish, message }: ResponseSegment): Outcome {
  if (finish?.kind === 'length') return { kind: 'ended', reason: 'length' }
  if (finish?.kind === 'abort') return { kind: 'ended', reason: 'aborted' }
  const calls = message ? (assistantMessage(message).toolCalls ?? []) : []
  const hasEnded = finish?.kind === 'stop' && message !== undefined && calls.length === 0
  return { kind: 'ended', reason: hasEnded ? 'end_turn' : 'unknown' }
}

/** vLLM and llama.cpp return the logprobs of the unchanged logits, SGLang those of the logits divided by the temperature. */
const VALUES: Readonly<Record<ReplyEngine, 'raw' | 'processed'>> = {
  vllm: 'raw',
  'llama.cpp': 'raw',
  sglang: 'processed',
}

/** SGLang can be set to return raw logprobs; at an unknown temperature nothing shows which they are. */
function meaningOf(calls: readonly ModelCall[]): ColumnMeaning {
  const { engine, temperature } = elementAt(calls, 0)
  const isSame = calls.every((call) => call.engine === engine && call.temperature === temperature)
  const values = engine && VALUES[engine]
  const known = isSame && temperature !== undefined ? { temperature } : {}
  return {
    quantity: 'logprob',
    model: 'rollout',
    ...(isSame && engine && { engine }),
    ...(isSame && values === 'raw' && { values, ...known }),
    ...(isSame && values === 'processed' && temperature !== undefined && { values, temperature }),
  }
}
