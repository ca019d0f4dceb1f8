'use client'
import { useId } from 'react'
import { countText, percentText } from '#components/token-view/numbers.ts'
import { Segmented } from '#components/ui/segmented.tsx'
import { type ClipRule, clipEffect, type RatioOrder } from '#lib/analysis/rescore/clipping.ts'

interface ClipPreviewProps {
  readonly order: RatioOrder
  readonly rule: ClipRule
  readonly onRule: (rule: ClipRule) => void
}

/** The usual upper bound of truncated importance sampling. */
export const FIRST_RULE: ClipRule = { kind: 'truncate', high: 2 }
/** The bounds with which IcePop was published. */
const FIRST_MASK: ClipRule = { kind: 'mask', low: 0.5, high: 5 }

/** Preview of what a correction of importance ratios does to the trained tokens, with sliders for its thresholds. */
export function ClipPreview({ order, rule, onRule }: ClipPreviewProps) {
  const { tokens, of, weightKept } = clipEffect(order, rule)
  return (
    <div className="grid gap-1.5">
      <h3 className="font-medium text-dim">Preview of importance sampling correction</h3>
      <Segmented<ClipRule['kind']>
        label="Correction"
        value={rule.kind}
        onChange={(kind) => onRule(kind === 'truncate' ? FIRST_RULE : FIRST_MASK)}
        options={[
          { value: 'truncate', text: 'Truncate', title: 'TIS: the weight of a token is min(r, C)' },
          {
            value: 'mask',
            text: 'Mask',
            title: 'MIS, IcePop: tokens whose ratio is outside the bounds are left out',
          },
        ]}
      />
      {rule.kind === 'mask' && (
        <Threshold
          label="Low"
          value={rule.low}
          // The ranges meet at 1, so the bounds never cross.
          exponents={[-3, 0]}
          onValue={(low) => onRule({ ...rule, low })}
        />
      )}
      <Threshold
        label={rule.kind === 'mask' ? 'High' : 'C'}
        value={rule.high}
        exponents={[0, 2]}
        onValue={(high) => onRule({ ...rule, high })}
      />
      <output className="tabular-nums" data-clipped={tokens}>
        <span className="font-semibold">
          {countText(tokens)} of {countText(of)}
        </span>{' '}
        trained tokens {rule.kind === 'mask' ? 'left out' : 'truncated'}
        {tokens > 0 && ` (${percentText(tokens / of)})`};{' '}
        <span className="whitespace-nowrap">{percentText(weightKept)}</span> of the weight kept.
      </output>
    </div>
  )
}

interface ThresholdProps {
  readonly label: string
  readonly value: number
  /** Smallest and largest power of ten of the slider, which is linear in the logarithm of the ratio. */
  readonly exponents: readonly [number, number]
  readonly onValue: (value: number) => void
}

function Threshold({ label, value, exponents: [least, most], onValue }: ThresholdProps) {
  const id = useId()
  return (
    <div className="grid grid-cols-[2.5rem_minmax(0,1fr)_3rem] items-center gap-2">
      <label htmlFor={id} className="text-dim">
        {label}
      </label>
      <input
        id={id}
        type="range"
        min={least}
        max={most}
        step={0.01}
        value={Math.log10(value)}
        aria-valuetext={thresholdText(value)}
        onChange={({ target }) => onValue(10 ** Number(target.value))}
        className="accent-(--accent)"
      />
      <span className="text-right tabular-nums">{thresholdText(value)}</span>
    </div>
  )
}

const thresholdText = (value: number): string => String(Number(value.toPrecision(3)))
