/** The calls of a session that are being answered, and their replies while they are generated, for pages that follow them. */
import { randomUUID } from 'node:crypto'
import type { SessionCallRow, SessionNodeRow } from '#lib/api/sessions/session.ts'
import type { Recorder } from '#lib/rollout/loop/recorder.ts'
import type { Attachment } from '#lib/session/forest/forest.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { encodeLine } from '../../http/ndjson.ts'
import { HttpProblem } from '../../http/problem.ts'
import { createEventLog, type EventLog, type Until } from '../../runs/event-log.ts'

/** A call whose place in the forest is known. */
interface BegunCall {
  readonly facts: Omit<SessionCallRow, 'sequence' | 'nodes' | 'attached' | 'accepted' | 'added'>
  readonly attachment: Attachment
}

/** What a session has besides its live calls. */
interface EndedCalls {
  /** Sequence of the last call; 0 if there is none. */
  readonly last: number
  /** Number of nodes. */
  readonly nodes: number
}

/** A call while it is being answered. */
export interface LiveCall {
  /** Adds a reply whose generation begins. Returns what receives the later events of its recorder. */
  add(recorder: Recorder): (event: RolloutEvent) => void
  /** Ends the streams of its replies. `outcomes` are those of the replies. */
  end(outcomes: readonly (Outcome | undefined)[]): void
}

/** The calls of a session that are being answered. */
export interface LiveCalls {
  begin(call: BegunCall): LiveCall
  /** Whether somebody has looked at the rows in the last seconds, as an open page does again and again. */
  readonly isWatched: boolean
  /** Returns the rows of the calls, numbered after those that have ended. Their status is 0, and the ids in `live` are for `follow`. */
  rows(ended: EndedCalls): readonly SessionCallRow[]
  /**
   * Yields the events of a reply as lines of JSON: first those that give its present state, then the later ones, until the reply is stored or
   * for `now` none is left. Throws HttpProblem 404 for a reply that is stored.
   */
  follow(id: string, signal: AbortSignal, until?: Until): AsyncIterable<Uint8Array>
}

/** A reply that is being generated. */
interface LiveReply {
  readonly id: string
  readonly recorder: Recorder
  /** Number of tokens before its prompt. */
  readonly start: number
  readonly followers: Set<EventLog<Uint8Array>>
}

/** Milliseconds after a look at the rows in which they count as watched: several polls of a page. */
const WATCHED_MS = 10_000

/** Creates the live calls of a session, without any. */
export function createLiveCalls(): LiveCalls {
  const calls = new Map<LiveCall, BegunCall & { readonly replies: readonly LiveReply[]; readonly startedMs: number }>()
  let watchedMs = Number.NEGATIVE_INFINITY
  return {
    get isWatched() {
      return performance.now() - watchedMs < WATCHED_MS
    },
    begin(begun) {
      const replies: LiveReply[] = []
      const call: LiveCall = {
        add(recorder) {
          const start = tokenCount(recorder.trajectory)
          const followers: LiveReply['followers'] = new Set()
          replies.push({ id: randomUUID(), recorder, start, followers })
          return (event) => {
            if (followers.size === 0) return
            const line = encodeLine(event)
            for (const log of followers) log.add(line)
          }
        },
        end(outcomes) {
          calls.delete(call)
          for (const [index, { followers }] of replies.entries())
            for (const log of followers) {
              const outcome = outcomes[index]
              if (outcome) log.add(encodeLine({ type: 'ended', outcome }))
              log.end()
            }
        },
      }
      // The clock that never goes back: a wall clock that is set meanwhile would give a negative duration.
      calls.set(call, { ...begun, replies, startedMs: performance.now() - begun.facts.elapsedMs })
      return call
    },
    rows({ last, nodes }) {
      watchedMs = performance.now()
      let node = nodes
      return [...calls.values()].map(({ facts, attachment, replies, startedMs }, index) => ({
        ...facts,
        elapsedMs: performance.now() - startedMs,
        status: 0,
        error: null,
        sequence: last + 1 + index,
        attached: attachment.attached,
        added: attachment.messages.length,
        accepted: [...attachment.accepted],
        // A server that returns the whole reply at once is not followed.
        nodes: (replies.length > 0 ? replies : [undefined]).map((reply, choice) => ({
          ...liveNode(reply),
          node: node++,
          parent: attachment.parent ?? null,
          choice,
        })),
      }))
    },
    follow(id, signal, until) {
      const reply = [...calls.values()].flatMap(({ replies }) => replies).find((one) => one.id === id)
      if (!reply) throw noReply()
      return followed(reply, signal, until)
    },
  }
}

async function* followed(
  { id, recorder, followers }: LiveReply,
  signal: AbortSignal,
  until: Until | undefined,
): AsyncGenerator<Uint8Array> {
  const log = createEventLog<Uint8Array>()
  for (const event of eventsSoFar(id, recorder)) log.add(encodeLine(event))
  followers.add(log)
  try {
    yield* log.follow(0, signal, until)
  } finally {
    followers.delete(log)
  }
}

/** Returns events that give the present trajectory of a recorder. */
function eventsSoFar(id: string, { trajectory: { live, ...trajectory } }: Recorder): readonly RolloutEvent[] {
  const started: RolloutEvent = { type: 'started', rolloutId: id, trajectory }
  if (!live?.open) return [started]
  return [started, { type: 'segment-started', segment: live.open, vocab: {}, specialIds: [] } as RolloutEvent]
}

function liveNode(reply: LiveReply | undefined): Omit<SessionNodeRow, 'node' | 'parent' | 'choice'> {
  const { start = 0, recorder, id } = reply ?? {}
  const open = recorder?.trajectory.live?.open ?? recorder?.trajectory.segments.at(-1)
  const replyTokens = open?.kind === 'response' ? open.ids.length : 0
  return {
    status: 'running',
    trajectory: null,
    segments: 0,
    start,
    prompt: recorder ? tokenCount(recorder.trajectory) - replyTokens - start : 0,
    reply: replyTokens,
    text: '',
    finish: null,
    malformedCalls: 0,
    ...(id !== undefined && { live: id }),
  }
}

const noReply = (): HttpProblem =>
  new HttpProblem({
    status: 404,
    code: 'NO_LIVE_REPLY',
    detail: 'this reply is not being generated: it does not exist, or it has ended',
    hint: 'GET /api/sessions/{id} has the calls that ended and those that are being answered.',
  })
