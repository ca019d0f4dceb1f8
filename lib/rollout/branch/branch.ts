/**
 * Branches of a trajectory: the tokens before a position, unchanged, and what a run adds to them. A branch is a new
 * trajectory; the one that it comes from never changes.
 */
import type { ToolParser } from '#lib/parsers/parser.ts'
import { annotations, vocabularyWriter, withResultsOf } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { withVocabulary } from '#lib/trajectory/events/events.ts'
import type {
  Finish,
  ForcedTokens,
  ForkedFrom,
  Message,
  ResponseSegment,
  Segment,
  ToolCall,
  Trajectory,
} from '#lib/trajectory/format/trajectory.ts'
import { grammarObstacle, resumeObstacle } from '#lib/trajectory/messages/resumable.ts'
import { resizedAlternatives } from '#lib/trajectory/tokens/alternatives.ts'
import { segmentIndexAt, segmentStarts, spansBefore, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Token ids that a branch inserts, and where they come from. */
export interface ForcedIds {
  readonly ids: readonly number[]
  readonly as: ForcedTokens['as']
}

/** The beginning of a branch, and how a run continues it. */
export interface Branch {
  /** The trajectory of the branch before its run; its outcome and its id are those of the other one. */
  readonly trajectory: Trajectory
  /** Messages that the run adds through the chat template. Empty: it continues from the ids. */
  readonly messages: readonly Message[]
  readonly kind: ForkedFrom['kind']
  /** Number of tokens that the branch shares with the other trajectory, if they are known before the template is applied. */
  readonly shared: number
}

/** Why a branch is not possible: a code, what is wrong, and what to do. */
export interface BranchObstacle {
  readonly code: string
  readonly detail: string
  readonly hint: string
  /** The field of the request that is wrong. */
  readonly field: 'at' | 'force' | 'edit' | 'sampling'
}

/** A branch, or why it is not possible. */
export type BranchResult =
  | { readonly ok: true; readonly branch: Branch }
  | { readonly ok: false; readonly why: BranchObstacle }

/** What gives the ids of a branch their meaning. */
export interface BranchReader {
  readonly tokenizer: Tokenizer
  readonly parser: ToolParser
}

/** How a response continues. */
export interface ResponseContinuation {
  /** Ids that are inserted. Omitted: none, the model samples from the position on. */
  readonly forced?: ForcedIds
  /** Parameters with which the model continues. */
  readonly sampling: Readonly<Record<string, unknown>>
  /** Whether the parameters, the server or the limits are not those of the other trajectory. */
  readonly isChanged: boolean
  /** Whether nothing is sampled: the branch ends after the inserted ids. */
  readonly isCut: boolean
}

/**
 * Returns the branch at a sampled token: the tokens before `at` are kept, then the inserted ids. `at` is an index from the first
 * token; the number of tokens continues a trajectory that was interrupted.
 */
export function branchAtToken(
  parent: Trajectory,
  at: number,
  { forced, sampling, isChanged, isCut }: ResponseContinuation,
  { tokenizer, parser }: BranchReader,
): BranchResult {
  const place = placeOf(parent, at)
  if (!place.ok) return place
  const { index, inside } = place
  const isKnown = (id: number) => id < tokenizer.vocabularySize && tokenizer.bytes(id).length > 0
  const foreign = forced?.ids.findIndex((id) => !isKnown(id)) ?? -1
  if (forced && foreign >= 0) return refused(outsideVocabulary(forced.ids, foreign, tokenizer))
  const kept = unboundTo(parent, parent.segments.slice(0, index))
  const response = parent.segments[index]
  const isWhole = forced === undefined && response?.kind === 'response' && inside === response.ids.length
  const kind = forced ? (forced.as === 'alternative' ? 'alternative' : 'forced') : undefined
  const branch = (trajectory: Trajectory): BranchResult => ({
    ok: true,
    branch: {
      trajectory,
      messages: [],
      kind:
        kind ?? (isCut ? 'cut' : at === tokenCount(parent) ? 'continued' : isChanged ? 'settings' : 'sampled_again'),
      shared: at,
    },
  })
  if (inside === 0 && !forced) return branch(kept)
  const before = response?.kind === 'response' ? response : EMPTY_RESPONSE
  const grammar = isCut ? undefined : grammarObstacle(before, sampling)
  if (grammar !== undefined)
    return refused({
      code: 'GRAMMAR',
      detail: `the response cannot be continued from inside. ${grammar}`,
      hint: 'Branch at the first token of the response, or without the grammar.',
      field: 'sampling',
    })
  if (isWhole) return branch({ ...kept, segments: [...kept.segments, withoutColumns(before)] })
  const texted = withVocabulary(kept, vocabularyWriter(kept, tokenizer)(forced?.ids ?? []))
  const cut = cutResponse(before, inside, forced, stopOf(before, forced, sampling, parent))
  const { thinks, toolCalls } = annotations(cut, texted, parser, tokenizer)
  const read = { ...cut, thinks, toolCalls: withResultsOf(before.toolCalls, toolCalls) }
  return branch({ ...texted, segments: [...texted.segments, read] })
}

/** A message of a prompt, with its new text. */
export interface MessageEdit {
  /** Index among the messages of the prompt segment. Omitted: the segment has only one. */
  readonly message?: number | undefined
  readonly text: string
}

/**
 * Returns the branch with a message edited: a tool result, a question or a system prompt. `at` is a token of the prompt segment with
 * the message. The template is applied again from this segment on.
 */
export function branchAtMessage(parent: Trajectory, at: number, { message, text }: MessageEdit): BranchResult {
  const { length } = parent.segments
  const index = at < tokenCount(parent) ? segmentIndexAt(segmentStarts(parent), at) : length
  if (index === length) return refused(outside(at, tokenCount(parent)))
  const segment = parent.segments[index]
  const wrong = (code: string, detail: string, hint: string): BranchResult =>
    refused({ code, detail, hint, field: 'edit' })
  if (segment?.kind !== 'prompt')
    return wrong(
      'NO_MESSAGE',
      `token ${at} was sampled by the model, and only messages are edited`,
      'Force text or ids at a sampled token, or name a token of a prompt.',
    )
  const { messages } = segment
  if (messages.length === 0)
    return wrong(
      'NO_MESSAGE',
      `the prompt with token ${at} has no messages: it was given as text or ids, or its file does not contain them`,
      'Start a new run with another text.',
    )
  const chosen = message ?? 0
  const edited = messages[chosen]
  if (!edited || (message === undefined && messages.length > 1))
    return wrong(
      'NO_MESSAGE',
      `the prompt with token ${at} has ${countWithNoun(messages.length, 'message')}${message === undefined ? '' : `, and none with the index ${message}`}`,
      `Name one in edit.message: ${messages.map(({ role }, position) => `${position} (${role})`).join(', ')}.`,
    )
  const prefix = unboundTo(parent, parent.segments.slice(0, index))
  const branch = (trajectory: Trajectory, newMessages: readonly Message[]): BranchResult => ({
    ok: true,
    branch: {
      trajectory,
      messages: newMessages,
      kind: edited.role === 'tool' ? 'tool_result' : 'message',
      shared: tokenCount(trajectory),
    },
  })
  const own = messages.filter((each) => !resultIn(prefix, each))
  const result = resultIn(prefix, edited)
  if (result) return branch(withEditedResult(prefix, result.id, text), own)
  return branch(
    prefix,
    own.map((each) => (each === edited ? withText(each, text) : each)),
  )
}

/** Returns the call whose result a message is; undefined if the message has its own text. */
function resultIn({ segments }: Trajectory, message: Message): ToolCall | undefined {
  const last = segments.at(-1)
  if (message.role !== 'tool' || message.content !== undefined || last?.kind !== 'response') return undefined
  return last.toolCalls.find(({ id, result }) => id === message.callId && result !== undefined)
}

function withEditedResult(trajectory: Trajectory, callId: string, text: string): Trajectory {
  const edit = (call: ToolCall): ToolCall =>
    call.id === callId && call.result ? { ...call, result: { status: call.result.status, text, edited: true } } : call
  return {
    ...trajectory,
    segments: trajectory.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, toolCalls: segment.toolCalls.map(edit) } : segment,
    ),
  }
}

