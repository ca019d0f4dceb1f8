'use client'
/** The mask doctor: what each way to compute a loss mask would train, its problems, and where the ways differ. */
import { useMemo, useState } from 'react'
import { TokenGrid } from '#components/token-view/grid/token-grid.tsx'
import { countText } from '#components/token-view/numbers.ts'
import { MarkedPiece } from '#components/token-view/pieces/marked-piece.tsx'
import { single } from '#components/token-view/selection.ts'
import type { MaskReport } from '#lib/templates/loss-mask/report.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import type { LabTabProps } from '../lab-tab.ts'
import { useTask } from '../use-task.ts'
import { MaskFindings } from './mask-findings.tsx'
import { MaskMethods, type MethodPair } from './mask-methods.tsx'
import { type MaskTokens, maskTokens } from './mask-tokens.ts'
import { MARKS, MASK_METHODS } from './mask-words.ts'

/** Pause in typing before the doctor runs, in milliseconds. It is long, because the doctor renders every prefix. */
const PAUSE_MS = 250

/** The tab of the mask doctor. */
export function MasksTab({ input, tokenizer, trajectory, run, view, onView, onLine }: LabTabProps) {
  /** The last report, also during a new request. */
  const [report, setReport] = useState<MaskReport>()
  const state = useTask(run, 'masks', trajectory ? { input, trajectory } : { input }, {
    tokenizers: [tokenizer],
    pauseMs: PAUSE_MS,
    key: JSON.stringify([input, tokenizer, trajectory?.id, trajectory?.segments.length]),
    onResult: setReport,
  })
  return (
    <div
      className="grid h-full grid-rows-[auto_minmax(0,1fr)]"
      data-masks={state.kind === 'done' ? 'current' : state.kind === 'running' ? 'busy' : 'failed'}
      aria-busy={state.kind === 'running'}
    >
      <div className="grid gap-px bg-line">
        {state.kind === 'failed' && <TaskBanner error={state.error} />}
        {report?.failure && <InputBanner error={report.failure} onLine={onLine} />}
      </div>
      {report && report.sequence.ids.length > 0 ? (
        <Report report={report} isStale={state.kind === 'failed'} {...{ view, onView, onLine }} />
      ) : (
        <p className="p-4 text-faint" role="status">
          {state.kind === 'running'
            ? `Rendering every prefix of the conversation … ${state.progress && state.progress.of > 1 ? `${countText(state.progress.done)} of ${countText(state.progress.of)} replies` : ''}`
            : report && !report.failure
              ? 'The template writes nothing: there is nothing to train on.'
              : 'Nothing to compare yet.'}
        </p>
      )}
    </div>
  )
}

interface ReportProps extends Pick<LabTabProps, 'view' | 'onView' | 'onLine'> {
  readonly report: MaskReport
  readonly isStale: boolean
}

function Report({ report, isStale, view, onView, onLine }: ReportProps) {
  const [pair, setPair] = useState<MethodPair>()
  const [pointed, setPointed] = useState<number>()
  const tokens = useMemo(() => maskTokens(report), [report])
  const selected = view.at !== undefined && /^\d+$/.test(view.at) ? Number(view.at) : undefined
  const show = (token: number | undefined, line: number | undefined) => {
    onView({ at: token === undefined ? undefined : String(token) })
    if (line !== undefined) onLine(line)
  }
  return (
    <div
      className={`min-h-0 overflow-auto md:grid md:grid-rows-[auto_minmax(120px,1fr)_auto_minmax(120px,0.9fr)] md:overflow-hidden ${isStale ? 'grayscale' : ''}`}
    >
      <div className="md:max-h-[40dvh] md:overflow-auto">
        <MaskMethods report={report} pair={pair} onPair={setPair} onLine={onLine} />
      </div>
      <div className="h-[50dvh] border-line border-t md:h-auto md:min-h-0">
        <TokenGrid
          trajectory={tokens.trajectory}
          reading={tokens.reading}
          selection={selected === undefined ? undefined : single(selected)}
          shown={selected === undefined ? report.disagreements[0]?.start : undefined}
          onSelect={(selection) => show(selection?.focus, selection && tokens.origin(selection.focus)?.line)}
          onPoint={setPointed}
        />
      </div>
      <TokenBar index={selected ?? pointed} onLine={onLine} {...{ tokens, report }} />
      <div className="border-line border-t md:min-h-0 md:overflow-auto">
        <MaskFindings
          report={report}
          pair={pair}
          selected={selected}
          onPlace={({ token, line }) => show(token, line)}
        />
      </div>
    </div>
  )
}

interface TokenBarProps {
  readonly report: MaskReport
  readonly tokens: MaskTokens
  readonly index: number | undefined
  readonly onLine: (line: number) => void
}

/** The marks of every way for one token; without a token, the legend of the stripes. */
function TokenBar({ report, tokens, index, onLine }: TokenBarProps) {
  const token = tokenAt(tokens.trajectory, index ?? -1)
  const origin = token && tokens.origin(token.index)
  return (
    <section
      aria-label="Token"
      data-token={token?.index}
      className="flex min-h-10 flex-wrap items-center gap-x-3 gap-y-1 border-line border-t bg-panel px-3.5 py-1.5 text-xs tabular-nums"
    >
      {token ? (
        <>
          <span className="font-semibold">Token {countText(token.index)}</span>
          <span className="min-w-0 max-w-full overflow-hidden rounded border border-line bg-raised px-1.5 font-mono text-sm">
            <MarkedPiece id={token.id} vocab={report.sequence.vocab} className="inline-block" />
          </span>
          <span className="text-dim">id {token.id}</span>
          {origin?.message !== undefined && (
            <span className="text-dim">
              message {origin.message + 1} {report.sequence.roles[origin.message]}
            </span>
          )}
          {origin?.line !== undefined && (
            <button
              type="button"
              className="font-medium text-accent hover:underline"
              onClick={() => onLine(origin.line as number)}
            >
              template line {origin.line}
            </button>
          )}
          {tokens.marks(token.index).map(({ way, mark }) => (
            <span key={way} className={mark === 'trained' ? 'font-medium text-ink' : 'text-dim'}>
              <span aria-hidden>{MARKS[mark].sign}</span> {MASK_METHODS[way].short}: {MARKS[mark].text}
            </span>
          ))}
        </>
      ) : (
        <Legend />
      )}
    </section>
  )
}

function Legend() {
  return (
    <>
      <span className="text-dim">
        Stripes above the text: {MASK_METHODS.tito.short}, {MASK_METHODS.generation.short}; below it:{' '}
        {MASK_METHODS.prefix.short}, {MASK_METHODS['fixed-base'].short}.
      </span>
      <span className="inline-flex items-center gap-1.5 text-dim">
        <span className="legend-band legend-band-trained" aria-hidden /> trained
      </span>
      <span className="inline-flex items-center gap-1.5 text-dim">
        <span className="legend-band legend-band-partly" aria-hidden /> partly
      </span>
      <span className="inline-flex items-center gap-1.5 text-dim">
        <span className="legend-band legend-band-absent" aria-hidden /> not there
      </span>
    </>
  )
}
