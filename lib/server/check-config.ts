/** What the configuration names, tried before the server starts: a wrong value ends the start, not the first request. */
import { SglangError } from '#lib/sglang/errors.ts'
import { DataFolderError, openDataFolder } from '#lib/store/data-folder.ts'
import { openMcpServerStore, openServerStore } from '#lib/store/servers.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { type Config, ConfigError } from './config.ts'
import { configuredMcpServers } from './mcp-servers.ts'
import { createServers, ownAddress } from './servers.ts'

/** Throws ConfigError. What stops the start is also what would stop the first request: the folder, its database, its settings. */
export function checkConfig(config: Config): void {
  try {
    const folder = openDataFolder(config.dataFolder)
    configuredMcpServers(config.mcpFile, ownAddress(config))
    const servers = openServerStore(folder)
    servers.list()
    openMcpServerStore(folder).list()
    createServers(config, servers)
    openTrajectoryStore(folder, { now: () => new Date() }).close()
  } catch (error) {
    if (error instanceof StoreError) throw new ConfigError(`${error.message}. ${error.hint}`, { cause: error })
    if (error instanceof DataFolderError) throw new ConfigError(error.message)
    if (error instanceof SglangError) throw new ConfigError(`SGLANG_BASE_URL: ${error.message}`)
    throw error
  }
}
