/** Shares objects between the program that starts the server and the routes, which Next bundles separately, through the global object. */
import type { Instance } from '#lib/store/files/instance.ts'
import type { Config } from './config.ts'
import type { Services } from './services.ts'

const CONFIG = Symbol.for('rollscope.config')
const SERVICES = Symbol.for('rollscope.services')
const INSTANCE = Symbol.for('rollscope.instance')
const ROUTER = Symbol.for('rollscope.router')

const shared = globalThis as { [CONFIG]?: Config; [SERVICES]?: Services; [INSTANCE]?: Instance; [ROUTER]?: Router }

/** Answers a request by the table of routes. */
type Router = (request: Request) => Promise<Response>

/** Stores the configuration. The program that starts the server calls this before any request. */
export function shareConfig(config: Config): void {
  shared[CONFIG] = config
}

/** Returns the configuration; undefined before the program has stored it. */
export const sharedConfig = (): Config | undefined => shared[CONFIG]

/** Stores the registration of this process in the data folder. The program that starts the server calls this before any request. */
export function shareInstance(instance: Instance): void {
  shared[INSTANCE] = instance
}

/** Returns the registration of this process; undefined before the program has stored it. */
export const sharedInstance = (): Instance | undefined => shared[INSTANCE]

/** Returns the services; undefined before the first route that needs them has created them. */
export const sharedServices = (): Services | undefined => shared[SERVICES]

/** Stores and returns the services that the first route created. */
export function shareServices(services: Services): Services {
  shared[SERVICES] = services
  return services
}

/** Stores and returns the function that answers requests by the table of routes. */
export function shareRouter(router: Router): Router {
  shared[ROUTER] = router
  return router
}

/** Returns the function that answers requests by the table of routes; undefined before the first request of the interface. */
export const sharedRouter = (): Router | undefined => shared[ROUTER]
