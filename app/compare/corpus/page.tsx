import type { Metadata } from 'next'
import { CorpusScreen } from '#components/compare/corpus/screen.tsx'

export const metadata: Metadata = { title: 'Drift report' }

export default function CorpusPage() {
  return <CorpusScreen />
}
