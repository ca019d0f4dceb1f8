'use client'
/** The trajectory with which this one shares its first tokens, and the first token that differs. */
import { useQuery } from '@tanstack/react-query'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import type { ForkedFrom } from '#lib/trajectory/format/trajectory.ts'
import { idColumn, tokenAt, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { commonIds } from '#lib/util/common-prefix.ts'

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

const LINK = 'inline-flex min-h-6 items-center font-medium text-accent hover:underline'

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
  const { data: other, isError, isPending } = useQuery({ ...trajectoryOptions(key), retry: false })
  return (
    <section aria-label="Fork" className="mb-2 grid gap-1 text-xs" data-fork={token}>
      <p>
        Forked from{' '}
        {isError ? (
          'a trajectory that is not stored here'
        ) : (
          <Link href={`/t/${encodeURIComponent(key)}`} className={LINK}>
            another trajectory
          </Link>
        )}{' '}
        at{' '}
        <span className="whitespace-nowrap">
          <button type="button" className={LINK} onClick={() => onChoose(token)}>
            token {countText(token)}
          </button>
          :
        </span>{' '}
        {FORK_TEXTS[kind]}.
      </p>
      {/* The line of the difference has its space until it is known. */}
      {isPending && <p className="min-h-6" />}
      {other && (
        <p className="flex flex-wrap items-baseline gap-x-2">
          <Difference {...{ other, trajectory, token, onChoose }} />
          <Link href={compareBothHref(key, storedKey)} className={LINK}>
            Compare both
          </Link>
        </p>
      )}
    </section>
  )
}

interface DifferenceProps extends Pick<ForkRelationProps, 'trajectory' | 'onChoose'> {
  readonly other: TrajectoryView
  /** Index of the token at which the trajectory was forked. */
  readonly token: number
}

/** Shows the first token from the fork on that differs: a branch may insert or sample the token that was there before. */
function Difference({ other, trajectory, token, onChoose }: DifferenceProps) {
  const column = idColumn(trajectory)
  const first = token + commonIds(idColumn(other).subarray(token), column.subarray(token))
  if (first === column.length && first === tokenCount(other)) return <span>All tokens are the same.</span>
  return (
    <>
      {first > token && (
        <span>
          The first different token is{' '}
          <button type="button" className={LINK} onClick={() => onChoose(first)}>
            {countText(first)}
          </button>
          :
        </span>
      )}
      <span className="font-mono">
        <Piece trajectory={other} token={first} /> → <Piece trajectory={trajectory} token={first} />
      </span>
    </>
  )
}

/** Shows a token, or that the trajectory ends before it. */
function Piece({ trajectory, token }: { readonly trajectory: TrajectoryView; readonly token: number }) {
  const found = tokenAt(trajectory, token)
  return found ? <MarkedPiece id={found.id} vocab={trajectory.vocab} /> : <span className="text-dim">end</span>
}
