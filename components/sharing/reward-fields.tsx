import { type KeyboardEvent, useState } from 'react'
import { CheckField, SelectField, TextField } from '#components/ui/field.tsx'
import { wrongField } from '#lib/share/settings/reward-draft.ts'
import type { RewardDraft } from '#lib/share/settings/setup.ts'

interface RewardFieldsProps {
  readonly draft: RewardDraft
  readonly onChange: (draft: RewardDraft) => void
  /** Shown when the user has left a field or pressed Enter in it, and at once if a field was filled before. */
  readonly error: string | undefined
}

const KINDS = [
  { kind: 'none', text: 'No reward' },
  { kind: 'exact', text: 'The answer is' },
  { kind: 'pattern', text: 'The answer matches' },
  { kind: 'number', text: 'The last number is' },
] as const

/** Fields of a reward rule: an answer that matches gets 1, any other 0. */
export function RewardFields({ draft, onChange, error }: RewardFieldsProps) {
  const { kind } = draft
  const [isChecked, setIsChecked] = useState(draft.expected !== '' || draft.pattern !== '')
  const errorOf = (field: ReturnType<typeof wrongField>) =>
    isChecked && wrongField(draft) === field ? error : undefined
  const check = {
    onBlur: () => setIsChecked(true),
    onKeyDown: ({ key }: KeyboardEvent) => {
      if (key === 'Enter') setIsChecked(true)
    },
  }
  const set = (change: Partial<RewardDraft>) => onChange({ ...draft, ...change })
  return (
    <div className="grid w-72 max-w-full gap-2.5">
      <SelectField
        label="Reward"
        value={kind}
        onChange={(event) => {
          setIsChecked(false)
          set({ kind: event.target.value as RewardDraft['kind'] })
        }}
      >
        {KINDS.map(({ kind: value, text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </SelectField>
      {kind === 'pattern' && (
        <TextField
          label="Regular expression"
          className="font-mono text-xs"
          placeholder="#### (-?[0-9,]+)"
          value={draft.pattern}
          error={errorOf('pattern')}
          aria-required
          {...check}
          onChange={(event) => set({ pattern: event.target.value })}
        />
      )}
      {kind !== 'none' && (
        <div className={kind === 'number' ? 'grid grid-cols-2 gap-2.5' : ''}>
          <TextField
            label={kind === 'pattern' ? 'Expected capture (empty: any match)' : 'Expected'}
            placeholder={kind === 'number' ? '434' : undefined}
            value={draft.expected}
            error={errorOf('expected')}
            aria-required={kind === 'number'}
            {...check}
            onChange={(event) => set({ expected: event.target.value })}
          />
          {kind === 'number' && (
            <TextField
              label="Tolerance (empty: none)"
              placeholder="0.01"
              value={draft.tolerance}
              error={errorOf('tolerance')}
              {...check}
              onChange={(event) => set({ tolerance: event.target.value })}
            />
          )}
        </div>
      )}
      {(kind === 'exact' || kind === 'pattern') && (
        <CheckField
          label="Ignore case"
          checked={draft.ignoreCase}
          onChange={(event) => set({ ignoreCase: event.target.checked })}
        />
      )}
      <p className="text-faint text-xs">{NOTES[kind]}</p>
    </div>
  )
}

const NOTES: Readonly<Record<RewardDraft['kind'], string>> = {
  none: 'The answer is the last response without thinking and tool calls.',
  exact: 'The whole answer, without surrounding white space.',
  pattern: 'A regular expression of JavaScript. The last match counts; what its first group captures is compared.',
  number: 'Of the last \\boxed{…}, where there is one. 1,234, 3/4 and 12% are read as numbers.',
}
