import { type ComponentType, lazy } from 'react'
import { loadWhenAnswered } from '#lib/browser/application.ts'

/** Returns React’s lazy component, whose code is loaded as soon as the application answers. Its place needs a Suspense. */
export const lazyCode = <Props extends object>(load: () => Promise<ComponentType<Props>>) =>
  lazy(() => loadWhenAnswered(async () => ({ default: await load() })))
