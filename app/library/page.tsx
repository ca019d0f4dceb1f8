import type { Metadata } from 'next'
import { LibraryScreen } from '#components/library/screen.tsx'

export const metadata: Metadata = { title: 'Library' }

/** The page /library: the stored trajectories. */
export default function LibraryPage() {
  return <LibraryScreen />
}
