/** The inference servers that may be called: the built-in one, the environment's, and saved ones. */

import * as z from 'zod/mini'
import type { ServerLoad } from '#lib/api/server-load.ts'
import { BUILT_IN, serverNameSchema } from '#lib/api/server-name.ts'
import type { ServerEntry, ServerStatus } from '#lib/api/server-status.ts'
import type { DownloadProgress } from '#lib/api/tokenizer-download.ts'
import type { ServerClient } from '#lib/engine/engine.ts'
import { type OwnAddress, serverAddress } from '#lib/engine/http/address.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { DEFAULT_LIMITS } from '#lib/engine/http/transport.ts'
import { parserOfServer } from '#lib/parsers/registry.ts'
import type { SavedServer, ServerStore } from '#lib/store/files/servers.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { type Config, hostInAddress } from '../config.ts'
import { HttpProblem } from '../http/problem.ts'
import { createEngineClient } from './engine-client.ts'
import { BUILT_IN_PATH, ownAddress } from './own-address.ts'

const FROM_ENVIRONMENT = 'environment'

/** Schema of a server to save; a null key removes the saved one. */
export const serverInputSchema = z.strictObject({
  name: withDescription(serverNameSchema, 'Unique name, by which rollouts choose the server.'),
  baseUrl: withDescription(z.string().check(z.maxLength(2000)), 'Like http://127.0.0.1:30000.'),
  apiKey: withDescription(
    z.exactOptional(
      z.nullable(z.string().check(z.regex(/^[\x21-\x7e]{1,500}$/, 'a key of at most 500 visible ASCII characters'))),
    ),
    'Write-only. null: no key. Omitted: the stored key if the origin is the same, otherwise no key.',
  ),
})
type ServerInput = z.infer<typeof serverInputSchema>

/** Access to the servers; all methods throw HttpProblem. */
export interface Servers {
  list(): readonly ServerEntry[]
  /** Name of the server for requests that name none. */
  readonly defaultName: string
  /** Returns the client of a server. Throws HttpProblem 404. */
  client(name: string): ServerClient
  create(input: ServerInput): ServerEntry
  replace(name: string, input: ServerInput): ServerEntry
  remove(name: string): void
}