/** Replaces the text of a message. Its images and other parts stay where they are. */
function withText(message: Message, text: string): Message {
  const { content } = message
  if (typeof content !== 'object') return { ...message, content: text }
  const first = content.findIndex(({ type }) => type === 'text')
  const parts = content.flatMap((part, index) => {
    if (part.type !== 'text') return [part]
    return index === first ? [{ ...part, text }] : []
  })
  return { ...message, content: first < 0 ? [...parts, { type: 'text', text }] : parts }
}

type Place =
  | { readonly ok: true; readonly index: number; readonly inside: number }
  | { readonly ok: false; readonly why: BranchObstacle }

/** Returns the segment of a position, and the number of its tokens that are kept. */
function placeOf(parent: Trajectory, at: number): Place {
  const count = tokenCount(parent)
  const starts = segmentStarts(parent)
  if (at > count) return refused(outside(at, count))
  if (at === count) return placeOfEnd(parent)
  const index = segmentIndexAt(starts, at)
  const segment = elementAt(parent.segments, index)
  const inside = at - elementAt(starts, index)
  if (segment.kind === 'prompt')
    return refused({
      code: 'NOT_SAMPLED',
      detail: `token ${at} is part of a prompt, and a branch begins at a token that the model sampled`,
      hint: 'Name a token of a response, or edit a message of the prompt.',
      field: 'at',
    })
  if (segment.request?.endpoint === 'chat') return refused(OVER_CHAT)
  return { ok: true, index, inside }
}

