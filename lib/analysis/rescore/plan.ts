/** What of two sides is scored, and where: all that the rescoring reads, and nothing twice. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import type { ScoreRequest } from '#lib/trajectory/scoring/score.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import type { Compared } from '../compare/compare-sides.ts'

export interface RescoreChoice {
  /** Names of saved servers, for each side. */
  readonly servers: { readonly left: string; readonly right: string }
  /** `trained`: the tokens that either side trains, and all drift spans. `every`: all tokens. */
  readonly tokens: 'trained' | 'every'
}

export interface ScorePlan {
  readonly left: SidePlan
  readonly right: SidePlan
  /**
   * Leading ids that the sides share where one server scores both: what it says of one side’s is true of the other’s. 0 with
   * two servers.
   */
  readonly shared: number
}

interface SidePlan {
  readonly request: Required<Pick<ScoreRequest, 'ids' | 'ranges' | 'server'>>
  /** To be scored. */
  readonly tokens: number
}

export function scorePlan({ left, right, comparison }: Compared, { servers, tokens }: RescoreChoice): ScorePlan {
  const sides = { left: ids(left.trajectory), right: ids(right.trajectory) }
  const wanted =
    tokens === 'every'
      ? { left: whole(sides.left), right: whole(sides.right) }
      : wantedOf(
          comparison.stretches,
          Uint8Array.from(lossMask(left.trajectory)),
          Uint8Array.from(lossMask(right.trajectory)),
        )
  const side = (name: 'left' | 'right', from: number): SidePlan => {
    const ranges = joined(wanted[name]).flatMap(({ start, end }) =>
      end > from ? [{ start: Math.max(start, from), end }] : [],
    )
    return {
      request: { ids: sides[name], ranges, server: servers[name] },
      tokens: ranges.reduce((sum, { start, end }) => sum + end - start, 0),
    }
  }
  const shared = servers.left === servers.right ? commonIds(sides.left, sides.right) : 0
  // The longer side is scored first, so that what is too long is refused at once; the other goes on from what they share.
  const isLeftFirst = sides.left.length >= sides.right.length
  return { left: side('left', isLeftFirst ? 0 : shared), right: side('right', isLeftFirst ? shared : 0), shared }
}

interface Wanted {
  readonly left: readonly Span[]
  readonly right: readonly Span[]
}

const whole = (side: readonly number[]): readonly Span[] => (side.length > 0 ? [{ start: 0, end: side.length }] : [])

function wantedOf(stretches: Compared['comparison']['stretches'], left: Uint8Array, right: Uint8Array): Wanted {
  const wanted = { left: [] as Span[], right: [] as Span[] }
  const add = (left: Span, right: Span) => {
    if (left.end > left.start) wanted.left.push(left)
    if (right.end > right.start) wanted.right.push(right)
  }
  for (const stretch of stretches) {
    if (stretch.kind === 'drift') {
      add(stretch.left, stretch.right)
      continue
    }
    const apart = stretch.right.start - stretch.left.start
    let start: number | undefined
    for (let at = stretch.left.start; at <= stretch.left.end; at++) {
      const isTrained = at < stretch.left.end && (left[at] === 1 || right[at + apart] === 1)
      if (isTrained) start ??= at
      else if (start !== undefined) {
        add({ start, end: at }, { start: start + apart, end: at + apart })
        start = undefined
      }
    }
  }
  return wanted
}

/** Tokens between two ranges that are cheaper to score along than to be asked around: each range is a call of its own. */
const CLOSE = 64

function joined(ranges: readonly Span[]): readonly Span[] {
  const all: { start: number; end: number }[] = []
  for (const { start, end } of ranges) {
    const last = all.at(-1)
    if (last && start - last.end <= CLOSE) last.end = end
    else all.push({ start, end })
  }
  return all
}