/** Returns the servers of the configuration and of the store. */
export function createServers(config: Config, store: ServerStore): Servers {
  const own = ownAddress(config)
  const fixed: { readonly server: SavedServer; readonly source: ServerEntry['source'] }[] = [
    ...(config.sglang
      ? [
          {
            server: savedServer(FROM_ENVIRONMENT, serverAddress(config.sglang.baseUrl, own), config.sglang.apiKey),
            source: 'environment' as const,
          },
        ]
      : []),
    {
      server: savedServer(BUILT_IN, `http://${hostInAddress(config.host)}:${config.port}${BUILT_IN_PATH}`, undefined),
      source: 'built-in',
    },
  ]
  const clients = new Map<string, ServerClient>()
  const all = () => [...fixed, ...store.list().map((server) => ({ server, source: 'saved' as const }))]
  const find = (name: string) => {
    const isNamed = ({ server }: (typeof fixed)[number]) => server.name === name
    // Every call of a model comes here: the store is read only for saved servers.
    const found = fixed.find(isNamed) ?? all().find(isNamed)
    if (!found)
      throw new HttpProblem({
        status: 404,
        code: 'NO_SERVER',
        detail: `there is no server named ${JSON.stringify(name)}`,
        hint: 'It was renamed or removed: choose another server, or add it on the page Servers.',
      })
    return found
  }
  const findSaved = (name: string): SavedServer => {
    const { server, source } = find(name)
    if (source !== 'saved')
      throw new HttpProblem({
        status: 409,
        code: 'FIXED_SERVER',
        detail: `the server ${name} is not a saved server`,
        hint:
          source === 'environment'
            ? 'It is set by SGLANG_BASE_URL.'
            : 'The built-in server is part of the application.',
      })
    return server
  }
  const put = (input: ServerInput, replaced: SavedServer | undefined): ServerEntry => {
    const isTaken = all().some(({ server }) => server.name === input.name && server.name !== replaced?.name)
    if (isTaken || input.name === FROM_ENVIRONMENT)
      throw new HttpProblem({
        status: 409,
        code: 'NAME_TAKEN',
        detail: isTaken
          ? `a server named ${JSON.stringify(input.name)} already exists`
          : `the name ${FROM_ENVIRONMENT} is reserved for the server of SGLANG_BASE_URL`,
        field: 'name',
      })
    const baseUrl = addressIn(input, own)
    // A key belongs to the origin that it was given for and is never sent to another one.
    const isSameOrigin = replaced !== undefined && new URL(replaced.baseUrl).origin === new URL(baseUrl).origin
    const previousKey = isSameOrigin ? replaced.apiKey : undefined
    const server = savedServer(
      input.name,
      baseUrl,
      input.apiKey === undefined ? previousKey : (input.apiKey ?? undefined),
    )
    const list = store.list()
    store.save(replaced ? list.map((other) => (other.name === replaced.name ? server : other)) : [...list, server])
    return entry(server, 'saved')
  }
  return {
    defaultName: config.sglang ? FROM_ENVIRONMENT : BUILT_IN,
    list: () => all().map(({ server, source }) => entry(server, source)),
    client(name) {
      const { server, source } = find(name)
      const key = JSON.stringify([server.baseUrl, server.apiKey])
      const client =
        clients.get(key) ??
        createEngineClient({
          baseUrl: server.baseUrl,
          apiKey: server.apiKey,
          // It answers when its model is loaded, which may take long on a busy machine or include a download.
          ...(source === 'built-in' && { limits: { statusMs: DEFAULT_LIMITS.firstByteMs } }),
        })
      clients.set(key, client)
      return client
    },
    create: (input) => put(input, undefined),
    replace: (name, input) => put(input, findSaved(name)),
    remove(name) {
      findSaved(name)
      store.save(store.list().filter((server) => server.name !== name))
    },
  }
}

/**
 * Returns the state of a server, never its reply, which may contain keys. `download` returns the download of the model that the server
 * waits for. Throws errors that are no failures of the server.
 */
export async function serverStatus(
  client: ServerClient,
  signal: AbortSignal,
  download: () => DownloadProgress | undefined = () => undefined,
): Promise<ServerStatus> {
  try {
    if (!(await client.isReady(signal))) return { state: 'starting', download: download() }
    const description = await client.describe(signal)
    const parser = parserOfServer(description.toolCallParser)
    return { state: 'ready', ...description, ...(parser !== undefined && { parser }) }
  } catch (error) {
    return failedState(error)
  }
}

/** Returns how busy a server is; failures of the server are values. */
export async function serverLoad(client: ServerClient, signal: AbortSignal): Promise<ServerLoad> {
  try {
    return (await client.load(signal)) ?? { state: 'not-reported' }
  } catch (error) {
    return failedState(error)
  }
}

function failedState(error: unknown) {
  if (!(error instanceof EngineError)) throw error
  const { code, sentence: message, hint } = error
  return { state: 'failed' as const, code, message, hint }
}

/** Returns the checked address. Throws HttpProblem 400. */
function addressIn({ baseUrl }: ServerInput, own: OwnAddress): string {
  try {
    return serverAddress(baseUrl, own)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { code, sentence: detail, hint } = error
    throw new HttpProblem({ status: 400, code, detail, hint, field: 'baseUrl' }, { cause: error })
  }
}

const savedServer = (name: string, baseUrl: string, apiKey: string | undefined): SavedServer => ({
  name,
  baseUrl,
  ...(apiKey !== undefined && { apiKey }),
})

const entry = ({ name, baseUrl, apiKey }: SavedServer, source: ServerEntry['source']): ServerEntry => ({
  name,
  baseUrl,
  source,
  hasKey: apiKey !== undefined,
})
