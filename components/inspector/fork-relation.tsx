'use client'
/** The trajectory with which this one shares its first tokens, and the first token that differs. */
import { useQuery } from '@tanstack/react-query'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import type { ForkedFrom } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** What made two trajectories different, as the end of “forked at token 20: …”. */
export const FORK_TEXTS: Readonly<Record<ForkedFrom['kind'], string>> = {
  sampled_again: 'sampled again after the same prompt',
  alternative: 'another token was chosen',
  forced: 'text or ids were inserted',
  tool_result: 'another tool result',
  message: 'another message',
  settings: 'sampled with other settings',
  continued: 'a further turn, or a resumed response',
  cut: 'cut there',
  rendered_again: 'drift: the conversation was encoded again',
}

interface ForkRelationProps {
  readonly forkedFrom: ForkedFrom
  readonly trajectory: TrajectoryView
  readonly storedKey: string
  /** Selects a token. */
  readonly onChoose: (index: number) => void
}

/** Shows from which trajectory a stored one was forked, at which token and why, with a comparison of both. */
export function ForkRelation({ forkedFrom, trajectory, storedKey, onChoose }: ForkRelationProps) {
  const { trajectory: key, token, kind } = forkedFrom
  const { data: other, isError } = useQuery({ ...trajectoryOptions(key), retry: false })
  const link = 'inline-flex min-h-6 items-center font-medium text-accent hover:underline'
  return (
    <section aria-label="Fork" className="mb-2 grid gap-1 text-xs" data-fork={token}>
      <p>
        Forked from{' '}
        {isError ? (
          'a trajectory that is not stored here'
        ) : (
          <Link href={`/t/${encodeURIComponent(key)}`} className={link}>
            another trajectory
          </Link>
        )}{' '}
        at{' '}
        <span className="whitespace-nowrap">
          <button type="button" className={link} onClick={() => onChoose(token)}>
            token {countText(token)}
          </button>
          :
        </span>{' '}
        {FORK_TEXTS[kind]}.
      </p>
      {other && (
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-mono">
            <Piece trajectory={other} token={token} /> → <Piece trajectory={trajectory} token={token} />
          </span>
          <Link href={compareBothHref(key, storedKey)} className={link}>
            Compare both
          </Link>
        </p>
      )}
    </section>
  )
}

/** Shows a token, or that the trajectory ends before it. */
function Piece({ trajectory, token }: { readonly trajectory: TrajectoryView; readonly token: number }) {
  const found = tokenAt(trajectory, token)
  return found ? <MarkedPiece id={found.id} vocab={trajectory.vocab} /> : <span className="text-dim">end</span>
}
