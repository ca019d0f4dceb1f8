'use client'
import type { ReactNode } from 'react'
import { countText, decimalText } from '#components/token-view/numbers.ts'
import { type ClipRule, clipEffect, type RatioOrder } from '#lib/analysis/rescore/clipping.ts'
import type { Rescoring } from '#lib/analysis/rescore/rescoring.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { idsIn } from '#lib/trajectory/tokens/range-sums.ts'
import { float64At, int32At } from '#lib/util/element-at.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import type { ComparePartProps } from '../view.ts'
import { deltaText, ratioTextOfDelta, WHY_NO_RATIO } from './rescore-texts.ts'

interface UnitsProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView'> {
  readonly rescoring: Rescoring
  readonly order: RatioOrder
  readonly rule: ClipRule
  /** Noise floor in nats: smaller changes are not listed. */
  readonly floor: number
  /** Shows a token of the left side in the lanes. */
  readonly onToken: (token: number) => void
}

const MOST_HEAVY = 10
const MOST_CLIPPED = 200

/** Tokens and spans whose ratio is farthest from 1, and those that a correction clips; a click shows their drift span. */
export function LargestChanges({ pair, rescoring, order, rule, view, onView, floor, onToken }: UnitsProps) {
  const { below, above, tokens } = clipEffect(order, rule)
  const { length } = order.units
  const clipped = [
    ...order.units.subarray(Math.max(above.start, above.end - MOST_CLIPPED)).toReversed(),
    ...order.units.subarray(0, Math.min(below.end, MOST_CLIPPED)),
  ]
  const isClipped = (delta: number) =>
    delta > Math.log(rule.high) || (rule.kind === 'mask' && delta < Math.log(rule.low))
  const marked = (unit: number) =>
    isClipped(float64At(rescoring.units.deltas, unit)) ? (rule.kind === 'mask' ? 'left out' : 'truncated') : undefined
  const row = (unit: number, mark?: string) => (
    <UnitRow
      key={unit}
      pair={pair}
      rescoring={rescoring}
      unit={unit}
      mark={mark}
      view={view}
      onView={onView}
      onToken={onToken}
    />
  )
  // The ratios farthest from 1 are at both ends of the order.
  const ends = [
    ...order.units.subarray(0, MOST_HEAVY),
    ...order.units.subarray(Math.max(MOST_HEAVY, length - MOST_HEAVY)),
  ]
  const largest = ends
    .filter((unit) => Math.abs(float64At(rescoring.units.deltas, unit)) > floor)
    .sort((a, b) => Math.abs(float64At(rescoring.units.deltas, b)) - Math.abs(float64At(rescoring.units.deltas, a)))
    .slice(0, MOST_HEAVY)
  return (
    <div className="grid gap-1.5">
      {tokens > 0 && (
        <details>
          <summary className="cursor-pointer text-dim">Which {countWithNoun(tokens, 'token')}</summary>
          <ul aria-label="Clipped" className="mt-1 max-h-60 overflow-y-auto">
            {clipped.map((unit) => row(unit))}
          </ul>
        </details>
      )}
      <h3 className="font-medium text-dim">Largest changes</h3>
      {largest.length === 0 ? (
        <p className="text-faint">{floor > 0 ? 'None is above the noise floor.' : 'None: every ratio is 1.'}</p>
      ) : (
        <ul aria-label="Largest changes">{largest.map((unit) => row(unit, marked(unit)))}</ul>
      )}
    </div>
  )
}

interface UnitRowProps extends Pick<ComparePartProps, 'pair' | 'view' | 'onView'>, Pick<UnitsProps, 'onToken'> {
  readonly rescoring: Rescoring
  readonly unit: number
  /** What the correction does to the unit; undefined: nothing. */
  readonly mark: string | undefined
}

