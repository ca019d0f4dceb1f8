'use client'
import { useQuery } from '@tanstack/react-query'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { savingsOptions } from '#lib/browser/sessions/sessions.ts'
import { savingsEnd, savingsParts } from './savings-text.ts'

/** Shows what a session in tito mode saved, compared with a chat pipeline, on all its leaves together. */
export function SavingsLine({ session: { id, tokens, leaves, running } }: { readonly session: SessionRow }) {
  const { data } = useQuery({ ...savingsOptions(id, tokens), enabled: leaves > 0 && running === 0 })
  if (!data || data.leaves.length === 0) return null
  const parts = savingsParts(data.total, data.leaves.length)
  const caveats = data.leaves.flatMap((leaf) => leaf.caveats)
  return (
    <span className="text-xs" title={caveats.length > 0 ? caveats.join(' ') : undefined}>
      <span className="font-medium">{parts.join(' · ')}</span> <span className="text-dim">{savingsEnd(parts)}</span>
    </span>
  )
}
