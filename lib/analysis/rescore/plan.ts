/** Plans which tokens of two sides are scored, and by which server: all that rescoring needs, and no token twice. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { lastAdapter } from '#lib/trajectory/scoring/adapters.ts'
import { imagesToScore, type ScoreRequest } from '#lib/trajectory/scoring/score.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import type { ComparedSides } from '../compare/compare-sides.ts'

/** What the user chose: the servers, and which tokens they score. */
export interface RescoreChoice {
  /** Names of saved servers, for each side. */
  readonly servers: { readonly left: string; readonly right: string }
  /** `trained`: the tokens that either side trains, and all drift spans. `every`: all tokens. */
  readonly tokens: 'trained' | 'every'
  /** Whether everything is scored twice, to measure the noise of each server. Omitted: once. */
  readonly repeats?: boolean
}

/** Requests for both sides. */
export interface ScorePlan {
  readonly left: SidePlan
  readonly right: SidePlan
  /**
   * Leading ids that both sides have, if one server scores both sides: the scores of one side are valid for the other. 0 for two
   * servers.
   */
  readonly shared: number
}

interface SidePlan {
  readonly request: Required<Pick<ScoreRequest, 'ids' | 'ranges' | 'server'>> & Pick<ScoreRequest, 'adapter' | 'images'>
  /** Number of tokens in the ranges of the request. */
  readonly tokens: number
}

/** Returns the scoring requests for a choice. If both sides are scored by one server, shared leading ids are scored once. */
export function scorePlan({ left, right, comparison }: ComparedSides, { servers, tokens }: RescoreChoice): ScorePlan {
  const sides = { left: ids(left.trajectory), right: ids(right.trajectory) }
  const wanted =
    tokens === 'every'
      ? { left: whole(sides.left), right: whole(sides.right) }
      : wantedOf(
          comparison.alignedRuns,
          Uint8Array.from(lossMask(left.trajectory)),
          Uint8Array.from(lossMask(right.trajectory)),
        )
  const adapters = adaptersOf(left.trajectory, right.trajectory)
  const side = (name: 'left' | 'right', from: number): SidePlan => {
    const adapter = adapters[name]
    const ranges = joinRanges(wanted[name]).flatMap(({ start, end }) =>
      end > from ? [{ start: Math.max(start, from), end }] : [],
    )
    return {
      request: {
        ids: sides[name],
        ranges,
        server: servers[name],
        ...(adapter !== undefined && { adapter }),
        ...imagesToScore(name === 'left' ? left.trajectory : right.trajectory),
      },
      tokens: ranges.reduce((sum, { start, end }) => sum + end - start, 0),
    }
  }
  const isSame = servers.left === servers.right && adapters.left === adapters.right
  const shared = isSame ? commonIds(sides.left, sides.right) : 0
  // The longer side is scored first, so that a side that is too long is refused at once. The other begins after the shared ids.
  const isLeftFirst = sides.left.length >= sides.right.length
  return { left: side('left', isLeftFirst ? 0 : shared), right: side('right', isLeftFirst ? shared : 0), shared }
}

/** Returns the adapter that scores each side: that of its run. A side that was rebuilt records no request, so the other one decides. */
function adaptersOf(left: TrajectoryView, right: TrajectoryView) {
  const [ours, theirs] = [lastAdapter(left), lastAdapter(right)]
  return { left: (ours === null ? theirs : ours) ?? undefined, right: (theirs === null ? ours : theirs) ?? undefined }
}

interface Wanted {
  readonly left: readonly Span[]
  readonly right: readonly Span[]
}

const whole = (side: readonly number[]): readonly Span[] => (side.length > 0 ? [{ start: 0, end: side.length }] : [])

function wantedOf(
  alignedRuns: ComparedSides['comparison']['alignedRuns'],
  left: Uint8Array,
  right: Uint8Array,
): Wanted {
  const wanted = { left: [] as Span[], right: [] as Span[] }
  const add = (left: Span, right: Span) => {
    if (left.end > left.start) wanted.left.push(left)
    if (right.end > right.start) wanted.right.push(right)
  }
  for (const alignedRun of alignedRuns) {
    if (alignedRun.kind === 'drift') {
      add(alignedRun.left, alignedRun.right)
      continue
    }
    const apart = alignedRun.right.start - alignedRun.left.start
    let start: number | undefined
    for (let at = alignedRun.left.start; at <= alignedRun.left.end; at++) {
      const isTrained = at < alignedRun.left.end && (left[at] === 1 || right[at + apart] === 1)
      if (isTrained) start ??= at
      else if (start !== undefined) {
        add({ start, end: at }, { start: start + apart, end: at + apart })
        start = undefined
      }
    }
  }
  return wanted
}

/** Ranges with at most this many tokens between them are joined: scoring the tokens is cheaper than another call. */
const CLOSE = 64

function joinRanges(ranges: readonly Span[]): readonly Span[] {
  const all: { start: number; end: number }[] = []
  for (const { start, end } of ranges) {
    const last = all.at(-1)
    if (last && start - last.end <= CLOSE) last.end = end
    else all.push({ start, end })
  }
  return all
}
