'use client'
/** The drift report of many trajectories: from the library, or from files that are read in the browser and not stored. */
import { useEffect, useState, useSyncExternalStore } from 'react'
import { compareReconstructionHref } from '#components/shell/hrefs.ts'
import { lazyPart } from '#components/shell/lazy-part.tsx'
import { useNavigation } from '#components/shell/navigation.tsx'
import { Shell } from '#components/shell/shell.tsx'
import { countText, durationText, percentText } from '#components/token-view/numbers.ts'
import { Banner } from '#components/ui/banner.tsx'
import { Button } from '#components/ui/button.tsx'
import type { CorpusReport } from '#lib/analysis/corpus/report.ts'
import { type Sample, sampleOriginText } from '#lib/analysis/corpus/sample.ts'
import type { Totals } from '#lib/analysis/corpus/totals.ts'
import { type CorpusSource, namedFiles } from '#lib/browser/files/corpus.ts'
import { corpusStore } from '#lib/browser/files/corpus-run.ts'
import { saveContent, saveText } from '#lib/browser/files/save-file.ts'
import { hintOf } from '#lib/browser/hint-of.ts'
import { countWithNoun } from '#lib/util/text/count-with-noun.ts'
import { useCorpusAddress } from './address.ts'
import { CorpusHead } from './corpus-head.tsx'
import { CorpusStart } from './corpus-start.tsx'

const CorpusResults = lazyPart(async () => (await import('./corpus-results.tsx')).CorpusResults)

/** The page of the drift report. */
export function CorpusScreen() {
  const address = useCorpusAddress()
  const { go } = useNavigation()
  const [files, setFiles] = useState<readonly File[]>(() => (address.source ? [] : corpusStore.files()))
  const [storing, setStoring] = useState<string>()
  const [trouble, setTrouble] = useState<Error>()
  const { status, samples, totals, share, elapsedMs } = useSyncExternalStore(
    corpusStore.subscribe,
    corpusStore.state,
    corpusStore.state,
  )
  const source: CorpusSource | undefined = files.length > 0 ? { kind: 'files', files } : address.source
  const { mode, tokenizer } = address
  // The store is called on every render and starts a new report only if the request differs.
  useEffect(() => corpusStore.show(source && { source, check: { as: { kind: mode }, otherwise: tokenizer } }))

  const choose = (chosen: readonly File[]) => {
    setTrouble(undefined)
    setFiles(chosen)
    address.set({
      keys: null,
      library: null,
      q: null,
      outcome: null,
      tag: null,
      source: null,
      health: null,
      kind: null,
      layer: null,
    })
  }
  const hrefOf = (key: string, sample: Sample) =>
    compareReconstructionHref(key, { kind: mode }, sample.kind === 'checked' ? sample.worst : undefined)
  const storeAndCompare = async (sample: Sample) => {
    const { place } = sample
    const file = place.kind === 'file' ? namedFiles(files).find(({ name }) => name === place.file)?.file : undefined
    if (place.kind !== 'file' || !file) return
    setStoring(sampleOriginText(place))
    setTrouble(undefined)
    try {
      const { storeRecord } = await import('#lib/browser/files/store-record.ts')
      const key = await storeRecord({ file, record: place.record, tokenizer }, new AbortController().signal)
      void go(hrefOf(key, sample))
    } catch (error) {
      if (!(error instanceof Error)) throw error
      setTrouble(error)
    } finally {
      setStoring(undefined)
    }
  }
  const corpus = {
    against: { mode, ...(tokenizer !== undefined && { tokenizer }) },
    partial: status.kind !== 'finished',
    totals,
    samples,
  }
  const failure = trouble ?? (status.kind === 'failed' ? status.error : undefined)
  return (
    <Shell
      title="Drift report"
      trajectory={undefined}
      onFiles={(dropped) => {
        choose(dropped)
        return true
      }}
    >
      <main className="grid min-h-0 grid-rows-[auto_minmax(0,1fr)]" data-corpus={status.kind}>
        <div>
          <CorpusHead
            source={source}
            mode={mode}
            tokenizer={tokenizer}
            hasSamples={samples.length > 0}
            onMode={(chosen) => address.set({ as: chosen })}
            onTokenizer={(chosen) => address.set({ tokenizer: chosen ?? null })}
            onFiles={choose}
            onSave={(as) => saveCorpusReport(corpus, as)}
            onAgain={status.kind === 'none' || status.kind === 'running' ? undefined : corpusStore.again}
          />
          {status.kind === 'running' && (
            <CorpusProgress
              share={share}
              samples={samples.length}
              tokens={totals.tokens.left}
              elapsedMs={elapsedMs}
              onStop={corpusStore.stop}
            />
          )}
          {failure && (
            <Banner tone="bad" title={failure.message} hint={hintOf(failure)}>
              {trouble && <Button onClick={() => setTrouble(undefined)}>Dismiss</Button>}
            </Banner>
          )}
          {(status.kind === 'stopped' || status.kind === 'failed') && (
            <Banner
              tone="note"
              title={`Partial: ${countWithNoun(samples.length, 'sample was', 'samples were')} read before the report stopped.`}
              hint="All figures and exports cover only these samples."
            />
          )}
        </div>
        <div className="min-h-0 overflow-y-auto">
          {status.kind === 'none' && <CorpusStart onFiles={choose} onLibrary={() => address.set({ library: true })} />}
          {status.kind === 'finished' && samples.length === 0 && (
            <p className="p-6 text-center text-dim">
              {source?.kind === 'files'
                ? 'The files contain no trajectories.'
                : 'The library contains no matching trajectory.'}
            </p>
          )}
          {samples.length > 0 && (
            <CorpusResults
              samples={samples}
              totals={totals}
              shown={address}
              onShow={address.set}
              hrefOf={(sample) => (sample.place.kind === 'stored' ? hrefOf(sample.place.key, sample) : undefined)}
              onOpen={(href) => go(href)}
              onStore={storeAndCompare}
              storing={storing}
            />
          )}
        </div>
      </main>
    </Shell>
  )
}