/** Returns the place after the last token, if the model can go on there. */
function placeOfEnd(parent: Trajectory): Place {
  const last = parent.segments.at(-1)
  if (!last) return refused({ ...outside(0, 0), hint: 'Start a new run: the trajectory has no tokens.' })
  if (last.kind === 'prompt') return { ok: true, index: parent.segments.length, inside: 0 }
  if (last.request?.endpoint === 'chat') return refused(OVER_CHAT)
  // A branch leaves the columns out.
  const { columns: _, ...response } = last
  const why = resumeObstacle({ segments: [response], outcome: { kind: 'ended', reason: 'unknown' } })
  if (why === undefined) return { ok: true, index: parent.segments.length - 1, inside: last.ids.length }
  return refused({
    code: 'NOT_RESUMABLE',
    detail: `the trajectory cannot be continued after its last token. ${why}`,
    hint: 'Name a token of a response, or ask a further question in the same trajectory.',
    field: 'at',
  })
}

const OVER_CHAT: BranchObstacle = {
  code: 'OVER_CHAT',
  detail: 'the response was sampled over a chat endpoint, which takes messages and cannot continue from ids',
  hint: 'Start a run with the endpoint generate.',
  field: 'at',
}

const refused = (why: BranchObstacle) => ({ ok: false, why }) as const

const outside = (at: number, count: number): BranchObstacle => ({
  code: 'OUTSIDE',
  detail: `there is no token ${at}: the trajectory has ${countWithNoun(count, 'token')}`,
  hint: `Name a position from 0 to ${Math.max(0, count - 1)}, or ${count} to continue an interrupted trajectory.`,
  field: 'at',
})

const outsideVocabulary = (
  ids: readonly number[],
  index: number,
  { name, vocabularySize }: Tokenizer,
): BranchObstacle => ({
  code: 'OUTSIDE_VOCABULARY',
  detail: `the id ${ids[index]} at index ${index} is no token of ${name}`,
  hint: Number.isFinite(vocabularySize)
    ? `Its ids are 0 to ${vocabularySize - 1}.`
    : 'The id may belong to another tokenizer.',
  field: 'force',
})

