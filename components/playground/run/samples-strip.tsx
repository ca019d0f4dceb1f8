'use client'
/** The samples of a group side by side with their states; a click shows a sample. */

import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef } from 'react'
import { countText, decimalText, percentText, rewardText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Select } from '#components/ui/field.tsx'
import { meanLogprob, type SampleProgress, type SampleRow } from '#lib/api/sample-progress.ts'
import { advantageOf, DEFAULT_FORMULA } from '#lib/trajectory/reward/advantage.ts'
import { type GroupRewards, groupRewards, passAt } from '#lib/trajectory/reward/group-rewards.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { SAMPLE_SORTS, type SampleSort, sortedSamples } from './sample-sort.ts'

interface SamplesStripProps {
  readonly rows: readonly SampleRow[]
  /** Key of the sample that is shown. */
  readonly shown: string | undefined
  readonly onShow: (key: string) => void
  readonly sort: SampleSort
  readonly onSort: (sort: SampleSort) => void
  readonly onStop: (row: SampleRow) => void
  readonly onStopAll: () => void
  /** Returns the inspector's address for a sample that has ended. */
  readonly inspectorHref: (key: string) => string
  /** Links to other views of the group. */
  readonly links: ReactNode
  /** Controls for the whole group: rewards, comparison, export. */
  readonly children: ReactNode
}

/** Strip with the samples of a group, their rewards and the controls of the group. */
export function SamplesStrip(props: SamplesStripProps) {
  const { rows, shown, onShow, sort, onSort, onStop, onStopAll, inspectorHref, links, children } = props
  const rewards = groupRewards(rows.map(({ reward }) => reward))
  const sorted = sortedSamples(rows, sort)
  const running = rows.filter(isRunning).length
  const row = rows.find(({ key }) => key === shown)
  const advantage =
    row && rewards && advantageOf({ reward: row.reward, trained: 0 }, rewards, DEFAULT_FORMULA)?.ofSample
  return (
    <section aria-label="Samples" className="border-line border-b" data-samples={running > 0 ? 'running' : 'ended'}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3.5 pt-2 text-xs">
        <p className="tabular-nums">
          <span className="font-medium">{countWithNoun(rows.length, 'sample')}</span>
          {running > 0 && <span className="text-accent"> · {running} running</span>}
          {rewards && <span className="text-dim"> · {rewardsText(rewards)}</span>}
        </p>
        {running > 0 && (
          <Button className="min-h-7!" onClick={onStopAll}>
            Stop all
          </Button>
        )}
        <span className="ml-auto flex items-center gap-1.5">{links}</span>
        <span className="flex flex-wrap items-center justify-end gap-1.5 max-sm:w-full">
          {rows.length > 1 && (
            <Select
              aria-label="Sort samples"
              className="max-sm:min-w-18 max-sm:flex-1"
              value={sort}
              onChange={(event) => onSort(event.target.value as SampleSort)}
            >
              {SAMPLE_SORTS.map(({ value, text }) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </Select>
          )}
          {children}
        </span>
      </div>
      <SampleList rows={sorted} shown={shown} onShow={onShow} />
      {row && (
        <p className="flex min-h-7 flex-wrap items-center gap-x-2 px-3.5 pb-1.5 text-dim text-xs tabular-nums">
          <span className="font-medium text-ink">
            Sample {row.index + 1}
            {row.server !== undefined && ` · ${row.server}`}
          </span>
          {row.reward !== null && <span>reward {rewardText(row.reward)}</span>}
          {row.rewardWhy !== null && <span className="min-w-0 wrap-anywhere">{row.rewardWhy}</span>}
          {advantage !== undefined && (
            <span title="(reward − mean) / deviation of the group, as in GRPO">advantage {signedText(advantage)}</span>
          )}
          {!isRunning(row) && (
            <a href={inspectorHref(row.key)} className="font-medium text-accent hover:underline">
              Open in inspector
            </a>
          )}
          {row.rolloutId !== undefined && (
            <Button className="min-h-6! px-1.5" onClick={() => onStop(row)}>
              Stop this sample
            </Button>
          )}
        </p>
      )}
    </section>
  )
}

const isRunning = ({ progress }: SampleRow): boolean => progress.state !== 'ended'

/** Numbers of draws k for which pass@k is shown: 1, and those below the number of scored samples. */
const DRAWS = [1, 2, 4, 8, 16, 32] as const

function rewardsText(rewards: GroupRewards): string {
  const { scored, mean, deviation } = rewards
  const chances = DRAWS.filter((k) => k === 1 || k < scored).map((k) => `@${k} ${percentText(passAt(k, rewards) ?? 0)}`)
  return [
    `reward ${decimalText(mean, 2)}${scored > 1 ? ` ± ${decimalText(deviation, 2)}` : ''}`,
    `pass ${chances.slice(0, 3).join(' ')}`,
  ].join(' · ')
}

const signedText = (value: number): string => `${value > 0 ? '+' : ''}${decimalText(value, 2)}`

interface SampleListProps {
  readonly rows: readonly SampleRow[]
  readonly shown: string | undefined
  readonly onShow: (key: string) => void
}

function SampleList({ rows, shown, onShow }: SampleListProps) {
  const list = useRef<HTMLDivElement>(null)
  const isCompact = rows.length > MOST_IN_A_ROW
  useEffect(() => {
    const option = shown === undefined ? null : optionOf(list.current, shown)
    option?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [shown])
  const press = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ key }) => key === shown)
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -rows.length, End: rows.length }
    const step = steps[event.key as keyof typeof steps]
    const next = step === undefined ? undefined : rows[Math.max(0, Math.min(rows.length - 1, at + step))]
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    onShow(next.key)
    optionOf(list.current, next.key)?.focus()
  }
  return (
    <div
      ref={list}
      role="listbox"
      aria-label="Samples of this group"
      aria-orientation="horizontal"
      tabIndex={-1}
      data-compact={isCompact || undefined}
      className={
        isCompact
          ? 'flex max-h-31 flex-wrap gap-1 overflow-y-auto px-3.5 py-2'
          : 'flex gap-1.5 overflow-x-auto px-3.5 py-2'
      }
      onKeyDown={press}
      onClick={(event) => {
        const option = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-key]') : null
        if (option?.dataset.key !== undefined) onShow(option.dataset.key)
      }}
    >
      {rows.map(({ index, key, server, progress, reward }, place) => (
        <Sample
          key={key}
          sampleKey={key}
          index={index}
          server={server}
          progress={progress}
          reward={reward}
          isCompact={isCompact}
          isShown={key === shown}
          isStop={shown === undefined ? place === 0 : key === shown}
        />
      ))}
    </div>
  )
}

