'use client'
/** The value of tokens: samples that continue the trajectory from some of them, and where the reward drops. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useRef, useState } from 'react'
import { countText, shortRewardText } from '#components/token-view/numbers.ts'
import { selectedToken, single } from '#components/token-view/selection.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import { IconButton } from '#components/ui/icon-button.tsx'
import type { ValueEstimate, ValueEstimates } from '#lib/api/forest/value.ts'
import { ApiError } from '#lib/browser/api.ts'
import {
  changeEstimate,
  startEstimate,
  valueEstimateOptions,
  valueEstimatesOptions,
} from '#lib/browser/library/values.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { continuationObstacle } from '../branch/branch-obstacle.ts'
import type { InspectorPartProps } from '../inspection.ts'
import { usePanelCommand } from '../selection/panel-commands.ts'
import { DropAfterFork, type InheritedEstimate, originText, sharedPart } from './inherited-value.tsx'
import { ValueChart } from './value-chart.tsx'
import {
  isSampledToken,
  type ValueContext,
  type ValueDraft,
  valueDraftFor,
  valueInput,
  withKnownPositions,
} from './value-draft.ts'
import { ValueForm } from './value-form.tsx'
import { answersText, cliffEvidence, cliffText, meanWithInterval, rangeText } from './value-text.ts'

interface ValuePanelProps extends InspectorPartProps {
  readonly storedKey: string
  readonly onClose: () => void
}

/** Shows the estimates of a trajectory, and the form of a new one. */
export function ValuePanel({ inspection, storedKey, onClose }: ValuePanelProps) {
  const { data, error } = useQuery(valueEstimatesOptions(storedKey))
  return (
    <section aria-label="Value" className="border-line border-b px-3.5 py-2">
      {data ? (
        <Estimates inspection={inspection} storedKey={storedKey} known={data} onClose={onClose} />
      ) : (
        <div className="flex min-h-9 items-center justify-between gap-3">
          {error ? (
            <Banner tone="bad" title="The value estimates cannot be read." hint={error.message} />
          ) : (
            <p role="status" className="text-faint text-xs">
              Reading the value estimates…
            </p>
          )}
          <CloseButton onClose={onClose} />
        </div>
      )}
    </section>
  )
}

const CloseButton = ({ onClose }: Pick<ValuePanelProps, 'onClose'>) => (
  <IconButton label="Close the value" onClick={onClose}>
    <X size={15} aria-hidden />
  </IconButton>
)

interface EstimatesProps extends ValuePanelProps {
  readonly known: ValueEstimates
}

