'use client'
/** The findings of the trajectory in one line, each with its count; a click shows its positions one after the other. */
import { ChevronLeft, ChevronRight, CircleCheck, CircleHelp, CircleX, Info, TriangleAlert, X } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import { compareBothHref } from '#components/shell/hrefs.ts'
import { Link } from '#components/shell/navigation.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { IconButton } from '#components/ui/icon-button.tsx'
import { visibleText } from '#components/ui/visible-text.ts'
import { type Drift, driftTokenizer, tokenizerFindings } from '#lib/analysis/health/drift.ts'
import {
  ENCODED_AGAIN_LABEL,
  type Health,
  type HealthFinding,
  type Severity,
  sortBySeverity,
} from '#lib/trajectory/health/health.ts'
import type { Inspection, InspectorPartProps } from '../inspection.ts'
import { type InspectAnswer, type InspectState, useInspectTask } from '../use-inspect-task.ts'
import { RepairButton } from './repair-button.tsx'

/** Shows the health findings of a trajectory and checks it for drift; a run is checked when it has ended. */
export function HealthStrip({ inspection }: InspectorPartProps) {
  const { storedKey } = inspection
  const { forkedFrom } = inspection.trajectory
  const isRunning = inspection.trajectory.outcome.kind === 'running'
  const health = useInspectTask(inspection, 'health', { cut: inspection.trainerCut }, { isOn: !isRunning })
  const drift = useDrift(inspection, !isRunning)
  const [open, setOpen] = useState<Opened>()
  const strip = useRef<HTMLElement>(null)
  const chips = isRunning ? [] : chipsOf(health, drift)
  const openChip = chips.find(({ key }) => key === open?.key)
  const show = (chip: Chip, at: number) => {
    const { places } = chip
    const place = places[at]
    setOpen({ key: chip.key, at })
    if (!place) return
    inspection.onSelect({ anchor: place.start, focus: Math.max(place.start, place.end - 1) }, 'tokens')
    if (places.length > 1) inspection.say(`${chip.label}: place ${countText(at + 1)} of ${countText(places.length)}`)
  }
  const step = (chip: Chip, by: number) => {
    const count = Math.max(1, chip.places.length)
    show(chip, open?.key === chip.key ? (open.at + by + count) % count : 0)
  }
  const close = () => {
    strip.current?.querySelector<HTMLElement>('[aria-expanded=true]')?.focus()
    setOpen(undefined)
  }
  const leave = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !open) return
    event.stopPropagation()
    close()
  }
  return (
    <section
      ref={strip}
      tabIndex={-1}
      aria-label="Health"
      data-health={isRunning ? 'later' : health.kind}
      data-drift={isRunning ? 'later' : drift.kind}
      className="min-w-0 bg-ground text-xs tabular-nums focus-visible:-outline-offset-2"
      onKeyDown={leave}
    >
      <div className="relative flex items-center gap-1.5 overflow-x-auto px-3.5 py-1 lg:flex-wrap">
        {chips.map((chip) => (
          <button
            key={chip.key}
            type="button"
            title={visibleText(chip.message)}
            aria-expanded={chip.key === open?.key}
            onClick={() => step(chip, 1)}
            className="inline-flex min-h-6 shrink-0 items-center gap-1 rounded-full border border-line bg-raised px-2 hover:border-line-strong aria-expanded:border-accent max-lg:min-h-8"
          >
            <ToneIcon tone={chip.tone} />
            {chip.label}
          </button>
        ))}
        <span role="status" className="inline-flex min-h-6 shrink-0 items-center gap-1 text-dim max-lg:min-h-8">
          {!isRunning && hasNoProblems(health, drift) && <CircleCheck size={13} aria-hidden className="text-good" />}
          {isRunning ? 'Health is checked when the run has ended.' : summaryText(health, drift)}
        </span>
      </div>
      {openChip && open && (
        <div className="flex items-start gap-2 border-line border-t bg-panel px-3.5 py-1.5">
          <p className="min-w-0 flex-1 py-1 [overflow-wrap:anywhere]">
            {visibleText(openChip.message)}
            {openChip.remedy !== undefined && <span className="text-dim"> {openChip.remedy}</span>}
          </p>
          {openChip.kind === 'drift' && inspection.onCompare && (
            <button
              type="button"
              className="shrink-0 py-1 font-medium text-accent hover:underline"
              onClick={() => inspection.onCompare?.('text')}
            >
              Show in Compare
            </button>
          )}
          {openChip.label === ENCODED_AGAIN_LABEL && forkedFrom && storedKey !== undefined && (
            <Link
              href={compareBothHref(forkedFrom.trajectory, storedKey)}
              className="shrink-0 py-1 font-medium text-accent hover:underline"
            >
              Show in Compare
            </Link>
          )}
          {openChip.repair && storedKey !== undefined && (
            <RepairButton
              key={openChip.repair.name}
              storedKey={storedKey}
              repair={openChip.repair}
              onDone={() => {
                // The button and its finding disappear, so the focus stays at their place.
                strip.current?.focus()
                setOpen(undefined)
              }}
            />
          )}
          {openChip.places.length > 1 && (
            <span className="flex shrink-0 items-center">
              <IconButton label="Previous place" onClick={() => step(openChip, -1)}>
                <ChevronLeft size={15} aria-hidden />
              </IconButton>
              <span className="text-dim">
                {countText(open.at + 1)} of {countText(openChip.places.length)}
              </span>
              <IconButton label="Next place" onClick={() => step(openChip, 1)}>
                <ChevronRight size={15} aria-hidden />
              </IconButton>
            </span>
          )}
          <IconButton label="Close" onClick={close}>
            <X size={15} aria-hidden />
          </IconButton>
        </div>
      )}
    </section>
  )
}

