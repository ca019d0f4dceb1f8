/**
 * Checks everything that the configuration names before the server starts, so that a wrong value ends the start and not the first request.
 */

import { allowedHosts, HOSTS_VARIABLE } from '#lib/download/allowed-hosts.ts'
import { type OwnAddress, serverAddress } from '#lib/engine/http/address.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { configuredMcpServers } from '#lib/server/servers/configured-mcp-servers.ts'
import { ownAddress } from '#lib/server/servers/own-address.ts'
import { DataFolderError, openDataFolder } from '#lib/store/files/data-folder.ts'
import type { Instance } from '#lib/store/files/instance.ts'
import { openMcpServerStore, openServerStore } from '#lib/store/files/servers.ts'
import { StoreError } from '#lib/store/store-error.ts'
import { openTrajectoryStore, registerInstance } from '#lib/store/trajectories.ts'
import { type Config, ConfigError } from './config.ts'

interface Start {
  /** This process, as registered in the data folder. */
  readonly instance: Instance
  /** Text that the user should see at the start; undefined if there is none. */
  readonly notice: string | undefined
}

/** Checks the folder, its database and its settings, which the first request would need. Throws ConfigError. */
export function checkConfig(config: Config): Start {
  try {
    const folder = openDataFolder(config.dataFolder)
    const own = ownAddress(config)
    configuredMcpServers(config.mcpFile, own)
    checkOpenHosts(config.openHosts, own)
    openServerStore(folder).list()
    openMcpServerStore(folder).list()
    if (config.sglang) serverAddress(config.sglang.baseUrl, own)
    openTrajectoryStore(folder, { now: () => new Date() }).close()
    const { instance, others } = registerInstance(folder)
    return { instance, notice: others.length > 0 ? sharedFolderNotice(folder, others, instance) : undefined }
  } catch (error) {
    if (error instanceof StoreError) throw new ConfigError(`${error.message}. ${error.hint}`, { cause: error })
    if (error instanceof DataFolderError) throw new ConfigError(error.message)
    if (error instanceof EngineError) throw new ConfigError(`SGLANG_BASE_URL: ${error.message}`)
    throw error
  }
}

function checkOpenHosts(hosts: readonly string[], own: OwnAddress): void {
  try {
    allowedHosts(hosts, own)
  } catch (error) {
    throw new ConfigError(`${HOSTS_VARIABLE}: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

/** Returns one line. The files are locked, so that `fuser FILE` names the process. */
const sharedFolderNotice = (folder: string, others: readonly string[], { id }: Instance): string =>
  `Data       another Rollscope works on ${folder} (it locks ${others.join(', ')}; this one is instance ${id}). Both show the same trajectories and settings. Only the instance that started a run can stop or continue it, until that instance ends. For separate data, set ROLLSCOPE_DATA=FOLDER`
