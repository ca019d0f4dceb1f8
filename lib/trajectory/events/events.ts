/**
 * Rollout events and the only function that applies one to a trajectory. Server, browser and tests share it: replaying
 * the events of a rollout gives its trajectory.
 */

import { unreachable } from '#lib/util/unreachable.ts'
import type { ResponseSegment, Segment, ToolCall, ToolResult, TopLogprobs, Trajectory } from '../format/trajectory.ts'
import { numberAt, type ResponseView, type SegmentView, type TrajectoryView } from '../tokens/trajectory-view.ts'
import type { RolloutEvent } from './event-schema.ts'

export type { RolloutEvent } from './event-schema.ts'

type SegmentEvent = Extract<RolloutEvent, { type: 'segment' }>

/** A trajectory with the state of a running rollout, which is never part of a file. */
export interface LiveTrajectory extends Trajectory {
  readonly live?: {
    readonly open?: Segment
    /** The stopped response that `open` resumes; it returns if the open one is retracted. */
    readonly stopped?: ResponseSegment
    /** Start times (ISO 8601) of tool calls that are being executed, by call id. */
    readonly runningCalls: Readonly<Record<string, string>>
  }
}

/**
 * Returns the trajectory after the event. Throws if the event does not fit the events before it, which is a bug of the
 * sender.
 */
export function applyEvent(trajectory: LiveTrajectory | undefined, event: RolloutEvent): LiveTrajectory
export function applyEvent(trajectory: TrajectoryView | undefined, event: RolloutEvent): TrajectoryView
export function applyEvent(trajectory: TrajectoryView | undefined, event: RolloutEvent): TrajectoryView {
  if (event.type === 'started') return { ...event.trajectory, live: { runningCalls: {} } }
  if (!trajectory) throw new Error(`the first event of a rollout is started, not ${event.type}`)
  const runningCalls = trajectory.live?.runningCalls ?? {}
  switch (event.type) {
    case 'segment-started':
      return {
        ...withVocabulary(trajectory, event),
        ...(event.segment.kind === 'prompt' && { outcome: withoutUnsent(trajectory.outcome) }),
        live: { open: event.segment, runningCalls },
      }
    case 'resumed':
      return resumeTrajectory(trajectory, event, runningCalls)
    case 'tokens':
      return {
        ...withVocabulary(trajectory, event),
        live: { ...trajectory.live, open: withTokens(openResponse(trajectory), event), runningCalls },
      }
    case 'segment':
      return {
        ...withVocabulary(trajectory, event),
        segments: [...trajectory.segments, closeSegment(trajectory, event)],
        live: { runningCalls },
      }
    case 'retracted':
      return { ...withStopped(trajectory), live: { runningCalls } }
    case 'tool-started':
      return {
        ...trajectory,
        live: { ...trajectory.live, runningCalls: { ...runningCalls, [event.callId]: event.startedAt } },
      }
    case 'tool-ended': {
      const { [event.callId]: _, ...others } = runningCalls
      return {
        ...withResult(trajectory, event.callId, event.result),
        live: { ...trajectory.live, runningCalls: others },
      }
    }
    case 'ended': {
      const { live: _, ...record } = withStopped(trajectory)
      return { ...record, outcome: event.outcome }
    }
    default:
      return unreachable(event)
  }
}

/** Removes the messages of a run that are in a prompt now. */
function withoutUnsent({
  unsent: _,
  unsentGiven: __,
  ...outcome
}: TrajectoryView['outcome']): TrajectoryView['outcome'] {
  return outcome
}

/** Opens the last response again with its tokens. Information about its text is known again when it closes. */
function resumeTrajectory(
  trajectory: TrajectoryView,
  { request }: Extract<RolloutEvent, { type: 'resumed' }>,
  runningCalls: NonNullable<LiveTrajectory['live']>['runningCalls'],
): TrajectoryView {
  const stopped = trajectory.segments.at(-1)
  if (stopped?.kind !== 'response' || trajectory.live?.open) throw new Error('there is no response to continue')
  const { finish, ...reopened } = stopped
  const open: ResponseView = {
    ...reopened,
    thinks: [],
    toolCalls: [],
    resumed: [...(reopened.resumed ?? []), { at: reopened.ids.length, ...(finish && { stopped: finish }), request }],
  }
  return { ...trajectory, segments: trajectory.segments.slice(0, -1), live: { open, stopped, runningCalls } }
}

const withStopped = (trajectory: TrajectoryView): TrajectoryView =>
  trajectory.live?.stopped ? { ...trajectory, segments: [...trajectory.segments, trajectory.live.stopped] } : trajectory

type TokensEvent = Extract<RolloutEvent, { type: 'tokens' }>

/** Merges `tokens` events into one, in time linear in their tokens. */
export function mergeTokens(events: readonly TokensEvent[]): TokensEvent {
  const [only] = events
  if (only && events.length === 1) return only
  return {
    type: 'tokens',
    ...joinColumns(events),
    vocab: Object.assign({}, ...events.map(({ vocab }) => vocab)),
    specialIds: events.flatMap(({ specialIds }) => specialIds),
  }
}

