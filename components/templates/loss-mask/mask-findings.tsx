'use client'
import { useState } from 'react'
import { clipText, countText } from '#components/token-view/numbers.ts'
import { Heading } from '#components/ui/facts.tsx'
import type { Disagreement, Lint, LintPlace, MaskMethodName, MaskReport } from '#lib/templates/loss-mask/report.ts'
import type { MethodPair } from './mask-methods.tsx'
import { MARKS, MASK_METHODS } from './mask-words.ts'

interface MaskFindingsProps {
  readonly report: MaskReport
  readonly pair: MethodPair
  /** Index of the shown token, if any. */
  readonly selected: number | undefined
  /** Shows the tokens of a finding, if the sequence contains them, and its template line. */
  readonly onPlace: (place: { readonly token: number | undefined; readonly line: number | undefined }) => void
}

/** Findings of the mask lints, and the places where the masks differ. */
export function MaskFindings({ report, pair, selected, onPlace }: MaskFindingsProps) {
  const disagreements = report.disagreements.filter(
    ({ marks }) => pair === undefined || (differs(marks[pair[0]], marks[pair[1]]) && marks[pair[0]] !== marks[pair[1]]),
  )
  return (
    <div className="px-3.5 py-2.5">
      <Heading>{report.lints.length === 0 ? 'No findings' : `Findings (${countText(report.lints.length)})`}</Heading>
      <ul className="grid gap-2.5">
        {report.lints.map((lint) => (
          <LintItem key={`${lint.way} ${lint.kind}`} lint={lint} onPlace={onPlace} />
        ))}
      </ul>
      <Heading>
        {disagreements.length === 0
          ? 'No disagreements'
          : `Where ${pair ? `${MASK_METHODS[pair[0]].short} and ${MASK_METHODS[pair[1]].short}` : 'they'} disagree (${countText(disagreements.length)})`}
      </Heading>
      <Disagreements
        key={pair?.join()}
        ways={report.ways.flatMap(({ name, kind }) => (kind === 'computed' ? [name] : []))}
        {...{ disagreements, selected, onPlace }}
      />
    </div>
  )
}

const differs = (one: string | undefined, other: string | undefined): boolean =>
  one !== 'unknown' && other !== 'unknown' && one !== undefined && other !== undefined

const PLACES_SHOWN = 6
const LONGEST_TEXT = 60

function LintItem({ lint, onPlace }: { readonly lint: Lint } & Pick<MaskFindingsProps, 'onPlace'>) {
  const { kind, way, severity, text, remedy, places } = lint
  const [isWhole, setIsWhole] = useState(false)
  return (
    <li
      data-lint={kind}
      data-way={way}
      className={`border-l-3 pl-2.5 ${severity === 'error' ? 'border-bad' : 'border-warn'}`}
    >
      <p>
        <span className={`font-medium ${severity === 'error' ? 'text-bad' : 'text-warn'}`}>
          {MASK_METHODS[way].short} · {severity}:
        </span>{' '}
        {text}
      </p>
      <p className="text-dim text-xs">{remedy}</p>
      {places.length > 0 && (
        <p className="mt-1 flex flex-wrap items-center gap-1 text-xs">
          {places.slice(0, isWhole ? MOST_LISTED : PLACES_SHOWN).map((place) => (
            <PlaceButton key={place.start} place={place} onPlace={onPlace} />
          ))}
          {places.length > PLACES_SHOWN && !isWhole && (
            <button type="button" className="px-1 text-accent hover:underline" onClick={() => setIsWhole(true)}>
              {countText(places.length - PLACES_SHOWN)} more
            </button>
          )}
        </p>
      )}
    </li>
  )
}

function PlaceButton({ place, onPlace }: { readonly place: LintPlace } & Pick<MaskFindingsProps, 'onPlace'>) {
  const { text, start, inSequence, line, message } = place
  const facts = [
    inSequence ? `token ${countText(inSequence.start)}` : `its own token ${countText(start)}, not in this sequence`,
    message !== undefined && `message ${message + 1}`,
    line !== undefined && `template line ${line}`,
  ].filter(Boolean)
  return (
    <button
      type="button"
      title={facts.join(' · ')}
      disabled={!inSequence && line === undefined}
      onClick={() => onPlace({ token: inSequence?.start, line })}
      className="inline-flex max-w-full items-baseline gap-1.5 rounded border border-line bg-raised px-1.5 enabled:hover:border-line-strong"
    >
      <span className="truncate font-mono">{clipText(JSON.stringify(text), LONGEST_TEXT)}</span>
      <span className="shrink-0 text-faint tabular-nums">{inSequence ? countText(inSequence.start) : 'elsewhere'}</span>
    </button>
  )
}

/** Most rows listed, so that the pane stays fast. */
const MOST_LISTED = 500
const FIRST_LISTED = 100

function Disagreements({
  disagreements,
  ways,
  selected,
  onPlace,
}: {
  readonly disagreements: readonly Disagreement[]
  readonly ways: readonly MaskMethodName[]
} & Pick<MaskFindingsProps, 'selected' | 'onPlace'>) {
  const [isWhole, setIsWhole] = useState(false)
  const visible = disagreements.slice(0, isWhole ? MOST_LISTED : FIRST_LISTED)
  if (visible.length === 0) return null
  return (
    <>
      <ol className="grid" aria-label="Disagreements">
        {visible.map(({ start, end, text, line, message, marks }) => (
          <li key={start} className="border-line border-t first:border-t-0">
            <button
              type="button"
              aria-current={selected !== undefined && selected >= start && selected < end}
              onClick={() => onPlace({ token: start, line })}
              className="grid w-full grid-cols-[minmax(0,1fr)_auto] gap-x-3 px-1 py-1 text-left hover:bg-panel aria-current:bg-accent-soft"
            >
              <span className="truncate font-mono text-xs">{JSON.stringify(text)}</span>
              <span className="text-right text-faint text-xs tabular-nums">
                {end - start === 1 ? 'token' : `${countText(end - start)} tokens from`} {countText(start)}
              </span>
              <span className="flex flex-wrap gap-x-2.5 text-dim text-xs">
                {ways.map((way) => {
                  const { sign, text: markText } = MARKS[marks[way] ?? 'unknown']
                  return (
                    <span key={way} className={marks[way] === 'trained' ? 'font-medium text-ink' : ''}>
                      <span aria-hidden>{sign}</span> {MASK_METHODS[way].short}
                      <span className="sr-only"> {markText}</span>
                    </span>
                  )
                })}
              </span>
              <span className="text-right text-dim text-xs tabular-nums">
                {[message !== undefined && `message ${message + 1}`, line !== undefined && `line ${line}`]
                  .filter(Boolean)
                  .join(' · ')}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {disagreements.length > visible.length && (
        <p className="pt-1.5 text-faint text-xs">
          {isWhole ? (
            `and ${countText(disagreements.length - visible.length)} more: choose two ways above to see fewer`
          ) : (
            <button type="button" className="text-accent hover:underline" onClick={() => setIsWhole(true)}>
              {countText(disagreements.length - visible.length)} more
            </button>
          )}
        </p>
      )}
    </>
  )
}
