import { ServersScreen } from '#components/servers/screen.tsx'

/** The page /servers: SGLang and MCP servers. */
export default function ServersPage() {
  return <ServersScreen />
}
