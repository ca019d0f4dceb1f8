import { EngineError, isUnknownPath } from './http/errors.ts'
import type { Transport } from './http/transport.ts'

/**
 * Paths that say whether a server is ready. /ready answers at once, and only SGLang has it; its /health runs a generation and takes a
 * second. Ollama, LM Studio and others have no path for their health.
 */
const READY_PATHS = ['/ready', '/health', '/v1/models'] as const

/**
 * Returns whether the server is ready, by the first of the paths that it has. Throws EngineError, with the code UNKNOWN_SERVER if
 * it has none.
 */
export async function isReady(transport: Pick<Transport, 'send'>, signal: AbortSignal): Promise<boolean> {
  for (const path of READY_PATHS) {
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
    `the service at this address has none of the paths ${READY_PATHS.join(', ')} (404)`,
    {
      status: 404,
    },
  )
}
