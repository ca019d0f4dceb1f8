/**
 * Compares two runs of one setup token by token, such as those of two servers: how far their ids agree, and how far the logprobs of the
 * tokens that both sampled differ. Logprobs of different kinds are converted exactly, or left out with the reason.
 */
import { type Conversion, compareKinds, logprobKind } from '#lib/trajectory/scoring/comparable.ts'
import { logprobReader } from '#lib/trajectory/scoring/log-ratios.ts'
import { OWN_LOGPROBS } from '#lib/trajectory/tokens/column-roles.ts'
import { idColumn, placedResponses, segmentStarts, segmentsOf, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { type Spread, spreadOf } from '../spread.ts'
import { whyNotGreedy } from './chat-baseline.ts'

/** How far a run agrees with another run of the same setup. */
export interface ReplyComparison {
  /** Number of leading ids that both have. */
  readonly common: number
  /** The first place where the ids differ; undefined if all are equal. */
  readonly divergence: Divergence | undefined
  /** Why the ids may differ by chance; undefined if both runs were sampled greedily. */
  readonly chance: string | undefined
  /** Differences of the logprobs of the tokens that both sampled before the divergence. */
  readonly logprobs: LogprobAgreement
}

/** The first place where the ids of two runs differ. */
interface Divergence {
  readonly token: number
  /**
   * prompt: tokens that were given differ there, as with another tokenizer or chat template. response: tokens that were sampled differ.
   * end: one run ends there, and the other continues.
   */
  readonly kind: 'prompt' | 'response' | 'end'
}

/** Differences of logprobs that have one meaning, and what was left out. */
interface LogprobAgreement {
  /** Statistics of |Δ| in nats; undefined if no token can be compared. */
  readonly spread: Spread | undefined
  /** The kinds at which logprobs were compared, such as `raw`. */
  readonly kinds: readonly string[]
  /** Why tokens were compared although a kind is unknown. */
  readonly assumed: readonly string[]
  /** Sampled tokens whose logprobs have different meanings, by the reason. */
  readonly refused: readonly { readonly why: string; readonly tokens: number }[]
}

/** Compares a run with the run that it is measured against. */
export function compareReplies(reference: TrajectoryView, other: TrajectoryView): ReplyComparison {
  const [ours, theirs] = [idColumn(reference), idColumn(other)]
  const common = commonIds(ours, theirs)
  return {
    common,
    divergence:
      common === ours.length && common === theirs.length
        ? undefined
        : { token: common, kind: divergenceKind(reference, other, common) },
    chance: whyNotGreedy(reference) ?? whyNotGreedy(other),
    logprobs: agreementOf(reference, other, common),
  }
}

function divergenceKind(reference: TrajectoryView, other: TrajectoryView, token: number): Divergence['kind'] {
  const kinds = [reference, other].map((trajectory) => tokenAt(trajectory, token)?.segment.kind)
  if (kinds.includes(undefined)) return 'end'
  return kinds.includes('response') ? 'response' : 'prompt'
}

const responsesOf = (trajectory: TrajectoryView) => placedResponses(segmentsOf(trajectory), segmentStarts(trajectory))
type PlacedResponse = ReturnType<typeof responsesOf>[number]

function agreementOf(reference: TrajectoryView, other: TrajectoryView, common: number): LogprobAgreement {
  const distances: number[] = []
  const kinds = new Set<string>()
  const assumed = new Set<string>()
  const refused = new Map<string, number>()
  for (const ours of responsesOf(reference))
    for (const theirs of responsesOf(other)) {
      const start = Math.max(ours.start, theirs.start)
      const end = Math.min(ours.start + ours.segment.ids.length, theirs.start + theirs.segment.ids.length, common)
      if (start >= end) continue
      const comparison = compareKinds(
        logprobKind(other, OWN_LOGPROBS, theirs.segment),
        logprobKind(reference, OWN_LOGPROBS, ours.segment),
      )
      const conversions = comparison.kind === 'converted' ? comparison.conversions : []
      const [read, readReference] = [
        readerAt(theirs, conversionOf(conversions, 'numerator')),
        readerAt(ours, conversionOf(conversions, 'denominator')),
      ]
      let known = 0
      for (let token = start; token < end; token++) {
        const distance = Math.abs(read(token) - readReference(token))
        if (!Number.isFinite(distance)) continue
        known++
        if (comparison.kind !== 'refused') distances.push(distance)
      }
      if (known === 0) continue
      if (comparison.kind === 'refused') refused.set(comparison.why, (refused.get(comparison.why) ?? 0) + known)
      else if (comparison.kind === 'assumed') assumed.add(comparison.why)
      else kinds.add(comparison.as)
    }
  return {
    spread: spreadOf(Float64Array.from(distances).sort()),
    kinds: [...kinds],
    assumed: [...assumed],
    refused: Array.from(refused, ([why, tokens]) => ({ why, tokens })),
  }
}

const conversionOf = (conversions: readonly Conversion[], side: Conversion['side']): Conversion | undefined =>
  conversions.find((conversion) => conversion.side === side)

/** Returns a reader of the sampled logprobs by index in the trajectory. */
function readerAt({ segment, start }: PlacedResponse, conversion: Conversion | undefined): (token: number) => number {
  const read = logprobReader(segment, OWN_LOGPROBS, conversion)
  return (token) => read(token - start)
}
