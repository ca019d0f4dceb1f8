/** Builds the document of the single-file page: what it shows of a trajectory, and the state of the view. It contains nothing else. */

import type { ResponseSegment, Segment, ToolCall, Trajectory, Vocab } from '#lib/trajectory/format/trajectory.ts'
import { readOf } from '#lib/trajectory/messages/read-prompt.ts'

/** Contents of an offline page. */
export interface OfflineDocument {
  readonly trajectory: Trajectory
  readonly view: OfflineViewState
}

/** State of the inspector when the page was written: the parameters of its URL, folds and marks. */
export interface OfflineViewState {
  readonly colour: string
  readonly limit: number | undefined
  readonly selection: { readonly anchor: number; readonly focus: number } | undefined
  readonly find: string
  /** Folded segments by number, and folded think blocks by the index of their first token in the trajectory. */
  readonly folds: { readonly segments: readonly number[]; readonly thinks: readonly number[] }
  /** Marks of the token view other than hits: flat pairs [start, end, …] of tokens, half-open. */
  readonly marks: readonly { readonly kind: 'edge' | 'cut' | 'drift'; readonly ranges: readonly number[] }[]
}

/** Parts of a trajectory that the user can leave out. */
export interface OfflineParts {
  readonly alternatives: boolean
  /** Texts and images of given messages, and texts of tool results. Their tokens are always included. */
  readonly messages: boolean
  /** Title, tags, note, notes on tokens and reward. */
  readonly labels: boolean
}

/** Returns the document with the chosen parts. Request settings, tool schemas, chat template and foreign fields are always left out. */
export function offlineDocument(trajectory: Trajectory, view: OfflineViewState, parts: OfflineParts): OfflineDocument {
  const { format, id, createdAt, title, tags, note, notes, reward, model, outcome, provenance, problems } = trajectory
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
        ...(notes && { notes }),
        ...(reward !== undefined && { reward }),
      }),
      model: modelWith(model),
      vocab: vocabOf(segments, trajectory.vocab),
      segments,
      ...(parts.messages && trajectory.imageData && { imageData: trajectory.imageData }),
      outcome: outcomeWith(outcome, parts),
      provenance,
      ...(problems && { problems }),
    },
  }
}

/** Characters that the fonts of the page must have, each once: those of token texts, and those of labels and tool names. */
export interface Characters {
  readonly tokens: string
  readonly labels: string
}

/** Returns the characters of a trajectory. Tokens whose bytes are not text are ignored. */
export function charactersOf({
  title = '',
  tags = [],
  note = '',
  notes = [],
  vocab,
  segments,
}: Trajectory): Characters {
  const names = segments.flatMap((segment) =>
    segment.kind === 'response' ? segment.toolCalls.map(({ name }) => name ?? '') : [],
  )
  return {
    tokens: distinct(Object.values(vocab).map((entry) => (typeof entry === 'string' ? entry : ''))),
    labels: distinct([title, ...tags, note, ...notes.map(({ text }) => text), ...names]),
  }
}

const distinct = (texts: readonly string[]): string => [...new Set(texts.join(''))].join('')

/** Leaves out the chat template, and the tools with their schemas and mocks. */
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
  const { thinks, toolCalls, request, finish, usage, timing, weightVersions, forced, resumed } = segment
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
    ...(forced && { forced }),
    ...(resumed && { resumed: resumed.map(resumptionWith) }),
  }
}

const resumptionWith = ({ at, stopped, request, usage, timing }: Resumption): Resumption => ({
  at,
  ...(stopped && { stopped }),
  request: requestWith(request),
  ...(usage && { usage }),
  ...(timing && { timing }),
})
type Resumption = NonNullable<ResponseSegment['resumed']>[number]

/** Keeps what the page shows of sampling and the prefix cache. Parameters may contain schemas, and the server's name is private. */
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

/** Removes the text of a result, but keeps its status. */
const withoutResult = (call: ToolCall): ToolCall =>
  call.result ? { ...call, result: { ...call.result, text: '' } } : call

function outcomeWith(outcome: Trajectory['outcome'], { messages }: OfflineParts): Trajectory['outcome'] {
  if (messages) return outcome
  const { unsent: _, unsentGiven: __, ...rest } = outcome
  return rest
}

/** Returns the texts of the ids that occur in the segments. */
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