const withTokens = (open: ResponseView, added: TokenColumns): ResponseView => ({
  ...open,
  ...joinColumns([open, added]),
  ...(open.mask && { mask: withTrained(open.mask, added.ids.length) }),
})

/** Returns the loss mask of a resumed response with `count` more tokens. The model sampled them, so they are trained. */
const withTrained = (mask: ArrayLike<number>, count: number): (0 | 1)[] => [
  ...Array.from(mask, (bit): 0 | 1 => (bit === 1 ? 1 : 0)),
  ...Array<1>(count).fill(1),
]

/** Returns the trajectory with the texts of new ids. */
export function withVocabulary<T extends Pick<TrajectoryView, 'model' | 'vocab'>>(
  trajectory: T,
  { vocab, specialIds }: Pick<SegmentEvent, 'vocab' | 'specialIds'>,
): T {
  const { tokenizer } = trajectory.model
  const merged =
    Object.keys(vocab).length === 0 ? trajectory : { ...trajectory, vocab: { ...trajectory.vocab, ...vocab } }
  if (specialIds.length === 0 || !tokenizer) return merged
  return {
    ...merged,
    model: {
      ...trajectory.model,
      tokenizer: { ...tokenizer, specialIds: [...tokenizer.specialIds, ...specialIds] },
    },
  }
}

type TokenColumns = Pick<ResponseView, 'ids' | 'logprobs' | 'topLogprobs'>

function joinColumns(all: readonly TokenColumns[]): Pick<TokensEvent, 'ids' | 'logprobs' | 'topLogprobs'> {
  const parts = all.filter(({ ids, logprobs, topLogprobs }) => ids.length > 0 || logprobs || topLogprobs)
  const [only] = parts
  if (only && parts.length === 1 && isPlain(only)) return columnsOf(only)
  const k = parts.reduce((most, { topLogprobs }) => Math.max(most, topLogprobs?.k ?? 0), 0)
  const top = k > 0 ? parts.map((part) => alternatives(part, k)) : []
  return {
    ids: parts.flatMap(({ ids }) => Array.from(ids)),
    ...(parts.some(({ logprobs }) => logprobs) && { logprobs: parts.flatMap(knownLogprobs) }),
    ...(k > 0 && {
      topLogprobs: { k, ids: top.flatMap(({ ids }) => ids), logprobs: top.flatMap(({ logprobs }) => logprobs) },
    }),
  }
}

type PlainColumns = Pick<TokensEvent, 'ids' | 'logprobs' | 'topLogprobs'>

/** Columns of an event never change, so they need not be copied. */
const isPlain = (columns: TokenColumns): columns is PlainColumns => Array.isArray(columns.ids)

const columnsOf = ({ ids, logprobs, topLogprobs }: PlainColumns): PlainColumns => ({
  ids,
  ...(logprobs && { logprobs }),
  ...(topLogprobs && { topLogprobs }),
})

const knownLogprobs = ({ ids, logprobs }: TokenColumns): (number | null)[] =>
  Array.from({ length: ids.length }, (_, index) => numberAt(logprobs, index))

/** Returns the alternatives of some tokens, padded to k for each token. */
function alternatives({ ids, topLogprobs }: TokenColumns, k: number): Pick<TopLogprobs, 'ids' | 'logprobs'> {
  const own = topLogprobs?.k ?? 0
  const cells = Array.from({ length: ids.length * k }, (_, cell) =>
    cell % k < own ? Math.floor(cell / k) * own + (cell % k) : -1,
  )
  return {
    ids: cells.map((cell) => topLogprobs?.ids[cell] ?? -1),
    logprobs: cells.map((cell) => numberAt(topLogprobs?.logprobs, cell)),
  }
}

function openResponse({ live }: TrajectoryView): ResponseView {
  if (live?.open?.kind !== 'response') throw new Error('tokens arrived while no response was open')
  return live.open
}

function closeSegment({ live }: TrajectoryView, { segment }: SegmentEvent): SegmentView {
  const open = live?.open
  if (open?.kind === 'prompt' && segment.kind === 'prompt') return { ...open, ...segment }
  if (open?.kind === 'response' && segment.kind === 'response') return { ...open, ...segment }
  throw new Error(`a ${segment.kind} closed while ${open ? `a ${open.kind}` : 'nothing'} was open`)
}

function withResult(trajectory: TrajectoryView, callId: string, result: ToolResult): TrajectoryView {
  const withIt = (call: ToolCall): ToolCall => (call.id === callId ? { ...call, result } : call)
  return {
    ...trajectory,
    segments: trajectory.segments.map((segment) =>
      segment.kind === 'response' && segment.toolCalls.some((call) => call.id === callId)
        ? { ...segment, toolCalls: segment.toolCalls.map(withIt) }
        : segment,
    ),
  }
}
