import { RewardFields } from '#components/sharing/reward-fields.tsx'
import { Popover } from '#components/ui/popover.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import type { Setup } from '#lib/share/settings/setup.ts'
import { excerpt } from '#lib/util/text/excerpt.ts'

interface RewardButtonProps {
  readonly reward: Setup['reward']
  readonly error: string | undefined
  readonly onChange: (reward: Setup['reward']) => void
}

/** Characters of an expected answer on the button. */
const SHOWN = 16

/** Returns the rule in short: a rule that is kept for the next question rewards its answers too. */
function ruleText({ kind, expected, pattern }: Setup['reward']): string {
  const compared = kind === 'pattern' ? pattern : expected
  return compared === '' ? kind : `${kind} ${visibleText(excerpt(compared, SHOWN))}`
}

/** Button with the reward rule in short, which opens its fields. */
export function RewardButton({ reward, error, onChange }: RewardButtonProps) {
  return (
    <Popover
      label={reward.kind === 'none' ? 'Reward of the answers' : `Reward: ${ruleText(reward)}, of the answers`}
      button={
        <span className={error === undefined ? '' : 'text-bad'}>
          Reward{reward.kind !== 'none' && <span className="max-sm:sr-only">: {ruleText(reward)}</span>}
        </span>
      }
    >
      <RewardFields draft={reward} error={error} onChange={onChange} />
    </Popover>
  )
}
