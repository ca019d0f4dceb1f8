import { countText, rewardText } from '#components/token-view/numbers.ts'
import { Fact, Facts } from '#components/ui/facts.tsx'
import type { GroupSummary, TrajectorySummary } from '#lib/api/library.ts'
import { flatText, timeText, titleText } from './row-texts.ts'

interface GroupFactsProps {
  readonly group: GroupSummary
  /** The sample that represents the group. */
  readonly row: TrajectorySummary
}

/** Shows facts about a group without its samples. */
export function GroupFacts({ group, row }: GroupFactsProps) {
  const { keys, matching, running, rewards, isFlat } = group
  return (
    <>
      <p className="mb-3 [overflow-wrap:anywhere]">{titleText({ ...row, title: null })}</p>
      <Facts>
        <Fact name="samples">
          {countText(keys.length)}
          {matching < keys.length && ` · ${countText(matching)} match`}
          {running > 0 && ` · ${countText(running)} running`}
        </Fact>
        <Fact name="mean reward">{rewardText(rewards?.mean ?? null)}</Fact>
        <Fact name="lowest reward">{rewardText(rewards?.min ?? null)}</Fact>
        <Fact name="highest reward">{rewardText(rewards?.max ?? null)}</Fact>
        {rewards && rewards.known < keys.length && (
          <Fact name="rewards known">{`${countText(rewards.known)} of ${countText(keys.length)}`}</Fact>
        )}
        <Fact name="model">{row.model ?? '—'}</Fact>
        <Fact name="added">{timeText(row.addedAt)}</Fact>
      </Facts>
      {isFlat && <p className="mt-2 text-warn text-xs">{flatText(group)}</p>}
    </>
  )
}
