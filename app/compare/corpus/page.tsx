import type { Metadata } from 'next'
import { CorpusScreen } from '#components/compare/corpus/screen.tsx'

export const metadata: Metadata = { title: 'Drift report' }

/** The page /compare/corpus: the drift of all samples in files. */
export default function CorpusPage() {
  return <CorpusScreen />
}
