'use client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { NuqsAdapter } from 'nuqs/adapters/next/app'
import { type ReactNode, useState } from 'react'
import { NavigationProvider } from '#components/shell/navigation.tsx'
import { ApiError, takeTokenFromAddress } from '#lib/browser/api.ts'
import { OpenedFileContext, openedFileOn } from '#lib/browser/files/use-opened-file.ts'
import { TRAJECTORY_DEFAULTS } from '#lib/browser/queries.ts'

// The token leaves the address before the first query, and before anything could copy the address.
if (typeof window !== 'undefined') takeTokenFromAddress()

const ATTEMPTS = 3

/** Gives every page its query cache, the opened file and the navigation guard. */
export function Providers({ children }: { readonly children: ReactNode }) {
  const [client] = useState(newClient)
  const [openedFile] = useState(() => openedFileOn(client))
  return (
    <NuqsAdapter>
      <QueryClientProvider client={client}>
        <OpenedFileContext value={openedFile}>
          <NavigationProvider>{children}</NavigationProvider>
        </OpenedFileContext>
      </QueryClientProvider>
    </NuqsAdapter>
  )
}

function newClient(): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        // A request that the server refused would be refused again; only an unreachable server may come back.
        retry: (failures, error) => failures < ATTEMPTS && !(error instanceof ApiError && error.status > 0),
        refetchOnWindowFocus: false,
      },
    },
  })
  // The defaults also apply to trajectories that are put into the cache without a query.
  client.setQueryDefaults(TRAJECTORY_DEFAULTS.queryKey, TRAJECTORY_DEFAULTS.options)
  return client
}
