import type { Metadata } from 'next'
import { ServersScreen } from '#components/servers/screen.tsx'

export const metadata: Metadata = { title: 'Servers' }

/** The page /servers: SGLang and MCP servers. */
export default function ServersPage() {
  return <ServersScreen />
}
