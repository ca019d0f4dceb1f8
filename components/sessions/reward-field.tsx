'use client'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useId, useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { SESSIONS, setSessionReward } from '#lib/browser/sessions/sessions.ts'
import { reportOutcome } from './report-outcome.ts'

interface RewardFieldProps {
  readonly session: SessionRow
  readonly onMessage: (message: string) => void
}

/** Shows the reward of a session as a field. An empty field removes it. */
export function RewardField({ session: { id, reward }, onMessage }: RewardFieldProps) {
  /** The typed text. Undefined: the field shows the stored reward. */
  const [draft, setDraft] = useState<string>()
  const text = draft ?? (reward === null ? '' : String(reward))
  const field = useId()
  const client = useQueryClient()
  const value = text.trim() === '' ? null : Number(text)
  const isValid = value === null || Number.isFinite(value)
  const save = async (event: FormEvent) => {
    event.preventDefault()
    if (!isValid) return
    await reportOutcome(async () => {
      await setSessionReward(id, value)
      await client.invalidateQueries({ queryKey: SESSIONS })
      // Text that was typed while saving stays.
      setDraft((typed) => (typed === draft ? undefined : typed))
      return value === null ? 'The reward was removed.' : `The reward is ${value}.`
    }, onMessage)
  }
  return (
    <form className="flex items-center gap-1.5 text-xs" onSubmit={save}>
      <label htmlFor={field} className="text-dim max-sm:sr-only">
        Reward
      </label>
      <input
        id={field}
        inputMode="decimal"
        placeholder="Reward"
        autoComplete="off"
        aria-invalid={!isValid || undefined}
        className="min-h-8 w-18 rounded-md border border-line bg-raised px-2 placeholder:text-faint sm:placeholder:text-transparent aria-invalid:border-bad"
        value={text}
        onChange={(event) => setDraft(event.target.value)}
      />
      <Button type="submit" className="text-xs" disabled={!isValid || value === reward}>
        Set
      </Button>
    </form>
  )
}
