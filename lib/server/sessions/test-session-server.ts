/** A server of sessions with a scripted engine, for tests. */
import { testServices } from '#testing/services.ts'
import { createRouter } from '../http/router.ts'
import { sessionRoutes } from '../routes/sessions.ts'
import type { Services } from '../services.ts'
import { shareServices } from '../shared.ts'

/** Launch token of the server. */
export const SESSION_TOKEN = 'token-of-the-sessions-01'

/** Returns services whose store is in `folder`, and shares them with the routes. */
export function sessionServices(folder: string, servers: Parameters<typeof testServices>[1]): Services {
  const services = {
    ...testServices(folder, servers),
    config: { hosts: [], token: SESSION_TOKEN },
  } as unknown as Services
  shareServices(services)
  return services
}

const answer = createRouter(sessionRoutes)

/** Sends a request of a client with the launch token. `init` replaces parts of the request. */
export const send = (method: string, address: string, body?: unknown, init: RequestInit = {}): Promise<Response> =>
  answer(
    new Request(`http://localhost${address}`, {
      method,
      headers: { host: 'localhost', authorization: `Bearer ${SESSION_TOKEN}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...init,
    }),
  )
