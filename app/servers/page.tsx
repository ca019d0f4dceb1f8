import { ServersScreen } from '#components/servers/screen.tsx'

/** The page /servers: inference and MCP servers. */
export default function ServersPage() {
  return <ServersScreen />
}
