'use client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { NuqsAdapter } from 'nuqs/adapters/next/app'
import { type ReactNode, useState } from 'react'
import { NavigationProvider } from '#components/shell/navigation.tsx'
import { ApiError, takeTokenFromAddress } from '#lib/browser/api.ts'
import { OpenedFileContext, openedFileOn } from '#lib/browser/files/use-opened-file.ts'
import { TRAJECTORY_DEFAULTS } from '#lib/browser/queries.ts'

// Before the first query, and before anything could copy the address.
if (typeof window !== 'undefined') takeTokenFromAddress()

const ATTEMPTS = 3

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
        // What the server refuses it refuses again; only a server that is away may come back.
        retry: (failures, error) => failures < ATTEMPTS && !(error instanceof ApiError && error.status > 0),
        refetchOnWindowFocus: false,
      },
    },
  })
  // What is put into the cache without a query of its own keeps to these too.
  client.setQueryDefaults(TRAJECTORY_DEFAULTS.queryKey, TRAJECTORY_DEFAULTS.options)
  return client
}
