/** The input of a value estimate, as the page edits it, and the request that it becomes. */
import { sentenceCase } from '#components/ui/visible-text.ts'
import { estimatedTokens } from '#lib/analysis/value/cost.ts'
import { choosePositions } from '#lib/analysis/value/positions.ts'
import {
  FEWEST_RESAMPLES,
  MOST_POSITIONS,
  MOST_RESAMPLES,
  USUAL_RESAMPLES,
  type ValueBody,
  type ValueCliff,
  type ValueRange,
} from '#lib/api/forest/value.ts'
import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import { rewardDraftOf, rewardRuleOf } from '#lib/share/settings/reward-draft.ts'
import type { RewardDraft } from '#lib/share/settings/setup.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** How the positions are chosen: the most surprising tokens, every k-th trained token, one token, or all tokens of a drop. */
export type PositionKind = 'surprising' | 'every' | 'token' | 'drop'

/** The input of a value estimate. Numbers are texts while they are edited. */
export interface ValueDraft {
  readonly kind: PositionKind
  /** Number of tokens, or the step. */
  readonly count: string
  readonly resamples: string
  /** '' keeps the recorded temperature. */
  readonly temperature: string
  /** '' keeps the server of the trajectory. */
  readonly server: string
  readonly reward: RewardDraft
}

/** Returns the number of tokens, or the step, that is suggested for a kind of positions. */
export const usualCount = (kind: PositionKind): string => (kind === 'every' ? '20' : '10')

/** Returns the draft for a trajectory. `rule` scores the samples unless it is changed. */
export const valueDraftFor = (trajectory: TrajectoryView, rule: RewardRule | null): ValueDraft => ({
  kind: 'surprising',
  count: usualCount('surprising'),
  resamples: `${USUAL_RESAMPLES}`,
  temperature: recordedTemperature(trajectory) === 0 ? '1' : '',
  server: '',
  reward: rule ? rewardDraftOf(rule) : { ...rewardDraftOf(null), kind: 'number' },
})

/** Returns the temperature with which the trajectory was sampled; undefined if it is unknown. */
export function recordedTemperature(trajectory: TrajectoryView): number | undefined {
  const { temperature } = recordedSampling(trajectory)
  return typeof temperature === 'number' ? temperature : undefined
}

function recordedSampling({ segments }: TrajectoryView): SamplingRequest {
  const response = segments.find((segment) => segment.kind === 'response' && segment.request)
  return toSamplingRequest(response?.kind === 'response' ? (response.request?.samplingParams ?? {}) : {})
}

/** What the positions of a draft refer to. */
export interface ValueContext {
  /** The selected token, if the model sampled it. */
  readonly token: number | undefined
  /** The drop of the shown estimate, if it has tokens between its positions. */
  readonly cliff: ValueCliff | undefined
}

/** Returns the draft with the most surprising tokens instead of a drop that the shown estimate does not have. */
export const withKnownPositions = (draft: ValueDraft, { cliff }: ValueContext): ValueDraft =>
  draft.kind === 'drop' && !cliff ? { ...draft, kind: 'surprising', count: usualCount('surprising') } : draft

/** A field of the draft. */
export type ValueField = 'count' | 'resamples' | 'temperature' | 'reward'

/** A request with its expected cost, or the field that is wrong and why. */
export type ValueInput =
  | { readonly ok: true; readonly body: ValueBody; readonly positions: number; readonly tokens: number }
  | { readonly ok: false; readonly field: ValueField | undefined; readonly why: string }

/** Returns the request of a draft. */
export function valueInput(draft: ValueDraft, trajectory: TrajectoryView, context: ValueContext): ValueInput {
  const wrong = (field: ValueField | undefined, why: string): ValueInput => ({ ok: false, field, why })
  const most = draft.kind === 'surprising' ? MOST_POSITIONS : Number.MAX_SAFE_INTEGER
  const count = wholeNumber(draft.count, 1, most)
  if (hasCount(draft) && count === undefined)
    return wrong('count', most === MOST_POSITIONS ? `a whole number from 1 to ${most}` : 'a whole number from 1')
  const n = wholeNumber(draft.resamples, FEWEST_RESAMPLES, MOST_RESAMPLES)
  if (n === undefined) return wrong('resamples', `a whole number from ${FEWEST_RESAMPLES} to ${MOST_RESAMPLES}`)
  const temperature = draft.temperature.trim() === '' ? undefined : Number(draft.temperature)
  if (temperature !== undefined && !(temperature > 0 && temperature <= 2))
    return wrong('temperature', 'above 0 and at most 2, or empty')
  const rule = rewardRuleOf(draft.reward)
  if (typeof rule === 'string') return wrong('reward', rule)
  if (!rule) return wrong('reward', 'needs a rule: without rewards there is no value')
  const range = rangeOf(draft.kind, count ?? 1, context)
  if (!range) return wrong(undefined, 'Select a token that the model sampled first.')
  const chosen = choosePositions(trajectory, range)
  if (!chosen.ok) return wrong(undefined, `${sentenceCase(chosen.why.detail)}. ${chosen.why.hint}`)
  return {
    ok: true,
    positions: chosen.positions.length,
    tokens: estimatedTokens(trajectory, chosen.positions, n),
    body: {
      range,
      n,
      reward: rule,
      ...(draft.server !== '' && { server: draft.server }),
      ...(temperature !== undefined && { sampling: { ...recordedSampling(trajectory), temperature } }),
    },
  }
}

/** Whether the draft has a number of tokens, or a step. */
export const hasCount = ({ kind }: ValueDraft): boolean => kind === 'surprising' || kind === 'every'

/** Positions inside a drop: more would be too few tokens apart to find anything with few samples. */
const DROP_POSITIONS = 16

function rangeOf(kind: PositionKind, count: number, { token, cliff }: ValueContext): ValueRange | undefined {
  switch (kind) {
    case 'surprising':
      return { surprising: count }
    case 'every':
      return { every: count }
    case 'token':
      return token === undefined ? undefined : { tokens: [token] }
    case 'drop':
      if (!cliff) return undefined
      return {
        every: Math.ceil((cliff.to - cliff.from) / DROP_POSITIONS),
        from: cliff.from,
        to: cliff.to + 1,
      }
  }
}

/** Returns whether the model sampled the token at a position. */
export const isSampledToken = (trajectory: TrajectoryView, index: number): boolean =>
  tokenAt(trajectory, index)?.segment.kind === 'response'

function wholeNumber(text: string, least: number, most: number): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text.trim()) && value >= least && value <= most ? value : undefined
}