interface CorpusProgressProps {
  /** Share of the whole that is read, from 0 to 1. */
  readonly share: number
  readonly samples: number
  /** Tokens checked so far. */
  readonly tokens: number
  readonly elapsedMs: number
  readonly onStop: () => void
}

/** The remaining time is not estimated before this time has passed, in milliseconds. */
const KNOWN_MS = 1_000

function CorpusProgress({ share, samples, tokens, elapsedMs, onStop }: CorpusProgressProps) {
  const isKnown = elapsedMs >= KNOWN_MS && share > 0
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-line border-b bg-panel px-3.5 py-2">
      <progress className="h-1.5 min-w-40 flex-1" value={share} max={1} aria-label="Report" />
      <p className="text-dim text-xs tabular-nums" role="status" aria-live="off">
        {percentText(Math.floor(1000 * share) / 1000)} · {countWithNoun(samples, 'sample')}
        {isKnown &&
          ` · ${countText(Math.round((1000 * tokens) / elapsedMs))} tokens/s · ${durationText((elapsedMs * (1 - share)) / share)} left`}
      </p>
      <Button onClick={onStop}>Stop</Button>
    </div>
  )
}

interface ReportedCorpus extends Pick<CorpusReport, 'against' | 'partial'> {
  readonly totals: Totals
  readonly samples: readonly Sample[]
}

/** Saves the report as a file. The code that writes it is loaded on demand. */
async function saveCorpusReport(corpus: ReportedCorpus, as: 'samples' | 'kinds' | 'json'): Promise<void> {
  const { corpusReport } = await import('#lib/analysis/corpus/report.ts')
  const report = corpusReport(corpus, corpus.totals, corpus.samples)
  if (as === 'json') return saveText(`${JSON.stringify(report, null, 2)}\n`, 'drift-report.json')
  const { kindsCsv, samplesCsv } = await import('#lib/analysis/corpus/csv.ts')
  const text = as === 'samples' ? samplesCsv(report) : kindsCsv(report)
  saveContent(new Blob([text], { type: 'text/csv' }), `drift-${as}.csv`)
}
