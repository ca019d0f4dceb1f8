/** Everything the routes share, made once in a process. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createLocalModel, type LocalModel } from '#lib/local-model/local-model.ts'
import { checkedFetch } from '#lib/sglang/checked-connector.ts'
import { openDataFolder } from '#lib/store/data-folder.ts'
import { openMcpServerStore, openServerStore } from '#lib/store/servers.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { createTokenizerLoader, type TokenizerLoader, type TokenizerPlaces } from '#lib/tokenizer/load.ts'
import { type BuiltInTool, createBuiltInTools } from './built-in-tools.ts'
import { type ComparingThread, createComparing } from './comparing.ts'
import type { Config } from './config.ts'
import { createGroupRuns, type GroupRuns } from './group-runs.ts'
import { createHealthChecks, type HealthChecks } from './health-checks.ts'
import { configuredMcpServers, createMcpServers, type McpServers } from './mcp-servers.ts'
import { createRuns, type Runs } from './runs.ts'
import { BUILT_IN, createServers, type Servers } from './servers.ts'
import { sharedConfig, sharedServices, shareServices } from './shared.ts'

export interface Services {
  readonly config: Config
  readonly version: string
  readonly store: TrajectoryStore
  readonly servers: Servers
  readonly mcpServers: McpServers
  readonly tokenizers: TokenizerLoader
  readonly localModel: LocalModel
  readonly builtInTools: readonly BuiltInTool[]
  readonly runs: Runs
  /** Those of them that belong together. */
  readonly groups: GroupRuns
  readonly health: HealthChecks
  readonly comparing: ComparingThread
}

export function services(): Services {
  const made = sharedServices()
  if (made) return made
  const config = sharedConfig()
  if (!config) throw new Error('Rollscope is started by scripts/serve.ts (npm start, npm run dev), not by next itself')
  return shareServices(createServices(config))
}

const MCP_CONNECT_MS = 5_000

function createServices(config: Config): Services {
  const folder = openDataFolder(config.dataFolder)
  const shipped = path.join(config.applicationFolder, 'models', 'tiny-qwen3')
  const model = config.model ?? shipped
  const places: TokenizerPlaces = {
    builtIn: { [BUILT_IN]: model },
    folders: config.tokenizerFolders,
    hub: config.hub,
  }
  const tokenizers = createTokenizerLoader(places)
  const runs = createRuns()
  const version = versionOf(config.applicationFolder)
  const store = openTrajectoryStore(folder, { processId: process.pid, isAlive, now: () => new Date() })
  return {
    config,
    version,
    store,
    servers: createServers(config, openServerStore(folder)),
    mcpServers: createMcpServers(configuredMcpServers(config.mcpFile), openMcpServerStore(folder), {
      fetch: checkedFetch(MCP_CONNECT_MS),
      version,
    }),
    tokenizers,
    builtInTools: createBuiltInTools(config.applicationFolder, folder),
    localModel: createLocalModel({
      model,
      modelName: path.isAbsolute(model) ? path.basename(model) : model,
      loadTokenizer: () => tokenizers.load(BUILT_IN),
      workerFile: path.join(config.applicationFolder, 'lib', 'local-model', 'engine', 'worker.ts'),
      capacity: config.modelCapacity,
      dtype: config.modelDtype,
      hub: config.hub,
      freeMemory: process.availableMemory,
    }),
    runs,
    groups: createGroupRuns(runs),
    health: createHealthChecks({
      store,
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'health-worker.ts'),
      start: { dataFolder: folder, tokenizers: { ...places, hub: { ...places.hub, cachedOnly: true } } },
    }),
    comparing: createComparing({
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'compare-worker.ts'),
      start: {
        dataFolder: folder,
        examplesFolder: path.join(config.applicationFolder, 'public', 'examples'),
        tokenizers: places,
      },
    }),
  }
}

function versionOf(applicationFolder: string): string {
  const { version } = JSON.parse(readFileSync(path.join(applicationFolder, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  return version
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
