import { EngineError, isUnknownPath } from './http/errors.ts'
import type { Transport } from './http/transport.ts'

/**
 * Returns whether the server is ready, by the first of these paths that it has. Throws EngineError, with the code UNKNOWN_SERVER if
 * it has none.
 */
export async function isReady(
  transport: Pick<Transport, 'send'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const path of paths) {
    try {
      await (await transport.send({ method: 'GET', path, signal, isStatus: true })).text()
      return true
    } catch (error) {
      if (error instanceof EngineError && error.code === 'UPSTREAM_BUSY') return false
      if (!isUnknownPath(error)) throw error
    }
  }
  throw new EngineError(
    'UNKNOWN_SERVER',
    `the service at this address has none of the paths ${paths.join(', ')} (404)`,
    {
      status: 404,
    },
  )
}
