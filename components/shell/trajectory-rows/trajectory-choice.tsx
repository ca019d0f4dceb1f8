import type { ReactNode } from 'react'
import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Choice } from '#components/ui/choices.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { timeText, whenText } from '#lib/util/text/times.ts'
import { outcomeInk, titleText } from './row-texts.ts'

interface TrajectoryChoiceProps {
  readonly row: TrajectorySummary
  readonly onChoose: (key: string) => void
}

/** Shows a stored trajectory as a choice. */
export const TrajectoryChoice = ({ row, onChoose }: TrajectoryChoiceProps) => (
  <Choice title={titleText(row)} note={<TrajectoryFacts row={row} />} onChoose={() => onChoose(row.key)} />
)

/** The line below the title of a trajectory in a list. It distinguishes samples of one question, which have the same title. */
export function TrajectoryFacts({ row }: Pick<TrajectoryChoiceProps, 'row'>) {
  const { group, reward, outcome, tokens, addedAt } = row
  const model = row.model === null ? undefined : visibleText(row.model)
  const drift = driftText(row)
  return (
    <span className="flex flex-wrap overflow-hidden tabular-nums">
      {group && <Part>Sample {countText(group.index + 1)}</Part>}
      {reward !== null && <Part>reward {rewardText(reward)}</Part>}
      <Part>
        <span className={outcomeInk(row)}>{outcome}</span>
      </Part>
      {drift !== undefined && <Part>{drift}</Part>}
      <Part>{countWithNoun(tokens, 'token')}</Part>
      {model !== undefined && <Part title={model}>{model}</Part>}
      <Part title={timeText(addedAt)}>{whenText(addedAt, new Date())}</Part>
    </span>
  )
}

/** A part of a line, after a dot. Where the part begins a line, the dot is beyond the edge, and hidden. */
const Part = ({ title, children }: { readonly title?: string; readonly children: ReactNode }) => (
  <span
    title={title}
    className="relative -left-3.5 max-w-full truncate pl-3.5 before:absolute before:left-1.5 before:content-['·']"
  >
    {children}
  </span>
)

/** Returns the drift of a trajectory; undefined if it was not checked or is unknown. */
function driftText({ health }: Pick<TrajectorySummary, 'health'>): string | undefined {
  if (!health) return undefined
  const found = health.findings.find(({ kind }) => kind === 'drift')
  if (found) return found.label
  return health.unknown.some((why) => why.startsWith('drift:')) ? undefined : 'no drift'
}
