/** Services as the application has them, with the built-in server, its model and real threads. For tests. */
import { createServer } from 'node:http'
import path from 'node:path'
import { afterAll } from 'vitest'
import { readConfig } from '#lib/server/config.ts'
import { answerFromLocalModel } from '#lib/server/servers/builtin-server-node.ts'
import { createServices, type Services } from '#lib/server/services.ts'
import { closeServer, listening } from './listening.ts'

/** Launch token of the services. */
export const SERVICES_TOKEN = 'token-of-the-services-0123'

/** Returns services whose data is in `folder`, until the last test of the file has ended. They have no Python and no Hub. */
export async function realServices(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Services> {
  const server = createServer((request, response) => {
    answerFromLocalModel(services.localModel, request, response, services.config).catch(() => response.destroy())
  })
  const settings = {
    PORT: String(await listening(server)),
    ROLLSCOPE_TOKEN: SERVICES_TOKEN,
    ROLLSCOPE_DATA: path.join(folder, 'data'),
    ROLLSCOPE_PYTHON: path.join(folder, 'no-python'),
    HF_ENDPOINT: 'http://127.0.0.1:9',
    HF_HUB_CACHE: folder,
    ...environment,
  }
  const services = createServices(readConfig(settings, path.resolve('.')))
  afterAll(async () => {
    await services.close()
    await closeServer(server)
  })
  return services
}
