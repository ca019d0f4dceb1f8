'use client'
import { lazy, Suspense } from 'react'
import { Popover } from '#components/ui/popover.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { FieldErrors, Setup } from '#lib/share/settings/setup.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

const RewardFields = lazy(async () => ({
  default: (await import('#components/sharing/reward-fields.tsx')).RewardFields,
}))

interface SamplesFieldProps {
  readonly setup: Pick<Setup, 'samples' | 'reward'>
  readonly onChange: (change: Partial<Pick<Setup, 'samples' | 'reward'>>) => void
  readonly errors: FieldErrors
}

/** Characters of an expected answer on the button. */
const SHOWN = 16

/** Returns the rule in short: a rule that is kept for the next question rewards its answers too. */
function ruleText({ kind, expected, pattern }: Setup['reward']): string {
  const compared = kind === 'pattern' ? pattern : expected
  return compared === '' ? kind : `${kind} ${visibleText(excerpt(compared, SHOWN))}`
}

/** Fields for the number of samples per question and for their reward rule. */
export function SamplesField({ setup: { samples, reward }, onChange, errors }: SamplesFieldProps) {
  return (
    <div className="ml-auto flex items-center gap-2">
      {errors.samples !== undefined && (
        <p role="status" className="text-bad">
          Samples {errors.samples}
        </p>
      )}
      <label
        className="inline-flex min-h-7 shrink-0 items-center rounded-md border border-line bg-raised pl-2 text-dim hover:border-line-strong has-aria-invalid:border-bad has-focus-visible:outline-2 has-focus-visible:outline-accent has-focus-visible:outline-offset-1"
        title={errors.samples ? `Samples ${errors.samples}` : 'Samples of this question at once, 1 to 64'}
      >
        ×
        <input
          aria-label="Samples"
          aria-invalid={errors.samples === undefined ? undefined : true}
          inputMode="numeric"
          autoComplete="off"
          className="w-8 bg-transparent py-1 text-center text-ink outline-none"
          value={samples}
          onChange={(event) => onChange({ samples: event.target.value })}
        />
      </label>
      {(samples.trim() !== '1' || reward.kind !== 'none') && (
        <Popover
          label={reward.kind === 'none' ? 'Reward of the answers' : `Reward: ${ruleText(reward)}, of the answers`}
          button={
            <span className={errors.reward === undefined ? '' : 'text-bad'}>
              Reward{reward.kind !== 'none' && <span className="max-sm:sr-only">: {ruleText(reward)}</span>}
            </span>
          }
        >
          <Suspense fallback={null}>
            <RewardFields draft={reward} error={errors.reward} onChange={(changed) => onChange({ reward: changed })} />
          </Suspense>
        </Popover>
      )}
    </div>
  )
}
