'use client'
import { useQuery } from '@tanstack/react-query'
import { countText } from '#components/token-view/numbers.ts'
import type { SessionRow } from '#lib/api/sessions/session.ts'
import { savingsOptions } from '#lib/browser/sessions/sessions.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

/** Shows what a session in tito mode saved, compared with a chat pipeline, on all its leaves together. */
export function SavingsLine({ session: { id, tokens, leaves, running } }: { readonly session: SessionRow }) {
  const { data } = useQuery({ ...savingsOptions(id, tokens), enabled: leaves > 0 && running === 0 })
  if (!data) return null
  const { drifts, trainedTokens, rows } = data.total
  const caveats = data.leaves.flatMap((leaf) => leaf.caveats)
  return (
    <span className="text-xs" title={caveats.length > 0 ? caveats.join(' ') : undefined}>
      <span className="font-medium">
        {countWithNoun(drifts, 'drift')} avoided · {countWithNoun(trainedTokens, 'trained token')} kept ·{' '}
        {countWithNoun(leaves, 'row')} instead of {countText(rows)}
      </span>{' '}
      <span className="text-dim">compared with a chat pipeline</span>
    </span>
  )
}
