/** The server of the application, with the settings of the environment. scripts/serve.ts starts it. */
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import next from 'next'
import { checkConfig } from '#lib/server/check-config.ts'
import { type Config, ConfigError, hostInAddress, readConfig } from '#lib/server/config.ts'
import { createHttpGateway, isSessionCall } from '#lib/server/http/http-gateway.ts'
import { answerWith } from '#lib/server/http/node-answer.ts'
import { ignoreWriteErrors } from '#lib/server/log-streams.ts'
import { listenProblem, portProblem } from '#lib/server/port-problem.ts'
import { answerFromLocalModel, isForLocalModel } from '#lib/server/servers/builtin-server-node.ts'
import { BUILT_IN_PATH } from '#lib/server/servers/own-address.ts'
import { shareConfig, sharedInstance, sharedRouter, sharedServices, shareInstance } from '#lib/server/shared.ts'
import { chooseBrotliCopies } from './build/brotli-copies.ts'
import { buildWhenNeeded, offlineScript } from './build.ts'

const folder = path.resolve(import.meta.dirname, '..')
/** URL path of the script of saved pages. */
const OFFLINE_SCRIPT = '/built/offline.js'

/**
 * Starts the server, or ends the process with a message. `present` is the build of the present sources; if it is undefined, they are built.
 */
export async function startServer(development: boolean, present: string | undefined): Promise<void> {
  ignoreWriteErrors([process.stdout, process.stderr])
  process.env.NEXT_TELEMETRY_DISABLED = '1'

  try {
    // This precedes chdir, because `rollscope start` takes paths relative to the folder of the caller.
    const config = readConfig(process.env, folder)
    process.chdir(folder)
    // A build takes a minute, so the port is tried before it.
    const problem = await portProblem(config)
    if (problem !== undefined) fail(problem)
    const { instance, notice } = checkConfig(config)
    shareInstance(instance)
    const build = development ? await buildForDevelopment() : chooseBuild(present ?? (await buildWhenNeeded()))
    const offline = readFileSync(offlineScript(build))
    const chooseBrotliCopy = chooseBrotliCopies(build)
    shareConfig(config)
    const application = next({ dev: development, dir: folder, hostname: config.host, port: config.port })
    await (development ? application.prepare() : quietly(() => application.prepare()))
    const pages = application.getRequestHandler()
    const gateway = createHttpGateway({
      ...config,
      development,
      async handle(request, response) {
        // The script is in the folder of the build, so that each instance serves the one that matches its pages.
        if (request.url === OFFLINE_SCRIPT) return answerScript(response, offline)
        // The services exist after the first request.
        if (isSessionCall(request)) return answerWith(await routerOf(config), request, response)
        const model = sharedServices()?.localModel
        if (model && isForLocalModel(request)) return answerFromLocalModel(model, request, response, config)
        chooseBrotliCopy(request, response)
        await pages(request, response)
      },
    })
    if (development) gateway.on('upgrade', application.getUpgradeHandler())
    gateway.on('error', async (error) => fail(await listenProblem(error, config)))
    gateway.listen(config.port, config.host, () => {
      const address = `http://${hostInAddress(config.host)}:${config.port}`
      instance.announce({ address, token: config.token })
      console.log(`Rollscope  ${address}/?token=${config.token}`)
      console.log(
        `SGLang     ${config.sglang?.baseUrl ?? `built-in model at ${address}${BUILT_IN_PATH} (set SGLANG_BASE_URL for your own server)`}`,
      )
      if (notice !== undefined) console.log(notice)
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(gateway))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    fail(error.message)
  }
}

/** Runs an action without its output: Next prints how long it has read its configuration. Warnings and errors are printed. */
async function quietly(action: () => Promise<void>): Promise<void> {
  const { log } = console
  console.log = () => {}
  try {
    await action()
  } finally {
    console.log = log
  }
}

/**
 * Returns the function that answers calls of sessions. Next loads it with the first request of the interface, so the first call of a session
 * makes such a request.
 */
async function routerOf({ host, port }: Config): Promise<NonNullable<ReturnType<typeof sharedRouter>>> {
  if (!sharedRouter()) {
    const { directFetch } = await import('#lib/engine/http/checked-connector.ts')
    await directFetch(`http://${hostInAddress(host)}:${port}/api/health`)
  }
  const router = sharedRouter()
  if (!router) throw new Error('the routes are not loaded')
  return router
}

/** Sets the build that Next serves, and returns its folder. */
function chooseBuild(build: string | undefined): string {
  // The builder has printed the reason and advice.
  if (build === undefined) process.exit(1)
  process.env.ROLLSCOPE_BUILD = path.relative(folder, build)
  return build
}

/** Builds what Next's development server does not, and returns the folder of it. */
async function buildForDevelopment(): Promise<string> {
  const { buildOfflineBundle } = await import('./build/offline-bundle.ts')
  const build = path.join(folder, '.next')
  await buildOfflineBundle(offlineScript(build))
  return build
}

function answerScript(response: ServerResponse, script: Buffer): void {
  response.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' })
  response.end(script)
}

/**
 * Longest time in which running rollouts are stored. Their tokens are lost after it, and a busy machine takes seconds for many of them. A
 * second signal ends the process at once.
 */
const STOP_MS = 30_000

/** Ends running rollouts, which keep their tokens, then closes everything. */
async function stop(gateway: ReturnType<typeof createHttpGateway>): Promise<void> {
  setTimeout(() => process.exit(1), STOP_MS).unref()
  gateway.close()
  await sharedServices()?.close()
  sharedInstance()?.close()
  gateway.closeAllConnections()
  // A command that started the application has set its own status.
  process.exit()
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
