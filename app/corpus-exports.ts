'use client'
import { saveContent, saveText } from '#lib/client/save-file.ts'
import type { CorpusReport } from '#lib/compare/corpus/report.ts'
import type { Sample } from '#lib/compare/corpus/sample.ts'
import type { Totals } from '#lib/compare/corpus/totals.ts'

export interface ReportedCorpus extends Pick<CorpusReport, 'against' | 'partial'> {
  readonly totals: Totals
  readonly samples: readonly Sample[]
}

/** The report as files. What writes them is loaded when one is wanted. */
export async function saveCorpusReport(corpus: ReportedCorpus, as: 'samples' | 'kinds' | 'json'): Promise<void> {
  const { corpusReport } = await import('#lib/compare/corpus/report.ts')
  const report = corpusReport(corpus, corpus.totals, corpus.samples)
  if (as === 'json') return saveText(`${JSON.stringify(report, null, 2)}\n`, 'drift-report.json')
  const { kindsCsv, samplesCsv } = await import('#lib/compare/corpus/csv.ts')
  const text = as === 'samples' ? samplesCsv(report) : kindsCsv(report)
  saveContent(new Blob([text], { type: 'text/csv' }), `drift-${as}.csv`)
}
