/** Reads the settings of the server from its environment. */
import { randomBytes } from 'node:crypto'
import os from 'node:os'
import path from 'node:path'
import { type Capacity, DEFAULT_CAPACITY } from '#lib/builtin-server/engine/job.ts'
import { type Dtype, dtypes } from '#lib/builtin-server/models/dtypes.ts'
import { defaultDataFolder } from '#lib/store/files/data-folder.ts'

/** Settings of the application, read from the environment when it starts. */
export interface Config {
  readonly host: string
  readonly port: number
  /** Additional hosts under which clients may reach the application besides the loopback names, in lower case. */
  readonly hosts: readonly string[]
  /** Hosts and private networks from which files are downloaded. */
  readonly openHosts: readonly string[]
  readonly token: string
  readonly dataFolder: string
  readonly tokenizerFolders: readonly string[]
  /** Folder or Hub name of the built-in model; undefined means the shipped one. */
  readonly model: string | undefined
  /** Data type of its weights; undefined means the first one that the model has. */
  readonly modelDtype: Dtype | undefined
  /** Limits of the built-in server. */
  readonly modelCapacity: Capacity
  /** File that names MCP servers, including those started as local programs; undefined if there is none. */
  readonly mcpFile: string | undefined
  /** Python interpreter that renders templates as a reference. */
  readonly python: string
  readonly sglang: { readonly baseUrl: string; readonly apiKey: string | undefined } | undefined
  readonly hub: {
    readonly url: string | undefined
    readonly token: string | undefined
    readonly cacheFolder: string | undefined
  }
  /** Folder of the application itself. */
  readonly applicationFolder: string
}

/** Thrown at startup for a setting that is invalid; the message says what to do. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

type Environment = Readonly<Record<string, string | undefined>>

/** Returns the settings of an environment. Throws ConfigError for invalid values. */
export function readConfig(environment: Environment, applicationFolder: string): Config {
  const text = (name: string): string | undefined => environment[name]?.trim() || undefined
  const list = (name: string): string[] => (text(name) ?? '').split(/[,;\s]+/).filter((entry) => entry !== '')
  const whole = (name: string, least: number): number | undefined => wholeNumber(name, text(name), least)
  const key = (name: string): string | undefined => sendableKey(name, text(name))
  const baseUrl = text('SGLANG_BASE_URL')
  const host = listenHost(environment.HOST)
  return {
    host,
    port: listenPort(text('PORT')),
    hosts: [...list('ROLLSCOPE_HOSTS'), hostInAddress(host)].map((name) => name.toLowerCase()),
    openHosts: list('ROLLSCOPE_OPEN_HOSTS'),
    token: launchToken(text('ROLLSCOPE_TOKEN')),
    dataFolder: path.resolve(
      /*turbopackIgnore: true*/ text('ROLLSCOPE_DATA') ?? defaultDataFolder(process.platform, homeFolder, environment),
    ),
    tokenizerFolders: (text('ROLLSCOPE_TOKENIZERS') ?? '')
      .split(path.delimiter)
      .filter((folder) => folder !== '')
      .map((folder) => path.resolve(folder)),
    model: modelPlace(text('ROLLSCOPE_MODEL')),
    modelDtype: modelDtype(text('ROLLSCOPE_MODEL_DTYPE')),
    modelCapacity: {
      running: whole('ROLLSCOPE_MODEL_RUNNING', 1) ?? DEFAULT_CAPACITY.running,
      waiting: whole('ROLLSCOPE_MODEL_WAITING', 0) ?? DEFAULT_CAPACITY.waiting,
      cacheBytes: megabytes(whole('ROLLSCOPE_MODEL_CACHE_MB', 0)) ?? DEFAULT_CAPACITY.cacheBytes,
    },
    mcpFile: absolute(text('ROLLSCOPE_MCP')),
    python: text('ROLLSCOPE_PYTHON') ?? 'python3',
    sglang: baseUrl === undefined ? undefined : { baseUrl, apiKey: key('SGLANG_API_KEY') },
    hub: { url: text('HF_ENDPOINT'), token: key('HF_TOKEN'), cacheFolder: text('HF_HUB_CACHE') },
    applicationFolder,
  }
}

