/**
 * What happens in a rollout, one event at a time, and the only function that applies one to a trajectory. Server,
 * browser and tests use the same: the events of a rollout, replayed, give its trajectory.
 */
import * as z from 'zod'
import {
  type Plain,
  type Segment,
  schemas,
  type ToolCall,
  type ToolResult,
  type TopLogprobs,
  type Trajectory,
  trajectorySchema,
} from './trajectory.ts'
import { numberAt, type ResponseView, type SegmentView, type TrajectoryView } from './trajectory-view.ts'
import { unreachable } from './unreachable.ts'

const { promptSegment, responseSegment } = schemas

const vocabulary = {
  vocab: trajectorySchema.shape.vocab.describe('The text of ids not seen before in this trajectory.'),
  specialIds: z.array(z.int().min(0)).describe('Those of them that are added tokens.'),
}

export const rolloutEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    rolloutId: z.string(),
    trajectory: trajectorySchema.describe('All that was known before, with outcome running.'),
  }),
  z
    .object({
      type: z.literal('segment-started'),
      segment: z.discriminatedUnion('kind', [promptSegment, responseSegment]),
      ...vocabulary,
    })
    .describe('A segment opens and is not part of the record yet: a prompt with its ids, a response without any.'),
  z
    .object({
      type: z.literal('tokens'),
      ids: responseSegment.shape.ids,
      logprobs: responseSegment.shape.logprobs,
      topLogprobs: schemas.topLogprobs.optional(),
      ...vocabulary,
    })
    .describe('Tokens of the open response, as they arrive.'),
  z
    .object({
      type: z.literal('segment'),
      segment: z.discriminatedUnion('kind', [
        promptSegment.omit({ ids: true, messages: true, derivation: true }),
        responseSegment.omit({ ids: true, logprobs: true, topLogprobs: true, request: true }),
      ]),
      ...vocabulary,
    })
    .describe('The open segment closes and joins the record: all that is known of it besides what was sent before.'),
  z
    .object({ type: z.literal('retracted') })
    .describe('The open segment never happened: the call failed before its first token.'),
  z.object({ type: z.literal('tool-started'), callId: z.string(), startedAt: z.string() }),
  z.object({ type: z.literal('tool-ended'), callId: z.string(), result: schemas.toolResult }),
  z.object({ type: z.literal('ended'), outcome: schemas.outcome }),
])

/** One line of the NDJSON stream; numbered from 0 in its rollout. */
export type RolloutEvent = Plain<z.infer<typeof rolloutEventSchema>>
type SegmentEvent = Extract<RolloutEvent, { type: 'segment' }>

/** A trajectory with what is under way: never part of a file. */
export interface LiveTrajectory extends Trajectory {
  readonly live?: {
    readonly open?: Segment
    /** Tool calls being executed: call id → when it started (ISO 8601). */
    readonly runningCalls: Readonly<Record<string, string>>
  }
}

/** The trajectory after the event. Throws when the event does not fit what came before (a broken promise of ours). */
export function applyEvent(trajectory: LiveTrajectory | undefined, event: RolloutEvent): LiveTrajectory
export function applyEvent(trajectory: TrajectoryView | undefined, event: RolloutEvent): TrajectoryView
export function applyEvent(trajectory: TrajectoryView | undefined, event: RolloutEvent): TrajectoryView {
  if (event.type === 'started') return { ...event.trajectory, live: { runningCalls: {} } }
  if (!trajectory) throw new Error(`the first event of a rollout is started, not ${event.type}`)
  const runningCalls = trajectory.live?.runningCalls ?? {}
  switch (event.type) {
    case 'segment-started':
      return { ...withVocabulary(trajectory, event), live: { open: event.segment, runningCalls } }
    case 'tokens':
      return {
        ...withVocabulary(trajectory, event),
        live: { open: withTokens(openResponse(trajectory), event), runningCalls },
      }
    case 'segment':
      return {
        ...withVocabulary(trajectory, event),
        segments: [...trajectory.segments, closed(trajectory, event)],
        live: { runningCalls },
      }
    case 'retracted':
      return { ...trajectory, live: { runningCalls } }
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
      const { live: _, ...record } = trajectory
      return { ...record, outcome: event.outcome }
    }
    default:
      return unreachable(event)
  }
}

type TokensEvent = Extract<RolloutEvent, { type: 'tokens' }>

/** Some `tokens` events as one, in time linear in their tokens. */
export function mergeTokens(events: readonly TokensEvent[]): TokensEvent {
  return {
    type: 'tokens',
    ...joined(events),
    vocab: Object.assign({}, ...events.map(({ vocab }) => vocab)),
    specialIds: events.flatMap(({ specialIds }) => specialIds),
  }
}

const withTokens = (open: ResponseView, added: TokenColumns): ResponseView => ({
  ...open,
  ...joined([open, added]),
})

function withVocabulary(
  trajectory: TrajectoryView,
  { vocab, specialIds }: Pick<SegmentEvent, 'vocab' | 'specialIds'>,
): TrajectoryView {
  const known = trajectory.model.tokenizer
  const merged =
    Object.keys(vocab).length === 0 ? trajectory : { ...trajectory, vocab: { ...trajectory.vocab, ...vocab } }
  if (specialIds.length === 0 || !known) return merged
  return {
    ...merged,
    model: { ...trajectory.model, tokenizer: { ...known, specialIds: [...known.specialIds, ...specialIds] } },
  }
}

type TokenColumns = Pick<ResponseView, 'ids' | 'logprobs' | 'topLogprobs'>

function joined(parts: readonly TokenColumns[]): Pick<TokensEvent, 'ids' | 'logprobs' | 'topLogprobs'> {
  const k = parts.reduce((most, { topLogprobs }) => Math.max(most, topLogprobs?.k ?? 0), 0)
  const top = k > 0 ? parts.map((part) => alternatives(part, k)) : []
  return {
    ids: parts.flatMap(({ ids }) => Array.from(ids)),
    ...(parts.some(({ logprobs }) => logprobs) && { logprobs: parts.flatMap(known) }),
    ...(k > 0 && {
      topLogprobs: { k, ids: top.flatMap(({ ids }) => ids), logprobs: top.flatMap(({ logprobs }) => logprobs) },
    }),
  }
}

const known = ({ ids, logprobs }: TokenColumns): (number | null)[] =>
  Array.from({ length: ids.length }, (_, index) => numberAt(logprobs, index))

/** The alternatives of some tokens, padded to k a token. */
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

function closed({ live }: TrajectoryView, { segment }: SegmentEvent): SegmentView {
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
