'use client'
import type { CorpusReport } from '#lib/analysis/corpus/report.ts'
import type { Sample } from '#lib/analysis/corpus/sample.ts'
import type { Totals } from '#lib/analysis/corpus/totals.ts'
import { saveContent, saveText } from '#lib/browser/files/save-file.ts'

export interface ReportedCorpus extends Pick<CorpusReport, 'against' | 'partial'> {
  readonly totals: Totals
  readonly samples: readonly Sample[]
}

/** The report as files. What writes them is loaded when one is wanted. */
export async function saveCorpusReport(corpus: ReportedCorpus, as: 'samples' | 'kinds' | 'json'): Promise<void> {
  const { corpusReport } = await import('#lib/analysis/corpus/report.ts')
  const report = corpusReport(corpus, corpus.totals, corpus.samples)
  if (as === 'json') return saveText(`${JSON.stringify(report, null, 2)}\n`, 'drift-report.json')
  const { kindsCsv, samplesCsv } = await import('#lib/analysis/corpus/csv.ts')
  const text = as === 'samples' ? samplesCsv(report) : kindsCsv(report)
  saveContent(new Blob([text], { type: 'text/csv' }), `drift-${as}.csv`)
}