function Estimates({ inspection, storedKey, known, onClose }: EstimatesProps) {
  const { trajectory, view } = inspection
  const client = useQueryClient()
  const [chosen, setChosen] = useState<string>()
  const [isOpen, setIsOpen] = useState(false)
  const [edited, setDraft] = useState<ValueDraft>(() => valueDraftFor(trajectory, known.reward))
  const [isStarting, setIsStarting] = useState(false)
  const [failure, setFailure] = useState<ApiError>()
  const panel = useRef<HTMLDivElement>(null)
  // A curve needs two positions, and a later estimate may share only one.
  const ofOthers = known.inherited.find(({ positions }) => positions > 1) ?? known.inherited[0]
  const id = chosen ?? known.estimates[0]?.id ?? ofOthers?.id
  const { data: estimate } = useQuery({ ...valueEstimateOptions(id ?? ''), enabled: id !== undefined })
  /** Set if the shown estimate is that of a trajectory from which this one was forked. */
  const inherited = known.inherited.find((each) => each.id === id)
  const displayed = estimate && inherited ? sharedPart(estimate, inherited, tokenCount(trajectory)) : estimate
  const selected = selectedToken(view.selection)
  const cliff = (!inherited && estimate?.cliff) || undefined
  const context: ValueContext = {
    token: selected !== undefined && isSampledToken(trajectory, selected) ? selected : undefined,
    cliff: cliff && cliff.to > cliff.from + 1 ? cliff : undefined,
  }
  const draft = withKnownPositions(edited, context)
  const obstacle = continuationObstacle(trajectory, 'The value can be estimated')
  const attempt = async (action: () => Promise<void>) => {
    setIsStarting(true)
    setFailure(undefined)
    try {
      await action()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFailure(error)
    } finally {
      setIsStarting(false)
    }
  }
  const start = (changed: ValueDraft = draft) => {
    const input = valueInput(changed, trajectory, context)
    if (!input.ok) return
    void attempt(async () => {
      const { id } = await startEstimate(storedKey, input.body, client)
      setChosen(id)
      setIsOpen(false)
      // The form disappears, and the Tab key continues with what replaces it.
      panel.current?.focus()
    })
  }
  const change = (what: 'cancel' | 'resume') => void attempt(() => changeEstimate(id ?? '', what, client))
  const isFormShown = obstacle === undefined && (isOpen || id === undefined)
  return (
    <div
      ref={panel}
      tabIndex={-1}
      className="grid grid-cols-[minmax(0,1fr)] gap-2 focus:outline-none"
      data-value-state={estimate?.state ?? (id === undefined ? 'none' : 'loading')}
    >
      <div className="flex items-start gap-2">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1.5">
          <h2 className="font-semibold text-sm">Value{inherited && ` of ${originText(inherited)}`}</h2>
          <p
            className={`min-w-0 flex-1 basis-56 text-dim text-xs tabular-nums ${isFormShown && estimate ? 'max-sm:hidden' : ''}`}
          >
            {estimate
              ? summaryText(estimate, inherited)
              : id === undefined
                ? 'No value yet: sample this trajectory again from some tokens to see where its reward was lost.'
                : 'Reading the estimate…'}
          </p>
          {known.estimates.length + known.inherited.length > 1 && (
            <select
              aria-label="Shown estimate"
              className="min-h-7 max-w-64 rounded-md border border-line bg-raised px-1.5 text-xs hover:border-line-strong"
              value={id}
              onChange={({ target }) => setChosen(target.value)}
            >
              {known.estimates.map((each) => (
                <option key={each.id} value={each.id}>
                  {optionText(each)}
                </option>
              ))}
              {known.inherited.map((each) => (
                <option key={each.id} value={each.id}>
                  {originText(each)}: {optionText(each)}
                </option>
              ))}
            </select>
          )}
          {/* Both are the same button, which keeps the focus. */}
          {estimate?.state === 'running' ? (
            <Button disabled={isStarting} onClick={() => change('cancel')}>
              Cancel, {countText(estimate.progress.ended)} of {countText(estimate.progress.resamples)}
            </Button>
          ) : (
            estimate &&
            !inherited &&
            estimate.progress.ended < estimate.progress.resamples && (
              <Button disabled={isStarting} onClick={() => change('resume')}>
                Resume, {countText(estimate.progress.resamples - estimate.progress.ended)} left
              </Button>
            )
          )}
          {obstacle === undefined && id !== undefined && (
            <Button aria-expanded={isFormShown} onClick={() => setIsOpen(!isOpen)}>
              New estimate…
            </Button>
          )}
        </div>
        <CloseButton onClose={onClose} />
      </div>
      {obstacle !== undefined && <p className="text-faint text-xs">{obstacle}</p>}
      {estimate?.failure && (
        <Banner
          tone="bad"
          title={`The estimate stopped: ${estimate.failure.message}`}
          hint="The samples so far are kept. Resume it when the cause is gone."
        />
      )}
      {estimate && <Reading inspection={inspection} estimate={estimate} inherited={inherited} />}
      {context.cliff && estimate?.state === 'done' && (
        <Button
          className="w-fit text-xs"
          disabled={isStarting}
          onClick={() => {
            setDraft({ ...draft, kind: 'drop' })
            setIsOpen(true)
          }}
        >
          Narrow it down: estimate between these tokens…
        </Button>
      )}
      {/* The form takes the place of the chart: together they are higher than most windows. */}
      {isFormShown ? (
        <ValueForm
          trajectory={trajectory}
          storedKey={storedKey}
          draft={draft}
          context={context}
          isStarting={isStarting}
          onChange={setDraft}
          onStart={start}
        />
      ) : (
        displayed && (
          <ValueChart inspection={inspection} estimate={displayed} storedKey={storedKey} forkedAt={inherited?.shared} />
        )
      )}
      {failure && <Banner tone="bad" title={failure.message} hint={failure.hint} />}
    </div>
  )
}

