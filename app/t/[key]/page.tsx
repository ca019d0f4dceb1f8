import type { Metadata } from 'next'
import { StoredScreen } from '#components/inspector/screen.tsx'

export const metadata: Metadata = { title: 'Trajectory' }

/** The page /t/KEY: a stored trajectory. */
export default async function StoredTrajectoryPage({ params }: { readonly params: Promise<{ key: string }> }) {
  return <StoredScreen storedKey={decodeURIComponent((await params).key)} />
}
