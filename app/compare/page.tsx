import type { Metadata } from 'next'
import { CompareScreen } from '#components/compare/screen.tsx'

export const metadata: Metadata = { title: 'Compare' }

/** The page /compare: two trajectories side by side. */
export default function ComparePage() {
  return <CompareScreen />
}
