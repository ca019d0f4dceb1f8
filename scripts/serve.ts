/** Starts the application: `npm start` (built, when the sources are newer than the build) or `npm run dev`. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import next from 'next'
import { ConfigError, readConfig } from '../lib/server/config.ts'
import { createFront } from '../lib/server/front.ts'
import { BUILT_IN_PATH } from '../lib/server/servers.ts'
import { shareConfig, sharedServices } from '../lib/server/shared.ts'

const folder = path.resolve(import.meta.dirname, '..')
const development = process.argv.includes('--dev')

process.chdir(folder)
process.env.NEXT_TELEMETRY_DISABLED = '1'

try {
  const config = readConfig(process.env, folder)
  if (!development) buildWhenNeeded()
  shareConfig(config)
  const application = next({ dev: development, dir: folder, hostname: config.host, port: config.port })
  await application.prepare()
  const front = createFront({ ...config, development, handle: application.getRequestHandler() })
  if (development) front.on('upgrade', application.getUpgradeHandler())
  front.on('error', (error: NodeJS.ErrnoException) => {
    fail(
      error.code === 'EADDRINUSE'
        ? `Port ${config.port} is in use: stop what listens there, or choose another with PORT=…`
        : `Cannot listen on ${config.host}:${config.port}: ${error.message}`,
    )
  })
  front.listen(config.port, config.host, () => {
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    console.log(`Rollscope  http://${host}:${config.port}/?token=${config.token}`)
    console.log(
      `SGLang     ${config.sglang?.baseUrl ?? `built-in model at http://${host}:${config.port}${BUILT_IN_PATH} (set SGLANG_BASE_URL for your own server)`}`,
    )
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(front))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  fail(error.message)
}

/** Running rollouts end with what they have, then everything closes. */
async function stop(front: ReturnType<typeof createFront>): Promise<void> {
  setTimeout(() => process.exit(1), 3000).unref()
  front.close()
  const services = sharedServices()
  await services?.runs.cancelAll()
  await services?.localModel.close()
  services?.store.close()
  front.closeAllConnections()
  process.exit(0)
}

/** The build is stamped with a hash of what it was made from: a pull or an edit builds again, nothing else does. */
function buildWhenNeeded(): void {
  const stamp = path.join(folder, '.next', 'rollscope-sources')
  const sources = sourceHash()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  console.log('Building Rollscope (about half a minute, once) …')
  const { status } = spawnSync(process.execPath, [path.join('node_modules', 'next', 'dist', 'bin', 'next'), 'build'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) fail('The build failed.')
  writeFileSync(stamp, sources)
}

function sourceHash(): string {
  const hash = createHash('sha256')
  const files = globSync(['{app,components,lib,public}/**/*', '*.{ts,json,mjs}'], {
    cwd: folder,
    withFileTypes: true,
    exclude: (entry) => /\.test\.tsx?$/.test(entry.name) || entry.name === 'recordings',
  })
  for (const file of files
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort())
    hash.update(path.relative(folder, file)).update(readFileSync(file))
  return hash.digest('hex')
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