const EMPTY_RESPONSE: ResponseSegment = { kind: 'response', ids: [], thinks: [], toolCalls: [] }

/** Returns the beginning of a trajectory without what belongs to the whole of it: labels, columns of trainers, problems of its file. */
function unboundTo(parent: Trajectory, segments: readonly Segment[]): Trajectory {
  const { format, id, createdAt, model, vocab, outcome, provenance, columnMeanings, imageData, problems } = parent
  const changes = problems?.filter(({ kind }) => kind === 'model') ?? []
  const { logprobs } = columnMeanings ?? {}
  return {
    format,
    id,
    createdAt,
    model,
    vocab,
    segments: segments.map(withoutColumns),
    outcome,
    provenance,
    ...(changes.length > 0 && { problems: changes }),
    ...(logprobs && { columnMeanings: { logprobs } }),
    ...(imageData && { imageData }),
  }
}

function withoutColumns({ columns: _, ...segment }: Segment): Segment {
  return segment
}

/** Returns the stop of a response whose turn the inserted ids end; undefined if the model continues after them. */
function stopOf(
  { finish }: ResponseSegment,
  forced: ForcedIds | undefined,
  sampling: ResponseContinuation['sampling'],
  { model }: Trajectory,
): Finish | undefined {
  const last = forced?.ids.at(-1)
  if (last === undefined || sampling.ignore_eos === true) return undefined
  const own = Array.isArray(sampling.stop_token_ids) ? sampling.stop_token_ids : []
  const ends = [model.tokenizer?.endOfTurnId, finish?.kind === 'stop' ? finish.matched : undefined, ...own]
  return ends.includes(last) ? { kind: 'stop', matched: last } : undefined
}

/** Returns the first `count` tokens of a response, and then the inserted ids. Its think blocks and calls are not read yet. */
function cutResponse(
  response: ResponseSegment,
  count: number,
  forced: ForcedIds | undefined,
  stop: Finish | undefined,
): ResponseSegment {
  const { logprobs, mask, topLogprobs, request, resumed, weightVersions, problems } = response
  const insertedIds = forced?.ids ?? []
  const instead = response.ids[count]
  const earlier = spansBefore(response.forced ?? [], count)
  const inserted: ForcedTokens[] = forced
    ? [{ start: count, end: count + insertedIds.length, as: forced.as, ...(instead !== undefined && { instead }) }]
    : []
  const all = [...earlier, ...inserted]
  const calls = resumed?.filter(({ at }) => at < count) ?? []
  const weights = spansBefore(weightVersions ?? [], count)
  const known = problems?.filter(({ index }) => index !== undefined && index < count) ?? []
  return {
    kind: 'response',
    ids: [...response.ids.slice(0, count), ...insertedIds],
    ...(logprobs && { logprobs: [...logprobs.slice(0, count), ...insertedIds.map(() => null)] }),
    ...((mask || all.length > 0) && {
      mask: [...(mask?.slice(0, count) ?? Array<1>(count).fill(1)), ...insertedIds.map(() => 0 as const)],
    }),
    ...(topLogprobs && {
      // The first inserted id keeps the alternatives of its position, which the model had after the same tokens.
      topLogprobs: resizedAlternatives(
        resizedAlternatives(topLogprobs, count + Math.min(1, insertedIds.length)),
        count + insertedIds.length,
      ),
    }),
    thinks: [],
    toolCalls: [],
    // Of a response that consists of inserted ids, no call sampled a token.
    ...(request && count > 0 && { request }),
    ...(weights.length > 0 && { weightVersions: weights }),
    ...(all.length > 0 && { forced: all }),
    ...(calls.length > 0 && { resumed: calls }),
    ...(known.length > 0 && { problems: known }),
    finish: stop ?? { kind: 'cancelled' },
  }
}