function UnitRow({ pair, rescoring: { units }, unit, mark, view, onView, onToken }: UnitRowProps) {
  const { comparison, left } = pair.compared
  const start = int32At(units.leftStarts, unit)
  const own = int32At(units.drifts, unit)
  // A token whose id is equal on both sides differs through its context: through the last drift span before it.
  const drift = own >= 0 ? own : comparison.report.spans.findLastIndex((span) => span.left.end <= start)
  const delta = float64At(units.deltas, unit)
  const text = textOf([...idsIn(left.trajectory, { start, end: int32At(units.leftEnds, unit) })], left.trajectory.vocab)
  const line = (
    <>
      <span className="flex min-w-0 gap-1.5">
        <span className="shrink-0 text-faint">
          {countText(start)}
          {own >= 0 && ' span'}
        </span>
        <bdi className="truncate whitespace-pre font-mono">{oneLine(text)}</bdi>
        {mark !== undefined && <span className="shrink-0 text-warn">{mark}</span>}
      </span>
      <span className="shrink-0 text-right">
        {deltaText(delta)} <span className="inline-block min-w-12 text-dim">×{ratioTextOfDelta(delta)}</span>
      </span>
    </>
  )
  return (
    <li data-unit={unit} data-delta={delta}>
      <DriftButton
        drift={drift}
        isChosen={own >= 0 && view.drift === own}
        title={own >= 0 ? 'Show the span' : 'Show the drift before it'}
        onView={onView}
        onToken={() => onToken(start)}
      >
        {line}
      </DriftButton>
    </li>
  )
}

interface SpansProps extends Pick<ComparePartProps, 'view' | 'onView'> {
  readonly rescoring: Rescoring
}

/** Drift spans without a ratio: the logprob of each side, and the reason. */
export function SpansWithoutRatio({ rescoring: { spans }, view, onView }: SpansProps) {
  const without = spans.flatMap((span, drift) =>
    span.ratio.kind === 'none' ? [{ ...span, drift, why: span.ratio.why }] : [],
  )
  if (without.length === 0) return null
  return (
    <details open={without.length <= 3}>
      <summary className="cursor-pointer font-medium text-dim">
        {countText(without.length)} drift {without.length === 1 ? 'span' : 'spans'} without a ratio
      </summary>
      <ul aria-label="Without a ratio" className="mt-1 max-h-60 overflow-y-auto">
        {without.slice(0, MOST_CLIPPED).map(({ drift, left, right, why }) => (
          <li key={drift}>
            <DriftButton drift={drift} isChosen={view.drift === drift} title={WHY_NO_RATIO[why]} onView={onView}>
              <span className="min-w-0 truncate">
                <span className="text-faint">drift {countText(drift + 1)}</span> {WHY_NO_RATIO[why]}
              </span>
              <span
                className="shrink-0"
                title={`Mean logprob per token, left → right; sums: ${decimalText(left.sum)} → ${decimalText(right.sum)}`}
              >
                {decimalText(left.mean, 2)} → {decimalText(right.mean, 2)}
              </span>
            </DriftButton>
          </li>
        ))}
      </ul>
    </details>
  )
}

interface DriftButtonProps extends Pick<ComparePartProps, 'onView'> {
  /** Number of the drift span; −1: none. */
  readonly drift: number
  readonly isChosen: boolean
  readonly title: string
  /** Shows the token if there is no drift span. Omitted: nothing is shown then. */
  readonly onToken?: () => void
  readonly children: ReactNode
}

const ROW = 'flex w-full items-baseline justify-between gap-2 rounded-md px-1.5 py-1 text-left tabular-nums'

function DriftButton({ drift, isChosen, title, onView, onToken, children }: DriftButtonProps) {
  if (drift < 0 && onToken)
    return (
      <button type="button" title="Show the token" onClick={onToken} className={`${ROW} hover:bg-accent-soft`}>
        {children}
      </button>
    )
  if (drift < 0) return <span className={ROW}>{children}</span>
  return (
    <button
      type="button"
      title={title}
      aria-current={isChosen ? 'true' : undefined}
      onClick={() => onView({ drift })}
      className={`${ROW} hover:bg-accent-soft aria-[current]:bg-accent-soft`}
    >
      {children}
    </button>
  )
}

/** Returns the text with signs for line ends and tabs. */
const oneLine = (text: string): string => text.replaceAll('\n', '↵').replaceAll('\t', '→')
