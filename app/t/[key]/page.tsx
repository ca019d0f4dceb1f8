import { StoredScreen } from '#components/inspector/screen.tsx'

/** The page /t/KEY: a stored trajectory. */
export default async function StoredTrajectoryPage({ params }: { readonly params: Promise<{ key: string }> }) {
  return <StoredScreen storedKey={decodeURIComponent((await params).key)} />
}
