import { countText, percentText } from '#components/token-view/numbers.ts'
import type { CutCount } from '#lib/api/library.ts'
import type { TrainerCut } from '#lib/trajectory/health/trainer-cut.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'

interface CutSentenceProps {
  readonly count: CutCount
  readonly cut: TrainerCut
}

const VERBS: Readonly<Record<TrainerCut['overlong'], string>> = {
  cut: 'lost after that position',
  mask: 'masked with their samples',
  drop: 'dropped with their samples',
}

/** Shows what the trainer's cut loses of all listed trajectories, on all pages. */
export function CutSentence({ count: { samples, longer, losing, lost, trained, unknown }, cut }: CutSentenceProps) {
  return (
    <div className="grid gap-1 tabular-nums">
      <p>
        {countText(longer)} of {countText(samples)} trajectories {longer === 1 ? 'is' : 'are'} longer than{' '}
        {countText(cut.tokens)} tokens.
      </p>
      <p className={losing > 0 ? 'text-warn' : 'text-dim'}>
        {losing === 0
          ? 'No trained token is lost.'
          : `${countText(lost)} of ${countText(trained)} trained tokens (${percentText(lost / trained)}) in ${countWithNoun(losing, 'trajectory', 'trajectories')} are ${VERBS[cut.overlong]}.`}
      </p>
      {unknown > 0 && (
        <p className="text-dim">
          {countWithNoun(unknown, 'was', 'were')} stored by an older version and {unknown === 1 ? 'is' : 'are'} counted
          when checked.
        </p>
      )}
    </div>
  )
}
