/** What the single-file page holds: what it shows of a trajectory, and how it was looked at. Nothing else travels with it. */

import type { ResponseSegment, Segment, ToolCall, Trajectory, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { readOf } from '#lib/trajectory/messages/read-prompt.ts'

export interface OfflineDocument {
  readonly trajectory: Trajectory
  readonly view: OfflineView
}

/** As the inspector was: what its address says, and what is folded. */
export interface OfflineView {
  readonly colour: string
  readonly limit: number | undefined
  readonly selection: { readonly anchor: number; readonly focus: number } | undefined
  readonly find: string
  /** Segments by number, think blocks by the index of their first token in the trajectory. */
  readonly folds: { readonly segments: readonly number[]; readonly thinks: readonly number[] }
  /** Of the token view, beside what was found: flat [start, end], half-open. */
  readonly marks: readonly { readonly kind: 'edge' | 'cut' | 'drift'; readonly ranges: readonly number[] }[]
}

/** What travels only if it is wanted. */
export interface OfflineParts {
  readonly alternatives: boolean
  /** The messages as they were given, and the texts of tool results; their tokens are there in any case. */
  readonly messages: boolean
  /** Title, tags, note and reward. */
  readonly labels: boolean
}

export function offlineDocument(trajectory: Trajectory, view: OfflineView, parts: OfflineParts): OfflineDocument {
  const { format, id, createdAt, title, tags, note, reward, model, outcome, provenance, problems } = trajectory
  const segments = trajectory.segments.map((segment) => segmentWith(segment, parts))
  return {
    view,
    trajectory: {
      format,
      id,
      createdAt,
      ...(parts.labels && {
        ...(title !== undefined && { title }),
        ...(tags && { tags }),
        ...(note !== undefined && { note }),
        ...(reward !== undefined && { reward }),
      }),
      model: modelWith(model),
      vocab: vocabOf(segments, trajectory.vocab),
      segments,
      outcome: outcomeWith(outcome, parts),
      provenance,
      ...(problems && { problems }),
    },
  }
}

/** The characters in which tokens are written, and those of what is said about them: each once. */
export interface Characters {
  readonly tokens: string
  readonly labels: string
}

export function charactersOf({ title = '', tags = [], note = '', vocab, segments }: Trajectory): Characters {
  const names = segments.flatMap((segment) =>
    segment.kind === 'response' ? segment.toolCalls.map(({ name }) => name ?? '') : [],
  )
  return {
    tokens: distinct(Object.values(vocab).map((entry) => (typeof entry === 'string' ? entry : ''))),
    labels: distinct([title, ...tags, note, ...names]),
  }
}

const distinct = (texts: readonly string[]): string => [...new Set(texts.join(''))].join('')

/** Without the chat template, the schemas of the tools and their mocks. */
function modelWith({ name, contextLength, tokenizer, parser }: Trajectory['model']): Trajectory['model'] {
  return {
    ...(name !== undefined && { name }),
    ...(contextLength !== undefined && { contextLength }),
    ...(tokenizer && { tokenizer }),
    tools: [],
    ...(parser !== undefined && { parser }),
  }
}

function segmentWith(segment: Segment, parts: OfflineParts): Segment {
  const { ids, logprobs, mask, topLogprobs, columns, problems } = segment
  const shared = {
    ids,
    ...(logprobs && { logprobs }),
    ...(mask && { mask }),
    ...(topLogprobs && parts.alternatives && { topLogprobs }),
    ...(columns && { columns }),
    ...(problems && { problems }),
  }
  if (segment.kind === 'prompt') {
    const { messages, derivation } = segment
    return {
      kind: 'prompt',
      ...shared,
      messages: parts.messages ? messages : messages.map(({ role }) => ({ role, content: '' })),
      ...(derivation && { derivation }),
    }
  }
  const { thinks, toolCalls, request, finish, usage, timing, weightVersions } = segment
  return {
    kind: 'response',
    ...shared,
    thinks,
    toolCalls: parts.messages ? toolCalls : toolCalls.map(withoutResult),
    ...(request && { request: requestWith(request) }),
    ...(finish && { finish }),
    ...(usage && { usage }),
    ...(timing && { timing }),
    ...(weightVersions && { weightVersions }),
  }
}

/** What is said of sampling and of the prefix cache: parameters may hold whole schemas, and a server's name is the user's. */
function requestWith({ endpoint, read, samplingParams, inputLength, inputHash, streamed, scoring }: Request): Request {
  const { temperature, top_p } = samplingParams
  return {
    server: '',
    ...(endpoint && { endpoint }),
    ...(read && { read }),
    samplingParams: { ...(temperature !== undefined && { temperature }), ...(top_p !== undefined && { top_p }) },
    inputLength,
    inputHash,
    streamed,
    ...(scoring && { scoring }),
  }
}
type Request = NonNullable<ResponseSegment['request']>

/** Whether it succeeded stays. */
const withoutResult = (call: ToolCall): ToolCall =>
  call.result ? { ...call, result: { ...call.result, text: '' } } : call

function outcomeWith(outcome: Trajectory['outcome'], { messages }: OfflineParts): Trajectory['outcome'] {
  if (messages || outcome.kind === 'running') return outcome
  const { unsent: _, unsentGiven: __, ...rest } = outcome
  return rest
}

/** The texts of the tokens that are there. */
function vocabOf(segments: readonly Segment[], vocab: Vocab): Vocab {
  const used = new Set<number>()
  for (const segment of segments) {
    for (const id of segment.ids) used.add(id)
    for (const id of segment.topLogprobs?.ids ?? []) used.add(id)
    for (const id of readOf(segment)?.ids ?? []) used.add(id)
  }
  return Object.fromEntries(
    [...used].flatMap((id) => (Object.hasOwn(vocab, id) ? [[id, vocab[id] as Vocab[string]]] : [])),
  )
}
