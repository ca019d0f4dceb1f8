'use client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { NuqsAdapter } from 'nuqs/adapters/next/app'
import { type ReactNode, useState } from 'react'
import { ApiError, takeTokenFromAddress } from '#lib/client/api.ts'

// Before the first query, and before anything could copy the address.
if (typeof window !== 'undefined') takeTokenFromAddress()

const ATTEMPTS = 3

export function Providers({ children }: { readonly children: ReactNode }) {
  const [client] = useState(
    () =>
      new QueryClient({
        defaultOptions: {
          queries: {
            // What the server refuses it refuses again; only a server that is away may come back.
            retry: (failures, error) => failures < ATTEMPTS && !(error instanceof ApiError && error.status > 0),
            refetchOnWindowFocus: false,
          },
        },
      }),
  )
  return (
    <NuqsAdapter>
      <QueryClientProvider client={client}>{children}</QueryClientProvider>
    </NuqsAdapter>
  )
}
