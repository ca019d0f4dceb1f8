import type { Metadata } from 'next'
import { ServersScreen } from '../servers-screen.tsx'

export const metadata: Metadata = { title: 'Servers' }

export default function ServersPage() {
  return <ServersScreen />
}
