/** Creates everything that the routes share, once per process. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { BUILT_IN } from '#lib/api/server-name.ts'
import { createLocalModel, type LocalModel } from '#lib/builtin-server/local-model.ts'
import { type AllowedHosts, allowedHosts } from '#lib/download/allowed-hosts.ts'
import { checkedFetch } from '#lib/engine/http/checked-connector.ts'
import { type CompareThread, createCompareThread } from '#lib/server/compare/comparing.ts'
import { createExporting, type ExportingThread } from '#lib/server/exports/exporting.ts'
import { createForests, type Forests } from '#lib/server/forest/forests.ts'
import { createHealthChecks, type HealthChecks } from '#lib/server/library/health-checks.ts'
import { createImporting, type ImportingThread } from '#lib/server/library/importing.ts'
import { type BuiltInTool, createBuiltInTools } from '#lib/server/runs/built-in-tools.ts'
import { createGroupRuns, type GroupRuns } from '#lib/server/runs/group-runs.ts'
import { createRuns, type Runs } from '#lib/server/runs/runs.ts'
import { configuredMcpServers } from '#lib/server/servers/configured-mcp-servers.ts'
import { createMcpServers, type McpServers } from '#lib/server/servers/mcp-servers.ts'
import { ownAddress } from '#lib/server/servers/own-address.ts'
import { createServers, type Servers } from '#lib/server/servers/servers.ts'
import { createSavings, createSavingsThread, type Savings } from '#lib/server/sessions/savings/savings.ts'
import { createSessions, type Sessions } from '#lib/server/sessions/sessions.ts'
import { createLabThread, type LabThread } from '#lib/server/templates/lab-thread.ts'
import { createThreadedTokenizers } from '#lib/server/templates/threaded-tokenizer.ts'
import { createEstimateJobs, type EstimateJobs } from '#lib/server/values/estimate-jobs.ts'
import { continueAbandoned } from '#lib/server/values/values.ts'
import { openDataFolder } from '#lib/store/files/data-folder.ts'
import { openMcpServerStore, openServerStore } from '#lib/store/files/servers.ts'
import { openTrajectoryStore, type TrajectoryStore } from '#lib/store/trajectories.ts'
import { createTokenizerLoader, type TokenizerLoader, type TokenizerPlaces } from '#lib/tokenizer/hub/load.ts'
import type { Config } from './config.ts'
import { sharedConfig, sharedInstance, sharedServices, shareServices } from './shared.ts'

/** Everything that the routes share. */
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
  /** Groups of these runs. */
  readonly groups: GroupRuns
  /** Value estimates of this process. */
  readonly estimates: EstimateJobs
  /** Sessions of clients. */
  readonly sessions: Sessions
  /** What the sessions saved, compared with a chat pipeline. */
  readonly savings: Savings
  readonly health: HealthChecks
  readonly comparing: CompareThread
  readonly importing: ImportingThread
  readonly exporting: ExportingThread
  /** Groups as trees. */
  readonly forests: Forests
  /** Hosts from which files are downloaded. */
  readonly openHosts: AllowedHosts
  /** Renders and encodes for single requests. */
  readonly rendering: LabThread
  /** Runs the template doctors, which render for longer. */
  readonly diagnosing: LabThread
  /** Returns a tokenizer of `tokenizers` whose slow work runs in `rendering`. */
  readonly threaded: ReturnType<typeof createThreadedTokenizers>
  /** Ends running rollouts, which keep their tokens, and closes threads, programs and the store. */
  close(): Promise<void>
}

/** Returns the services of this process and creates them on the first call. Throws an Error without a configuration. */
export function services(): Services {
  const existing = sharedServices()
  if (existing) return existing
  const config = sharedConfig()
  if (!config) throw new Error('start Rollscope with npm start or npm run dev (scripts/serve.ts), not with next')
  const all = shareServices(createServices(config))
  continueAbandoned(all)
  return all
}

const MCP_CONNECT_MS = 5_000
/** Limit in milliseconds for all rendering and encoding of one request. */
const RENDERING_MS = 10_000
const DIAGNOSING_MS = 60_000
/** The built-in server finishes every computation, so this signal never aborts. */
const NEVER_LEFT = new AbortController().signal

