'use client'
import { useEffect, useMemo, useRef } from 'react'
import { ServerField } from '#components/inspector/branch/branch-fields.tsx'
import { RewardFields } from '#components/sharing/reward-fields.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { CopyChoices } from '#components/ui/copy-button.tsx'
import { SelectField, TextField } from '#components/ui/field.tsx'
import { valueCurl, valuePython } from '#lib/share/reproduce/value.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import {
  hasCount,
  type PositionKind,
  recordedTemperature,
  usualCount,
  type ValueContext,
  type ValueDraft,
  type ValueField,
  valueInput,
} from './value-draft.ts'

interface ValueFormProps {
  readonly trajectory: TrajectoryView
  readonly storedKey: string
  readonly draft: ValueDraft
  readonly context: ValueContext
  readonly isStarting: boolean
  readonly onChange: (draft: ValueDraft) => void
  readonly onStart: () => void
}

/** Selector of a field that is wrong or has to be filled, and of the button that starts. */
const FIRST_TO_USE = '[aria-invalid="true"], [aria-required="true"][value=""], [type="submit"]:enabled'

/** Fields of a value estimate, with its cost. */
export function ValueForm({ trajectory, storedKey, draft, context, isStarting, onChange, onStart }: ValueFormProps) {
  const { token, cliff } = context
  // Long trajectories are searched for their positions, so this is not done again while the pointer moves.
  const input = useMemo(() => valueInput(draft, trajectory, { token, cliff }), [draft, trajectory, token, cliff])
  const errorOf = (field: ValueField) => (!input.ok && input.field === field ? input.why : undefined)
  const set = (change: Partial<ValueDraft>) => onChange({ ...draft, ...change })
  const temperature = recordedTemperature(trajectory)
  const form = useRef<HTMLFormElement>(null)
  // A form that was opened is ready for Enter: what is missing has the focus, or else the button that starts.
  useEffect(() => form.current?.querySelector<HTMLElement>(FIRST_TO_USE)?.focus(), [])
  return (
    <form
      ref={form}
      aria-label="Value estimate"
      className="grid grid-cols-[minmax(0,1fr)] gap-2.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (input.ok) onStart()
      }}
    >
      <div className="flex flex-wrap gap-x-6 gap-y-2.5">
        <div className="grid w-112 max-w-full grid-cols-[minmax(0,3fr)_minmax(0,2fr)] content-start gap-2.5">
          <SelectField
            label="Sample again from"
            value={draft.kind}
            onChange={({ target }) => {
              const kind = target.value as PositionKind
              set({ kind, count: usualCount(kind) })
            }}
          >
            <option value="surprising">the most surprising tokens</option>
            <option value="every">every k-th trained token</option>
            <option value="token" disabled={context.token === undefined}>
              {context.token === undefined ? 'this token (select one)' : `this token, ${countText(context.token)}`}
            </option>
            {context.cliff && (
              <option value="drop">
                the drop, {countText(context.cliff.from)}–{countText(context.cliff.to)}
              </option>
            )}
          </SelectField>
          {hasCount(draft) ? (
            <TextField
              label={draft.kind === 'every' ? 'k' : 'Tokens'}
              inputMode="numeric"
              value={draft.count}
              error={errorOf('count')}
              onChange={({ target }) => set({ count: target.value })}
            />
          ) : (
            <span />
          )}
          <TextField
            label="Samples at each token"
            inputMode="numeric"
            value={draft.resamples}
            error={errorOf('resamples')}
            onChange={({ target }) => set({ resamples: target.value })}
          />
          <TextField
            label="Temperature"
            explanation="Empty: as in this trajectory, with all other sampling parameters"
            placeholder={temperature === undefined ? 'as here' : `${temperature}, as here`}
            inputMode="decimal"
            value={draft.temperature}
            error={errorOf('temperature')}
            onChange={({ target }) => set({ temperature: target.value })}
          />
          <ServerField value={draft.server} onChange={(server) => set({ server })} />
        </div>
        <RewardFields draft={draft.reward} error={errorOf('reward')} onChange={(reward) => set({ reward })} />
      </div>
      <div className="sticky bottom-0 flex flex-wrap items-center gap-x-3 gap-y-1 bg-ground py-1">
        <Button type="submit" look="primary" disabled={!input.ok || isStarting}>
          Estimate the value
        </Button>
        <p className="min-w-0 flex-1 basis-60 text-dim text-xs" data-value-cost={input.ok ? input.tokens : undefined}>
          {input.ok ? (
            <>
              {countWithNoun(input.positions, 'token')} × {input.body.n} samples ≈{' '}
              <strong className="font-semibold text-ink">{countText(input.tokens)} tokens</strong>, if each sample is as
              long as this trajectory
            </>
          ) : input.field === undefined ? (
            <span className="text-bad">{input.why}</span>
          ) : (
            'The cost is shown when all fields are valid.'
          )}
        </p>
        {input.ok && (
          <CopyChoices
            choices={[
              { name: 'Python', text: () => valuePython(storedKey, input.body) },
              { name: 'cURL', text: () => valueCurl(storedKey, input.body) },
            ]}
          />
        )}
      </div>
    </form>
  )
}
