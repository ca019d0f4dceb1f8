'use client'
import { useRef, useState } from 'react'
import { RewardFields } from '#components/sharing/reward-fields.tsx'
import { compareBothHref, groupTreeHref, inspectorHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { Link } from '#components/shell/navigation.tsx'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { Popover, type PopoverControl } from '#components/ui/popover.tsx'
import type { SampleRow } from '#lib/api/sample-progress.ts'
import type { GroupView } from '#lib/browser/rollout/use-group.ts'
import { rewardDraftOf, rewardRuleOf } from '#lib/share/settings/reward-draft.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import type { SampleSort } from './sample-sort.ts'
import { SamplesStrip } from './samples-strip.tsx'

const ServerComparison = lazyPart(async () => (await import('./server-comparison.tsx')).ServerComparisonPanel)
const SeveralExport = lazyPart(async () => (await import('#components/export/several-export.tsx')).SeveralExport)

interface PlaygroundSamplesProps {
  readonly groupId: string
  readonly group: GroupView
  /** Key of the sample that is shown. */
  readonly shown: string | undefined
  /** Shows a sample, at a token if one is given. */
  readonly onShow: (key: string, token?: number) => void
  /** Calls the server and shows its refusal. */
  readonly onCall: (call: () => Promise<unknown>) => Promise<void>
}

/** The samples of a group and the actions on them. This module is loaded with the first group. */
export function PlaygroundSamples({ groupId, group, shown, onShow, onCall }: PlaygroundSamplesProps) {
  const [sort, setSort] = useState<SampleSort>('index')
  const [exported, setExported] = useState<readonly string[]>()
  const reward = useRef<PopoverControl>(null)
  const { rows, rule, refused } = group
  const hasEnded = rows.every(({ progress }) => progress.state === 'ended')
  const keys = rows.map(({ key }) => key)
  return (
    <>
      <SamplesStrip
        rows={rows}
        shown={shown}
        onShow={(key) => onShow(key)}
        sort={sort}
        onSort={setSort}
        onStop={(row) => onCall(() => group.stop(row))}
        onStopAll={() => onCall(group.stopAll)}
        inspectorHref={inspectorHref}
        links={
          <>
            <Link href={groupTreeHref(groupId)} className="px-1 font-medium text-accent hover:underline">
              Tree
            </Link>
            <Link
              href={`/library?${new URLSearchParams({ group: groupId })}`}
              className="px-1 font-medium text-accent hover:underline"
            >
              Library
            </Link>
          </>
        }
      >
        <Popover label="Reward of the group" button="Reward" control={reward}>
          <RewardForm
            key={JSON.stringify(rule)}
            rule={rule}
            onChange={(changed) => {
              // The panel would cover the rewards.
              reward.current?.toggle()
              return onCall(() => group.changeReward(changed))
            }}
          />
        </Popover>
        <Comparison rows={rows} shown={shown} />
        <Button className="min-h-7!" onClick={() => setExported(keys)}>
          Export…
        </Button>
      </SamplesStrip>
      {refused.map(({ server, detail, hint }) => (
        <Banner key={server} tone="bad" title={`${server} runs nothing: ${detail}`} hint={hint} />
      ))}
      {hasEnded && new Set(rows.map(({ server }) => server)).size > 1 && (
        <ServerComparison groupId={groupId} onShow={onShow} />
      )}
      {exported && (
        <SeveralExport
          keys={exported}
          onClose={() => setExported(undefined)}
          onSaveError={(error) => onCall(() => Promise.reject(error))}
        />
      )}
    </>
  )
}

interface RewardFormProps {
  readonly rule: RewardRule | null
  /** Called with the new rule; undefined removes the rewards. */
  readonly onChange: (rule: RewardRule | undefined) => void
}

function RewardForm({ rule, onChange }: RewardFormProps) {
  const [draft, setDraft] = useState(() => rewardDraftOf(rule))
  const changed = rewardRuleOf(draft)
  const error = typeof changed === 'string' ? changed : undefined
  return (
    <form
      className="grid gap-2.5"
      onSubmit={(event) => {
        event.preventDefault()
        if (typeof changed !== 'string') onChange(changed)
      }}
    >
      <RewardFields draft={draft} onChange={setDraft} error={error} />
      <Button type="submit" look="primary" disabled={error !== undefined}>
        Reward all samples
      </Button>
    </form>
  )
}

/** Link that compares the shown sample with another one. */
function Comparison({ rows, shown }: { readonly rows: readonly SampleRow[]; readonly shown: string | undefined }) {
  const others = rows.filter(({ key }) => key !== shown)
  const [only] = others
  if (shown === undefined || !only) return null
  const link =
    'inline-flex min-h-7 min-w-7 items-center justify-center rounded-md border border-line bg-raised px-2 hover:border-line-strong'
  if (others.length === 1)
    return (
      <Link className={`${link} font-medium`} href={compareBothHref(shown, only.key)}>
        Compare
      </Link>
    )
  return (
    <Popover label="Compare with another sample" button="Compare">
      <p className="mb-2 text-dim text-xs">The sample that is shown, beside sample</p>
      <ul className="flex max-w-72 flex-wrap gap-1.5">
        {others.map(({ index, key }) => (
          <li key={key}>
            <Link className={link} href={compareBothHref(shown, key)} aria-label={`Compare with sample ${index + 1}`}>
              {index + 1}
            </Link>
          </li>
        ))}
      </ul>
    </Popover>
  )
}
