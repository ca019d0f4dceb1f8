import type { Metadata } from 'next'
import { OpenedScreen } from '../trajectory-screen.tsx'

export const metadata: Metadata = { title: 'Trajectory' }

export default function OpenedTrajectoryPage() {
  return <OpenedScreen />
}
