import type { Metadata } from 'next'
import { OpenedScreen } from '#components/inspector/screen.tsx'

export const metadata: Metadata = { title: 'Trajectory' }

export default function OpenedTrajectoryPage() {
  return <OpenedScreen />
}