/** If there are more samples, they are drawn in several rows, each as its number and a mark, so that all are visible. */
const MOST_IN_A_ROW = 16

const optionOf = (list: Element | null, key: string): HTMLElement | null =>
  list?.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) ?? null

interface SampleProps {
  readonly sampleKey: string
  readonly index: number
  readonly server: string | undefined
  readonly progress: SampleProgress
  readonly reward: number | null
  readonly isCompact: boolean
  readonly isShown: boolean
  /** Whether Tab moves the focus to this sample. */
  readonly isStop: boolean
}

/** Memoized: during a run of 64 samples, few change in one frame. */
const Sample = memo(function Sample(props: SampleProps) {
  const { sampleKey, index, server, progress, reward, isCompact, isShown, isStop } = props
  return (
    <div
      role="option"
      aria-selected={isShown}
      tabIndex={isStop ? 0 : -1}
      data-key={sampleKey}
      data-sample={index}
      data-state={progress.state}
      data-reward={reward ?? undefined}
      title={
        isCompact
          ? [server, wordOf(progress), `${countText(progress.tokens)} tokens`].filter(Boolean).join(' · ')
          : undefined
      }
      className={`${isCompact ? 'flex w-14 justify-between px-1.5' : 'grid w-32 grid-cols-[minmax(0,1fr)] px-2 py-1'} shrink-0 cursor-pointer rounded-md border border-line bg-raised text-xs tabular-nums hover:border-line-strong aria-selected:border-accent aria-selected:bg-accent-soft`}
    >
      {isCompact ? (
        <CompactSample index={index} server={server} progress={progress} reward={reward} />
      ) : (
        <WholeSample index={index} server={server} progress={progress} reward={reward} />
      )}
    </div>
  )
})

type Told = Pick<SampleProps, 'index' | 'server' | 'progress' | 'reward'>

const wordOf = ({ state, outcome }: SampleProgress): string | undefined => (state === 'ended' ? outcome : state)

function CompactSample({ index, server, progress, reward }: Told) {
  const ink = reward === null ? inkOf(progress) : reward > 0 ? 'text-good' : 'text-bad'
  return (
    <>
      <span className="font-medium">{index + 1}</span>
      <span className="sr-only">
        {server !== undefined && `${server}, `}
        {wordOf(progress)}, {countText(progress.tokens)} tokens
      </span>
      <span className={`min-w-0 truncate ${ink}`}>
        {reward === null ? <span aria-hidden>{markOf(progress)}</span> : rewardText(reward)}
      </span>
    </>
  )
}

function markOf({ state, outcome, outcomeKind }: SampleProgress): string {
  if (state === 'waiting') return '·'
  if (state !== 'ended') return '…'
  if (outcomeKind === 'failed') return '✗'
  return outcome === 'end_turn' ? '✓' : '■'
}

function WholeSample({ index, server, progress, reward }: Told) {
  const { outcome, outcomeKind, tokens } = progress
  return (
    <>
      {server !== undefined && (
        <span className="flex gap-1.5 font-medium">
          {index + 1}
          <span className="min-w-0 truncate" title={server}>
            {server}
          </span>
        </span>
      )}
      <span className="flex items-baseline gap-1.5">
        {server === undefined && <span className="font-medium">{index + 1}</span>}
        <span
          className={`min-w-0 flex-1 truncate ${inkOf(progress)}`}
          title={outcomeKind === 'failed' ? outcome : undefined}
        >
          {wordOf(progress)}
        </span>
        {reward !== null && (
          <span className={`font-medium ${reward > 0 ? 'text-good' : 'text-bad'}`}>{rewardText(reward)}</span>
        )}
      </span>
      <span className="flex justify-between gap-2 text-dim">
        <span>{countText(tokens)} tok</span>
        <span title="mean logprob">{decimalText(meanLogprob(progress))}</span>
      </span>
    </>
  )
}

function inkOf({ state, outcome, outcomeKind }: SampleProgress): string {
  if (state !== 'ended') return state === 'waiting' ? 'text-faint' : 'text-accent'
  if (outcomeKind === 'failed') return 'text-bad'
  return outcome === 'end_turn' ? 'text-dim' : 'text-warn'
}