interface Opened {
  readonly key: string
  readonly at: number
}

type Tone = Severity | 'unknown'

interface Chip extends Pick<HealthFinding, 'label' | 'message' | 'places' | 'remedy' | 'repair'> {
  /** Omitted if the chip is not a finding. */
  readonly kind?: HealthFinding['kind']
  readonly key: string
  readonly tone: Tone
}

/** Checks for drift with the model's tokenizer and marks the drift on the tokens. */
function useDrift(inspection: Inspection, isOn: boolean): InspectState<Drift> {
  const wanted = driftTokenizer(inspection.trajectory)
  const tokenizers = 'name' in wanted ? [wanted.name] : []
  const mark = (answer: InspectAnswer<Drift>) => {
    const ranges = answer.kind === 'done' && answer.result.kind === 'known' ? answer.result.ranges : undefined
    if (ranges || inspection.marks.some(({ kind }) => kind === 'drift')) inspection.onMarks('drift', ranges)
  }
  const driftTask = useInspectTask(inspection, 'drift', undefined, {
    tokenizers,
    isOn: isOn && 'name' in wanted,
    onAnswer: mark,
  })
  return 'why' in wanted ? { kind: 'done', result: { kind: 'unknown', why: wanted.why } } : driftTask
}

function chipsOf(health: InspectState<Health>, drift: InspectState<Drift>): readonly Chip[] {
  const report = health.kind === 'done' ? health.result : undefined
  const findings = sortBySeverity([
    ...(report?.findings ?? []),
    ...(drift.kind === 'done' ? tokenizerFindings(drift.result) : []),
  ])
  const why = unknownDrift(drift)
  const unknown = (report?.checks ?? []).flatMap(({ name, unknown }) =>
    unknown === undefined ? [] : [`${name}: ${unknown}`],
  )
  return [
    ...(health.kind === 'failed'
      ? [unknownChip('Health unknown', `It could not be checked: ${health.error.message}`)]
      : []),
    ...findings.map(({ severity, ...rest }): Chip => ({ key: `${rest.kind} ${rest.label}`, tone: severity, ...rest })),
    ...(why === undefined ? [] : [unknownChip('Drift unknown', `Drift could not be checked: ${why}.`)]),
    ...(unknown.length > 0 ? [unknownChip(`${unknown.length} unknown`, `${unknown.join('; ')}.`)] : []),
  ]
}

const unknownChip = (label: string, message: string): Chip => ({
  key: label,
  tone: 'unknown',
  label,
  message,
  places: [],
})

function unknownDrift(drift: InspectState<Drift>): string | undefined {
  if (drift.kind === 'failed') return drift.error.message.replace(/\.$/, '')
  return drift.kind === 'done' && drift.result.kind === 'unknown' ? drift.result.why : undefined
}

function hasNoProblems(health: InspectState<Health>, drift: InspectState<Drift>): boolean {
  if (health.kind !== 'done') return false
  const pieces = drift.kind === 'done' ? tokenizerFindings(drift.result).filter(({ kind }) => kind === 'pieces') : []
  return [...health.result.findings, ...pieces].every(({ severity }) => severity === 'note')
}

function summaryText(health: InspectState<Health>, drift: InspectState<Drift>): string {
  if (health.kind === 'running') return 'checking…'
  if (health.kind === 'failed') return ''
  const { checks } = health.result
  const driftSpans = drift.kind === 'done' && drift.result.kind === 'known' ? drift.result.ranges.length / 2 : undefined
  const done = checks.filter(({ unknown }) => unknown === undefined).length + (driftSpans === undefined ? 0 : 1)
  return [
    ...(hasNoProblems(health, drift) ? ['no findings'] : []),
    ...(drift.kind === 'running' ? ['drift…'] : driftSpans === 0 ? ['drift 0 spans'] : []),
    `${done} checks`,
  ].join(' · ')
}

const ICONS = {
  error: [CircleX, 'text-bad', 'Error:'],
  warning: [TriangleAlert, 'text-warn', 'Warning:'],
  note: [Info, 'text-dim', 'Note:'],
  unknown: [CircleHelp, 'text-faint', ''],
} as const

function ToneIcon({ tone }: { readonly tone: Tone }) {
  const [Icon, ink, word] = ICONS[tone]
  return (
    <>
      <Icon size={13} aria-hidden className={ink} />
      {word !== '' && <span className="sr-only">{`${word} `}</span>}
    </>
  )
}
