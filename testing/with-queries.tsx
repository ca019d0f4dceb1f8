/** The cache of the queries of a page, for tests of components and hooks. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import type { ReactNode } from 'react'

/** Returns the `wrapper` of `render` and `renderHook` that provides the cache of queries; an empty one unless given. */
export const withQueries =
  (cache = new QueryClient()) =>
  ({ children }: { readonly children: ReactNode }) => (
    <QueryClientProvider client={cache}>{children}</QueryClientProvider>
  )