/** Creates the services of a configuration: opens the store and prepares threads, which start when they are needed. */
export function createServices(config: Config): Services {
  const folder = openDataFolder(config.dataFolder)
  const shipped = path.join(config.applicationFolder, 'models', 'tiny-qwen3')
  const model = config.model ?? shipped
  const places: TokenizerPlaces = {
    builtIn: { [BUILT_IN]: model },
    folders: config.tokenizerFolders,
    hub: config.hub,
    packedFolder: path.join(folder, 'tokenizers'),
  }
  const tokenizers = createTokenizerLoader(places)
  const labThreadOf = (name: string, longestMs: number): LabThread =>
    createLabThread({
      name,
      longestMs,
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'templates', 'lab-worker.ts'),
      start: { dataFolder: folder, tokenizers: places },
    })
  const rendering = labThreadOf('rollscope-render', RENDERING_MS)
  const threaded = createThreadedTokenizers(rendering)
  const version = versionOf(config.applicationFolder)
  const own = ownAddress(config)
  const store = openTrajectoryStore(folder, { now: () => new Date(), instance: sharedInstance() })
  const runs = createRuns({ groupCommit: store.groupCommit })
  const all: Services = {
    config,
    version,
    store,
    servers: createServers(config, openServerStore(folder)),
    mcpServers: createMcpServers(configuredMcpServers(config.mcpFile, own), openMcpServerStore(folder), {
      fetch: checkedFetch(MCP_CONNECT_MS),
      version,
      own,
    }),
    tokenizers,
    builtInTools: createBuiltInTools(config.applicationFolder, folder),
    localModel: createLocalModel({
      model,
      modelName: path.isAbsolute(model) ? path.basename(model) : model,
      loadTokenizer: () => tokenizers.load(BUILT_IN),
      settled(tokenizer, compute) {
        const { loaded, settle } = threaded(tokenizer, BUILT_IN)
        return settle(() => compute(loaded), NEVER_LEFT)
      },
      workerFile: path.join(config.applicationFolder, 'lib', 'builtin-server', 'engine', 'worker.ts'),
      capacity: config.modelCapacity,
      dtype: config.modelDtype,
      hub: config.hub,
      freeMemory: process.availableMemory,
    }),
    runs,
    groups: createGroupRuns(runs),
    estimates: createEstimateJobs(),
    sessions: createSessions(() => all),
    savings: createSavings(
      () => all,
      createSavingsThread(
        path.join(config.applicationFolder, 'lib', 'server', 'sessions', 'savings', 'savings-worker.ts'),
      ),
    ),
    health: createHealthChecks({
      store,
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'library', 'health-worker.ts'),
      start: { dataFolder: folder, tokenizers: { ...places, hub: { ...places.hub, cachedOnly: true } } },
    }),
    rendering,
    diagnosing: labThreadOf('rollscope-doctor', DIAGNOSING_MS),
    threaded,
    importing: createImporting({
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'library', 'import-worker.ts'),
      start: { dataFolder: folder, tokenizers: places },
    }),
    exporting: createExporting({
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'exports', 'export-worker.ts'),
      start: { dataFolder: folder },
    }),
    forests: createForests({
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'forest', 'forest-worker.ts'),
      start: { dataFolder: folder },
    }),
    openHosts: allowedHosts(config.openHosts, own),
    comparing: createCompareThread({
      workerFile: path.join(config.applicationFolder, 'lib', 'server', 'compare', 'compare-worker.ts'),
      start: {
        dataFolder: folder,
        examplesFolder: path.join(config.applicationFolder, 'public', 'examples'),
        tokenizers: places,
      },
    }),
    close: () => closeServices(all),
  }
  return all
}

async function closeServices(all: Services): Promise<void> {
  // Estimates end before their runs, so that a stopped run does not count as cancelled by the user.
  await all.estimates.suspendAll()
  await Promise.all([all.runs.cancelAll(), all.sessions.close()])
  await all.localModel.close()
  for (const tool of all.builtInTools) tool.close()
  const { health, comparing, importing, exporting, forests, savings, rendering, diagnosing, mcpServers } = all
  const closed = [health, comparing, importing, exporting, forests, savings, rendering, diagnosing, mcpServers]
  await Promise.all(closed.map((service) => service.close()))
  all.store.close()
}

function versionOf(applicationFolder: string): string {
  const { version } = JSON.parse(readFileSync(path.join(applicationFolder, 'package.json'), 'utf8')) as {
    readonly version: string
  }
  return version
}
