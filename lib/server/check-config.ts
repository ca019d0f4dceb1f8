/** What the configuration names, tried before the server starts: a wrong value ends the start, not the first request. */
import { SglangError } from '#lib/sglang/errors.ts'
import { DataFolderError, openDataFolder } from '#lib/store/data-folder.ts'
import { openServerStore } from '#lib/store/servers.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { type Config, ConfigError } from './config.ts'
import { configuredMcpServers } from './mcp-servers.ts'
import { createServers, ownAddress } from './servers.ts'

/** Throws ConfigError. */
export function checkConfig(config: Config): void {
  try {
    const folder = openDataFolder(config.dataFolder)
    configuredMcpServers(config.mcpFile, ownAddress(config))
    createServers(config, openServerStore(folder))
    openTrajectoryStore(folder, { processId: process.pid, isAlive: () => true, now: () => new Date() }).close()
  } catch (error) {
    if (error instanceof DataFolderError || error instanceof StoreError) throw new ConfigError(error.message)
    if (error instanceof SglangError) throw new ConfigError(`SGLANG_BASE_URL: ${error.message}`)
    throw error
  }
}
