'use client'
import { useEffect, useRef, useState } from 'react'
import { countText } from '#components/token-view/numbers.ts'
import { Button } from '#components/ui/button.tsx'
import { Heading } from '#components/ui/facts.tsx'
import type { LabInput } from '#lib/tasks/task.ts'
import type { RunTask } from '#lib/templates/tasks/tasks.ts'
import type { NamedCompletion } from '#lib/templates/tool-parsing/completions-file.ts'
import type { FitReport } from '#lib/templates/tool-parsing/fit.ts'
import type { FitProgress, FitResult } from '#lib/templates/tool-parsing/tasks.ts'
import { InputBanner, TaskBanner } from '../editor/failure-banner.tsx'
import { useTask } from '../use-task.ts'
import { CompletionRows } from './completion-rows.tsx'
import { ParserRanking } from './ranking.tsx'

interface FitSectionProps {
  readonly input: LabInput
  readonly tokenizers: readonly string[]
  readonly run: RunTask
  /** Text of the shown completion; '' for none. */
  readonly shown: string
  /** Completions of the file or of the open trajectory. */
  readonly completions: readonly NamedCompletion[]
  readonly onPick: (completion: NamedCompletion) => void
  readonly onLine: (line: number) => void
}

/** Pause in typing before the template is checked, in milliseconds. */
const PAUSE_MS = 250

type Reading =
  | { readonly kind: 'running'; readonly progress: FitProgress | undefined; readonly abort: () => void }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'done'; readonly report: FitReport }

/** The scores of all completions, with what they were requested for. */
interface ReadingOf {
  readonly request: string
  readonly completions: readonly NamedCompletion[]
  readonly reading: Reading
}

/** “Which parser fits?”: rates the parsers by the template and the shown completion at once, and by many on request. */
export function FitSection({
  input,
  tokenizers,
  run,
  shown: completion,
  completions,
  onPick,
  onLine,
}: FitSectionProps) {
  /** The last result, also during a new request. */
  const [result, setResult] = useState<FitResult>()
  const fitState = useTask(
    run,
    'parserFit',
    {
      input,
      completions: completion === '' ? [] : [completion],
      asksTemplate: completion === '' || input.template.trim() !== '',
    },
    { tokenizers, pauseMs: PAUSE_MS, onResult: setResult },
  )
  const request = JSON.stringify([input, tokenizers])
  const [scored, setScored] = useState<ReadingOf>()
  // Scores of another template or of other completions are not shown.
  const reading = scored?.request === request && scored.completions === completions ? scored.reading : undefined
  const setReading = (changed: Reading | undefined) => setScored(changed && { request, completions, reading: changed })
  const abort = useRef<AbortController>(undefined)
  useEffect(() => () => abort.current?.abort(), [])

  const readAll = async () => {
    const controller = new AbortController()
    abort.current?.abort()
    abort.current = controller
    const stop = () => {
      controller.abort()
      setReading(undefined)
    }
    setReading({ kind: 'running', progress: undefined, abort: stop })
    try {
      const texts = completions.map(({ text }) => text)
      const read = await run(
        'parserFit',
        { input, completions: texts, asksTemplate: input.template.trim() !== '' },
        {
          tokenizers,
          signal: controller.signal,
          onProgress: (progress) =>
            !controller.signal.aborted && setReading({ kind: 'running', progress, abort: stop }),
        },
      )
      if (controller.signal.aborted) return
      setReading(
        read.kind === 'report'
          ? { kind: 'done', report: read.report }
          : { kind: 'failed', error: new Error(read.error.message) },
      )
    } catch (error) {
      if (!controller.signal.aborted)
        setReading({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)) })
    }
  }

  const report = reading?.kind === 'done' ? reading.report : result?.kind === 'report' ? result.report : undefined
  return (
    <section aria-label="Which parser fits?" className="border-line border-b px-3.5 py-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Heading>Which parser fits?</Heading>
        <div className="flex flex-wrap items-center gap-2">
          {reading?.kind === 'running' && (
            <>
              <span role="status" aria-live="off" className="text-dim text-xs tabular-nums">
                {countText(reading.progress?.done ?? 0)} of {countText(reading.progress?.total ?? completions.length)}
              </span>
              <Button onClick={reading.abort}>Stop</Button>
            </>
          )}
          {reading?.kind === 'done' && (
            <Button onClick={() => setReading(undefined)}>
              {completion === '' ? 'Score with the template only' : 'Score with this completion'}
            </Button>
          )}
          {completions.length > 1 && reading?.kind !== 'running' && (
            <Button onClick={readAll}>Score with my {countText(completions.length)} completions</Button>
          )}
        </div>
      </div>
      {fitState.kind === 'failed' && <TaskBanner error={fitState.error} />}
      {reading?.kind === 'failed' && <TaskBanner error={reading.error} />}
      {reading?.kind !== 'done' && result?.kind === 'failed' && <InputBanner error={result.error} onLine={onLine} />}
      {report && (
        <div className="mt-1">
          <ParserRanking report={report} />
        </div>
      )}
      {!report && fitState.kind === 'running' && <p className="text-faint text-xs">Rendering the template…</p>}
      {reading?.kind === 'done' && reading.report.completions && (
        <CompletionRows
          completions={completions}
          rows={reading.report.completions.rows}
          best={reading.report.ranking[0]?.parser ?? ''}
          onPick={onPick}
        />
      )}
    </section>
  )
}
