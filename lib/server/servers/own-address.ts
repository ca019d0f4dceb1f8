/** The address of the application itself, and the path of the built-in server on it. */
import type { OwnAddress } from '#lib/engine/http/address.ts'
import type { Config } from '../config.ts'

/** Path of the built-in server on Rollscope's own address. */
export const BUILT_IN_PATH = '/sglang'

/** Returns the address of the application itself, which no server may have. */
export const ownAddress = ({ host, port }: Pick<Config, 'host' | 'port'>): OwnAddress => ({
  host: host.toLowerCase(),
  port,
  builtInPath: BUILT_IN_PATH,
})