/** Returns a key that a header can have. Throws ConfigError, which does not repeat the key. */
function sendableKey(name: string, key: string | undefined): string | undefined {
  if (key === undefined || /^[!-~]+$/.test(key)) return key
  throw new ConfigError(
    `${name} has a blank, a line break or a letter outside of ASCII, which no key has: copy it again.`,
  )
}

/** Throws ConfigError if the user has no home folder, as in a container whose user has only an id. */
function homeFolder(): string {
  try {
    return os.homedir()
  } catch {
    throw new ConfigError('The home folder of this user is not known: set ROLLSCOPE_DATA to the folder for its data.')
  }
}

/** Returns a host as addresses contain it: an IPv6 address is in brackets, since a port may follow. */
export const hostInAddress = (host: string): string => (host.includes(':') ? `[${host}]` : host)

const LOOPBACK = '127.0.0.1'

/**
 * Returns the host to listen on; the default is loopback. Throws ConfigError for every spelling of "all addresses", because this is no
 * server for others.
 */
function listenHost(host: string | undefined): string {
  if (host === undefined) return LOOPBACK
  const spelled = host.trim().replace(/^\[(.*)\]$/, '$1')
  if (spelled === '' || isWildcard(spelled))
    throw new ConfigError(
      `HOST=${JSON.stringify(host)} would listen on every address of this machine, which Rollscope refuses: whoever reaches it can use your models. Name one address, for example HOST=127.0.0.1, and reach it from elsewhere through an SSH tunnel.`,
    )
  return spelled
}

function isWildcard(host: string): boolean {
  if (host === '*') return true
  // The URL parser normalizes 0, 0x0, 000.0 and similar spellings, and those of ::, to one form.
  const url = `http://${hostInAddress(host)}/`
  if (!URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return hostname === '0.0.0.0' || hostname === '[::]' || hostname === '[::ffff:0:0]' || hostname === '[::ffff:0.0.0.0]'
}

function listenPort(port: string | undefined): number {
  if (port === undefined) return 3000
  const number = Number(port)
  if (!Number.isInteger(number) || number < 1 || number > 65535)
    throw new ConfigError(`PORT=${JSON.stringify(port)} is not a port: use a number from 1 to 65535`)
  return number
}

function wholeNumber(name: string, value: string | undefined, least: number): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < least)
    throw new ConfigError(`${name}=${JSON.stringify(value)} must be a whole number of at least ${least}`)
  return number
}

const megabytes = (count: number | undefined): number | undefined => (count === undefined ? undefined : count * 2 ** 20)

/** Returns the absolute path of a folder; any other value is a Hub name and unchanged. */
function modelPlace(model: string | undefined): string | undefined {
  return model !== undefined && (path.isAbsolute(model) || model.startsWith('.')) ? path.resolve(model) : model
}

function modelDtype(dtype: string | undefined): Dtype | undefined {
  const known = dtypes.find((one) => one === dtype)
  if (dtype !== undefined && known === undefined)
    throw new ConfigError(`ROLLSCOPE_MODEL_DTYPE=${JSON.stringify(dtype)} must be one of ${dtypes.join(', ')}`)
  return known
}

const absolute = (file: string | undefined): string | undefined => (file === undefined ? undefined : path.resolve(file))

const SHORTEST_TOKEN = 16

function launchToken(token: string | undefined): string {
  if (token === undefined) return randomBytes(24).toString('base64url')
  if (token.length < SHORTEST_TOKEN || !/^[\w.~-]+$/.test(token))
    throw new ConfigError(
      `ROLLSCOPE_TOKEN must have at least ${SHORTEST_TOKEN} characters, each a letter, a digit or one of . _ ~ -`,
    )
  return token
}