const optionText = ({ range, n, createdAt }: Pick<ValueEstimate, 'range' | 'n' | 'createdAt'>): string =>
  `${rangeText(range)}, × ${n}, ${new Date(createdAt).toLocaleTimeString('en', { timeStyle: 'short' })}`

function summaryText({ n, range, points, progress, server }: ValueEstimate, inherited?: InheritedEstimate): string {
  const how = `mean reward of ${n} samples ${points.length > 1 ? 'at each of the ' : 'at '}${rangeText(range)}`
  const intervals = points.length > 1 ? '95 % intervals together (Bonferroni)' : '95 % interval'
  if (inherited)
    return `${how} · ${intervals} · ${inherited.positions} of ${points.length} positions, up to the fork at token ${countText(inherited.shared)}`
  return `${how} · ${intervals} · ${countText(progress.sampledTokens)} tokens used${server === null ? '' : ` on ${server}`}`
}

interface ReadingProps extends InspectorPartProps {
  readonly estimate: ValueEstimate
  /** Undefined if the estimate is that of the shown trajectory. */
  readonly inherited: InheritedEstimate | undefined
}

/** Says what may be concluded from the samples. */
function Reading({ inspection, estimate, inherited }: ReadingProps) {
  const { trajectory, onSelect, offer } = inspection
  const { cliff, reading, points, state } = estimate
  const isAfterFork = cliff && inherited && !sharedPart(estimate, inherited, tokenCount(trajectory)).cliff
  usePanelCommand(
    offer,
    'main-finding',
    cliff && !isAfterFork ? () => onSelect(single(cliff.from), 'tokens') : undefined,
  )
  if (isAfterFork) return <DropAfterFork estimate={estimate} cliff={cliff} inherited={inherited} />
  if (cliff)
    return (
      <p role="status" className="text-xs tabular-nums" data-value-cliff={cliff.from}>
        <button
          type="button"
          className="rounded-sm text-left font-semibold text-bad text-sm underline decoration-1 underline-offset-2"
          onClick={() => onSelect(single(cliff.from), 'tokens')}
        >
          {cliffText(trajectory, cliff)}
        </button>{' '}
        <span className="text-dim">{cliffEvidence(estimate, cliff)}</span>
      </p>
    )
  const [point] = points
  if (reading === 'single' && point)
    return (
      <p role="status" className="text-xs tabular-nums">
        <strong className="font-semibold">{meanWithInterval(point.value)}</strong>{' '}
        <span className="text-dim">
          of {countWithNoun(point.rewarded, 'sample')}: {answersText(point)}
        </span>
      </p>
    )
  if (reading === 'exploratory')
    return (
      <p role="status" className="text-xs">
        <strong className="font-semibold text-sm">No token decided</strong>{' '}
        <span className="text-dim">
          exploratory: no drop between neighbouring tokens is significant after Holm’s correction for{' '}
          {points.length - 1}, so the shape of the curve may be chance. {meansText(points)}
        </span>
      </p>
    )
  return (
    <p role="status" className="text-dim text-xs">
      {state === 'running'
        ? 'Drops are tested when all samples have ended.'
        : 'Samples are missing, so no drop is tested: resume the estimate to see where the reward is lost.'}
    </p>
  )
}

/** Returns the smallest and the largest mean reward as a sentence. */
function meansText(points: ValueEstimate['points']): string {
  const means = points.flatMap(({ value }) => value?.mean ?? [])
  if (means.length === 0) return 'No sample has a reward.'
  const [low, high] = [Math.min(...means), Math.max(...means)].map(shortRewardText)
  return low === high ? `All means are ${low}.` : `Means from ${low} to ${high}: more samples find smaller drops.`
}
