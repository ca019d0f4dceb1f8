/** Says why the application cannot listen on a port, before anything slow is done. */
import { createServer } from 'node:net'
import { runningInstances } from '#lib/store/files/instance.ts'
import { type Config, hostInAddress } from './config.ts'

type PortConfig = Pick<Config, 'host' | 'port' | 'dataFolder'>

/** Returns why the application cannot listen now; undefined if it can. */
export async function portProblem(config: PortConfig): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>()
  const probe = createServer()
  probe.once('error', resolve)
  probe.listen({ host: config.host, port: config.port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  const error = await promise
  return error && listenProblem(error, config)
}

/** Returns why the application cannot listen, with the address of a Rollscope that uses the port. */
export async function listenProblem(
  error: NodeJS.ErrnoException,
  { host, port, dataFolder }: PortConfig,
): Promise<string> {
  if (error.code !== 'EADDRINUSE') return `Cannot listen on ${host}:${port}: ${error.message}`
  const address = `http://${hostInAddress(host)}:${port}`
  const own = runningInstances(dataFolder).find((instance) => instance.address === address)
  if (own)
    return `Rollscope is already running with this data folder. Open ${address}/?token=${own.token}\nTo start another one, choose another port with PORT=…`
  if (await isRollscope(address))
    return `Port ${port} is in use by another Rollscope: open the address that it printed when it started (${address}/?token=…), or choose another port with PORT=…`
  return `Port ${port} is in use: stop what listens there, or choose another with PORT=…`
}

const ANSWER_MS = 2_000

/** Returns whether a Rollscope answers at an address. The request carries no token. */
async function isRollscope(address: string): Promise<boolean> {
  try {
    const { directFetch } = await import('#lib/engine/http/checked-connector.ts')
    const response = await directFetch(`${address}/api/health`, { signal: AbortSignal.timeout(ANSWER_MS) })
    const answer: unknown = await response.json()
    return (
      typeof answer === 'object' &&
      answer !== null &&
      'status' in answer &&
      answer.status === 'ok' &&
      'version' in answer
    )
  } catch {
    return false
  }
}
