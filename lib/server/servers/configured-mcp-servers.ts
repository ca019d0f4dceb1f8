/** The MCP servers of the operator’s file. The start of the application reads it, so this module imports no connection to a server. */
import { readFileSync } from 'node:fs'
import { type OwnAddress, refusedMcpUrl } from '#lib/engine/http/address.ts'
import { type NamedPlace, serverPlacesIn } from '#lib/mcp/place.ts'
import { ConfigError } from '../config.ts'

/** Returns the servers of the file that the configuration names. Throws ConfigError. */
export function configuredMcpServers(file: string | undefined, own: OwnAddress): readonly NamedPlace[] {
  if (file === undefined) return []
  try {
    const places = serverPlacesIn(readFileSync(file, 'utf8'))
    for (const { name, place } of places) {
      const why = place.kind === 'http' ? refusedMcpUrl(place.url, own) : undefined
      if (why !== undefined) throw new Error(`mcpServers.${name}.url: ${why}`)
    }
    return places
  } catch (error) {
    throw new ConfigError(`ROLLSCOPE_MCP=${JSON.stringify(file)}: ${error instanceof Error ? error.message : error}`)
  }
}
