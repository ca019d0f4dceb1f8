'use client'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import type { Setup } from '#lib/share/settings/setup.ts'
import type { FieldErrors } from '#lib/share/settings/setup-request.ts'

// Most questions have one sample and no reward.
const RewardButton = lazyPart(async () => (await import('./reward-button.tsx')).RewardButton)

interface SamplesFieldProps {
  readonly setup: Pick<Setup, 'samples' | 'reward'>
  readonly onChange: (change: Partial<Pick<Setup, 'samples' | 'reward'>>) => void
  readonly errors: FieldErrors
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
      {/* The button is before the field, which otherwise moves while a number is typed. */}
      {(samples.trim() !== '1' || reward.kind !== 'none') && (
        <RewardButton reward={reward} error={errors.reward} onChange={(changed) => onChange({ reward: changed })} />
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
    </div>
  )
}
