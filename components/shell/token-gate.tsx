'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { TextField } from '#components/ui/field.tsx'
import { ApiError, callApi, storeToken } from '#lib/browser/api.ts'

/** Shown instead of a page until the launch token is entered. */
export function TokenGate() {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState<string>()
  const cache = useQueryClient()
  const submit = async () => {
    // The user may paste the complete address.
    storeToken(/[?&]token=([^&\s]+)/.exec(token)?.[1] ?? token.trim())
    try {
      await callApi('/api/servers')
      await cache.resetQueries()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setProblem(error.status === 401 ? 'this is not the token of the running server' : error.message)
    }
  }
  return (
    <main className="grid place-items-center p-4">
      <form
        className="grid w-full max-w-md gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <h2 className="font-semibold text-lg">The launch token is missing or outdated</h2>
        <p className="text-dim">
          Rollscope shows your trajectories only to whoever started it. Open the address that{' '}
          <code className="font-mono">npm start</code> printed, or paste it or its token here. A browser that stores no
          data for this page asks again after each reload.
        </p>
        <TextField label="Token" value={token} onChange={(event) => setToken(event.target.value)} error={problem} />
        <Button look="primary" type="submit" disabled={token.trim() === ''}>
          Continue
        </Button>
      </form>
    </main>
  )
}
