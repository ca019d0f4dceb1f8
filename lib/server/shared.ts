/** Where the program that starts the server and the routes that Next bundles apart from it meet: the global object. */
import type { Instance } from '#lib/store/files/instance.ts'
import type { Config } from './config.ts'
import type { Services } from './services.ts'

const CONFIG = Symbol.for('rollscope.config')
const SERVICES = Symbol.for('rollscope.services')
const INSTANCE = Symbol.for('rollscope.instance')

const shared = globalThis as { [CONFIG]?: Config; [SERVICES]?: Services; [INSTANCE]?: Instance }

/** Called by the program that starts the server, before any request. */
export function shareConfig(config: Config): void {
  shared[CONFIG] = config
}

export const sharedConfig = (): Config | undefined => shared[CONFIG]

/** Called by the program that starts the server: the data folder knows this process before its first request. */
export function shareInstance(instance: Instance): void {
  shared[INSTANCE] = instance
}

export const sharedInstance = (): Instance | undefined => shared[INSTANCE]

/** Made by the first route that needs them. */
export const sharedServices = (): Services | undefined => shared[SERVICES]

export function shareServices(made: Services): Services {
  shared[SERVICES] = made
  return made
}
