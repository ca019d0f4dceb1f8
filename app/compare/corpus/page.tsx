import type { Metadata } from 'next'
import { CorpusScreen } from '../../corpus-screen.tsx'

export const metadata: Metadata = { title: 'Drift report' }

export default function CorpusPage() {
  return <CorpusScreen />
}
